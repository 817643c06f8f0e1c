"""ScoreFunctions: its arguments, its hands, its ghost, and what lights up together."""

import math

import pytest
from oracle import check, recorded
from trials import trials

from browser import PAINTED, put, state
from pieces.widgets import ScoreFunctions

TestOracle = trials(__file__)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("score", "cosine"), ("K", 3), ("K", 0), ("K", 2048), ("K", 2.0), ("temperature", 0),
        ("temperature", math.nan), ("n_keys", 1), ("n_keys", 13), ("seed", -1), ("query_x", 9.0),
        ("values", [1, math.inf, 2]), ("values", [True, 2, 3]), ("values", [1, 2]), ("values", "abc"),
        ("keys_at", [[0, 1]]), ("keys_at", [[9, 0]] * 3), ("names", ["a"]), ("places", ["a"]),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused_by_name(argument, value):
    with pytest.raises(
        ValueError, match=r"(values|keys_at|places_at|" + argument + r") = .*Remedy"
    ):
        ScoreFunctions(**{argument: value})


def test_says_its_settings():
    widget = ScoreFunctions(score="dot", K=64)
    assert repr(widget) == (
        "ScoreFunctions: the dot-product score, 3 keys of 64 numbers each, at a temperature of 1"
    )


def test_refuses_a_size_that_is_no_power_of_two_after_it_is_made_too():
    widget = ScoreFunctions()
    with pytest.raises(ValueError, match=r"K = 3.*Remedy"):
        widget.K = 3
    assert widget.K == 2


def test_every_power_of_two_is_a_size():
    for exponent in range(11):
        widget = ScoreFunctions(K=2**exponent)
        assert widget.K == 2**exponent


def test_a_story_of_ones_own(bench):
    story = {"names": ["<b>lemon</b>", "plum"], "values": [3.5, -2], "keys_at": [[1, 0], [0, 1]],
             "unit": "g", "places": [], "places_at": []}  # fmt: skip
    widget = ScoreFunctions(**story)
    with recorded(bench, widget) as page:
        check(page, widget)
        assert "<b>lemon</b>: 3.5 g" in page.locator(".p-plane").text_content()
        assert not page.locator(".p-asks").is_visible()


@pytest.mark.parametrize("by", ["mouse", "touch", "keyboard", "a place"])
def test_the_query_moves_and_the_output_with_it(bench, by):
    widget, touch = ScoreFunctions(query_x=0.0, query_y=0.0), by == "touch"
    with recorded(bench, widget, touch=touch, width=390 if touch else 1280) as page:
        before = state(page, widget)
        assert before["output"] == pytest.approx(38 / 3), "in the middle: the plain average"
        svg = page.locator(".p-plane")
        box = svg.bounding_box()
        if by == "mouse":
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.mouse.down()
            page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.6 * box["height"], steps=4)
            page.mouse.up()
        elif by == "touch":
            svg.tap(position={"x": 0.2 * box["width"], "y": 0.6 * box["height"]})
        elif by == "keyboard":
            for _ in range(20):
                svg.press("ArrowLeft")
        else:
            page.get_by_role("button", name="jogging").click()
        after = state(page, widget)
        assert after["query_x"] < -1.4
        assert after["output"] > before["output"] + 3, "closer to the walker"
        check(page, widget)


def test_a_new_size_keeps_the_vectors(bench):
    """Only the first K numbers of the same vectors are used: nothing is drawn anew."""
    widget = ScoreFunctions(score="dot", n_keys=5)
    with recorded(bench, widget) as page:
        put(page, widget, K=8)
        once = state(page, widget)["weights"]
        for K in (1024, 1, 8):
            put(page, widget, K=K)
            check(page, widget)
        assert state(page, widget)["weights"] == once
        put(page, widget, seed=7)
        assert state(page, widget)["weights"] != once


def test_what_was_is_left_as_a_ghost(bench):
    widget = ScoreFunctions(query_x=2.0, query_y=0.0)
    with recorded(bench, widget) as page:
        assert not page.locator(".p-was").is_visible()
        was, before = state(page, widget), page.locator(".p-rest").get_attribute("transform")
        put(page, widget, query_x=-2.0)
        assert page.locator(".p-was").is_visible()
        assert page.locator(".p-was-at").get_attribute("transform") == before
        marks = page.locator(".p-bar s").evaluate_all("(all) => all.map((s) => s.style.left)")
        shown = [float(left.removesuffix("%")) for left in marks[1::3]]
        assert shown == pytest.approx([100 * weight for weight in was["weights"]], abs=0.01)
        check(page, widget)
        put(page, widget, n_keys=4)
        assert not page.locator(".p-was-at").is_visible(), "other keys have no such past"


def test_ten_is_no_plain_average_at_512(bench):
    """A temperature of 10 against scores of about 22.6: the softmax still has its favourites."""
    widget = ScoreFunctions(score="dot", K=512, temperature=10.0, n_keys=8)
    with recorded(bench, widget) as page:
        check(page, widget)
        assert "plain average" not in page.locator(".p-say").inner_text()
        now = state(page, widget)
        assert max(now["weights"]) > 2 / 8
        assert now["entropy"] < 0.9 * math.log(8)


def test_a_long_key_at_an_obtuse_angle_is_silenced(bench):
    widget = ScoreFunctions(score="dot", query_x=0.4, query_y=1.8)
    with recorded(bench, widget) as page:
        assert "points away" in page.locator(".p-say").inner_text()
        put(page, widget, query_x=2.0, query_y=-1.0)
        check(page, widget)


def test_what_speaks_of_the_same_key_lights_up_together(bench):
    with recorded(bench, ScoreFunctions()) as page:
        page.locator(".p-plane g[data-role=key]").nth(2).locator("circle").hover()
        page.evaluate(PAINTED)
        lit = page.locator(".p-lit").evaluate_all(
            "(all) => all.map((e) => [e.dataset.lit, e.closest('[data-key]')?.dataset.key ?? ''])"
        )
        assert {tuple(one) for one in lit} == {("key", "2"), ("key", "")}
        assert "for by car" in page.locator(".p-work").inner_text(), "its arithmetic is written"
        page.locator(".p-legend li[data-lit=weight]").hover()
        assert page.locator("line.p-lit").count() == 3
        page.mouse.move(0, 0)
        page.evaluate(PAINTED)
        assert page.locator(".p-lit").count() == 0
