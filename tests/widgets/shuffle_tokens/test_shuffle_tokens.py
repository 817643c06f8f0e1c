"""ShuffleTokens: what its orders are, and what a reader finds out by shuffling."""

import pytest
import torch
from oracle import check, recorded
from trials import trials

from browser import PAINTED, put, state
from pieces.widgets import ShuffleTokens

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [
        ("shuffle", -1),
        ("shuffle", 10_000),
        ("mask", "prefix"),
        ("X", torch.zeros(5, 3)),
        ("tokens", ["a"] * 7),
    ],
)
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        ShuffleTokens(**{trait: value})


def test_the_button_shuffles_and_each_word_keeps_its_output(bench):
    widget = ShuffleTokens()
    with recorded(bench, widget) as page:
        seen = set()
        for _ in range(12):
            page.get_by_role("button", name="Shuffle").click()
            check(page, widget)
            seen.add(tuple(state(page, widget)["order"]))
            assert page.locator(".p-changed").count() == 0
            assert "kept its output" in page.locator(".p-say").inner_text()
        assert len(seen) > 8
        page.get_by_role("button", name="Back in order").click()
        assert state(page, widget)["order"] == [1, 2, 3, 4, 5, 6]


def test_a_finger_shuffles(bench):
    widget = ShuffleTokens()
    with bench.show(widget, width=390, touch=True) as page:
        page.get_by_role("button", name="Shuffle").tap()
        assert sorted(state(page, widget)["order"]) == [1, 2, 3, 4, 5, 6]
        assert state(page, widget)["order"] != [1, 2, 3, 4, 5, 6]


def test_under_a_causal_mask_it_does_not(bench):
    widget = ShuffleTokens(mask="causal")
    with recorded(bench, widget) as page:
        for shuffle in range(1, 9):
            put(page, widget, shuffle=shuffle)
            check(page, widget)
            assert page.locator(".p-changed").count() > 3


def test_no_order_is_the_first_one(bench):
    widget = ShuffleTokens()
    with recorded(bench, widget) as page:
        for shuffle in (719, 720, 4321, 9999):
            put(page, widget, shuffle=shuffle)
            assert state(page, widget)["order"] != [1, 2, 3, 4, 5, 6]


def test_words_glide_to_their_places(bench):
    widget = ShuffleTokens()
    with bench.show(widget) as page:
        page.emulate_media(reduced_motion="no-preference")
        page.get_by_role("button", name="Shuffle").click()
        page.evaluate(PAINTED)
        moved = sum(n != i + 1 for i, n in enumerate(state(page, widget)["order"]))
        assert page.evaluate("document.getAnimations().length") == moved
        page.emulate_media(reduced_motion="reduce")
        page.wait_for_function("() => document.getAnimations().length === 0")
        page.get_by_role("button", name="Shuffle").click()
        page.evaluate(PAINTED)
        assert page.evaluate("document.getAnimations().length") == 0


@pytest.mark.parametrize("width", [300, 320, 340, 360, 390])
def test_fits_a_phone(bench, width):
    with bench.show(ShuffleTokens(mask="causal", shuffle=3), width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = "(all) => all.every((c) => c.scrollWidth <= c.clientWidth)"
        assert page.locator(".p-cell").evaluate_all(inside)
