"""PathLength: what it refuses, and what a reader finds out with two words."""

import pytest
from oracle import check, recorded
from trials import trials

from browser import PAINTED, put, state
from pieces.widgets import PathLength

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("first", 0), ("second", 17), ("length", 3), ("reach", 4), ("layers", 0), ("layers", 2.5),
     ("dilated", 1), ("tokens", ["a"] * 17)],
)  # fmt: skip
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        PathLength(**{trait: value})


def test_three_convolutions_see_seven_words_and_four_dilated_ones_ten_words_away(bench):
    widget = PathLength(layers=3, first=9, second=12)
    with recorded(bench, widget) as page:
        assert state(page, widget)["steps"] == [3, 3, 1]
        put(page, widget, first=8)
        assert state(page, widget)["steps"] == [4, None, 1]
        assert (
            "7 words are seen" in page.locator('[data-kind="convolution"] figcaption').inner_text()
        )
        put(page, widget, first=2, layers=4, dilated=True)
        assert state(page, widget)["steps"] == [10, 4, 1]
        check(page, widget)


def test_a_press_moves_the_nearer_light(bench):
    widget = PathLength()
    with recorded(bench, widget) as page:
        for n, pair in ((5, (5, 12)), (16, (5, 16)), (11, (5, 11)), (1, (1, 11))):
            page.get_by_role("button", name=f"word {n}:").click()
            assert (state(page, widget)["first"], state(page, widget)["second"]) == pair
            check(page, widget)


@pytest.mark.parametrize(
    "traits",
    [
        {"first": 4, "second": 4},
        {"first": 16, "second": 1, "length": 4},
        {"tokens": ["left", "right"], "first": 1, "second": 2, "length": 4096},
        {"reach": 3, "dilated": True, "layers": 15, "length": 4096},
        {"layers": 1, "length": 2048},
        {"first": 5, "second": 6, "layers": 2, "length": 17},
    ],
)
def test_at_its_ends(bench, traits):
    widget = PathLength(**traits)
    with recorded(bench, widget) as page:
        if traits.get("first") == traits.get("second", 0):
            assert "same word" in page.locator(".p-say").inner_text()
        else:
            check(page, widget)
        assert page.record.errors == []


def test_the_light_is_played_step_by_step(bench):
    widget = PathLength(first=3, second=7, layers=4)
    with recorded(bench, widget) as page:
        page.locator(".p-player input").evaluate(
            "(scrub) => { scrub.value = 0; scrub.dispatchEvent(new Event('input')); }"
        )
        for n in range(5):
            page.evaluate(PAINTED)
            check(page, widget)
            assert page.locator(".p-play-at").inner_text() == ("1 step" if n == 1 else f"{n} steps")
            if n < 4:
                page.get_by_role("button", name="Step forward").click()
        put(page, widget, second=9)
        assert page.locator(".p-play-at").inner_text() == "6 steps", "another way stands at its end"


@pytest.mark.parametrize("width", [300, 320, 360, 390])
def test_fits_a_phone(bench, width):
    with bench.show(PathLength(), width=width, touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_role("button", name="word 4:").tap()
        assert page.locator(".p-word[aria-pressed=true]").all_inner_texts() == ["which", "was"]
