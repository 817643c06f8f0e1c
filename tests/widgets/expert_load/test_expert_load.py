"""ExpertLoad: the training played by every hand; all of it measured runs."""

import pytest
from oracle import check, recorded
from trials import trials

from browser import put, said, state
from pieces.widgets import ExpertLoad

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("setting", "32 1"), ("layer", 3), ("seed", 0), ("step", 241), ("capacity", 0.5)],
)
def test_refuses_what_was_not_measured(trait, value):
    with pytest.raises(ValueError, match=trait):
        ExpertLoad(**{trait: value})


def test_says_what_is_shown():
    assert "16 experts, of which a word visits 1: layer 2, seed 3, at step 80" in repr(
        ExpertLoad(setting="16 1", layer=2, seed=3, step=80)
    )


def test_is_stepped_scrubbed_and_set(bench):
    widget = ExpertLoad()
    with recorded(bench, widget) as page:
        assert "Press Play" in said(page)
        check(page, widget)
        scrub = page.get_by_role("slider", name="the training")
        for hand, step in [
            (lambda: page.get_by_role("button", name="Step forward").click(), 8),
            (lambda: scrub.press("End"), 240),
            (lambda: page.get_by_role("button", name="Step back").click(), 232),
        ]:
            hand()
            assert state(page, widget)["step"] == step
            check(page, widget)
        for group, name, trait, value in [
            ("layer", "2", "layer", 2), ("seed", "3", "seed", 3),
            ("experts, and visits per word", "16, one visit", "setting", "16 1"),
            ("experts, and visits per word", "8, two visits", "setting", "8 2"),
        ]:  # fmt: skip
            box = page.get_by_role("group", name=group, exact=True)
            box.get_by_role("button", name=name, exact=True).press("Enter")
            now = state(page, widget)
            assert (now[trait], now["step"]) == (value, 232)
            check(page, widget)
        page.get_by_role("slider", name="room per expert").press("End")
        assert state(page, widget)["capacity"] == 4
        check(page, widget)


def test_plays_to_its_end(bench):
    widget = ExpertLoad(step=216)
    with recorded(bench, widget) as page:
        page.emulate_media(reduced_motion="no-preference")
        page.get_by_role("button", name="Play").click()
        page.wait_for_function("document.querySelector('.p-play-at').value === 'step 240'")
        page.get_by_role("button", name="Play").wait_for()
        assert state(page, widget)["step"] == 240
        check(page, widget)


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    with bench.show(ExpertLoad(step=240, setting="16 1"), width=width, touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = "(all) => all.every((one) => one.scrollWidth <= one.clientWidth)"
        assert page.locator(".pieces, .p-setting").evaluate_all(inside)
        assert page.record.errors == []


def test_set_by_python(bench):
    widget = ExpertLoad()
    with recorded(bench, widget) as page:
        put(page, widget, step=120, seed=2, capacity=2.0)
        check(page, widget)
        put(page, widget, step=37, layer=9)
        now = state(page, widget)
        assert (now["step"], now["layer"]) == (40, 2)
        check(page, widget)
