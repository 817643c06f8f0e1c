"""PronounArcs: one word of a story is exchanged, and what follows is read."""

import pytest
from oracle import check, recorded
from trials import trials

from browser import put, state
from pieces.trained import load
from pieces.widgets import PronounArcs
from widgets.pronoun_arcs.samples import example as story

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [
        ("layer", 0),
        ("head", 65),
        ("others", ["a"] * 7),
        ("model_name", "gpt2"),
        ("token", -1),
        ("text", 7),
    ],
)
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        PronounArcs(**{trait: value})


def test_the_last_word_is_exchanged_and_nothing_else(bench):
    widget = story(layer=2, head=3)
    with recorded(bench, widget) as page:
        before = state(page, widget)
        page.get_by_role("button", name="book", exact=True).click()
        after = state(page, widget)
        assert after["text"] == "the blue book . Tom the blue book"
        assert after["looks"] != before["looks"]
        check(page, widget)
        page.get_by_role("button", name="ice-cream", exact=True).click()
        assert state(page, widget)["looks"] == before["looks"]


def test_any_word_can_be_followed_by_mouse_and_by_keys(bench):
    widget = story()
    with recorded(bench, widget) as page:
        page.locator(".p-chip").nth(2).click()
        assert state(page, widget)["token"] == 3
        check(page, widget)
        page.keyboard.press("ArrowRight")
        assert state(page, widget)["token"] == 4
        check(page, widget)


def test_a_finger_follows_a_word_and_exchanges_the_last(bench):
    widget = story(layer=2, head=3)
    with bench.show(widget, width=390, touch=True) as page:
        page.locator(".p-chip").nth(2).tap()
        assert state(page, widget)["token"] == 3
        page.get_by_role("button", name="book", exact=True).tap()
        assert state(page, widget)["text"].endswith("book")


def test_what_is_beyond_is_brought_back(bench):
    widget = story()
    with recorded(bench, widget) as page:
        put(page, widget, layer=9, head=9, token=40)
        now = state(page, widget)
        assert (now["layer"], now["head"], now["token"]) == (2, 4, 40), "the word wished is kept"
        check(page, widget)


def test_an_unknown_word_is_named_and_an_empty_text_is_no_error(bench):
    widget = story()
    with recorded(bench, widget) as page:
        page.locator("summary", has_text="Change any other word").click()
        field = page.locator("textarea")
        field.fill("the blue <b>whale</b>")
        field.blur()
        page.wait_for_function(
            "() => document.querySelector('.p-typed-note').textContent.includes('never met')"
        )
        assert page.locator(".p-chip b").count() == 0
        field.fill("")
        assert state(page, widget)["looks"] == []
        assert page.record.errors == []


def test_a_story_that_ends_otherwise_keeps_its_end(bench):
    widget = story(layer=2, head=3)
    with bench.show(widget) as page:
        assert page.locator(".p-swap").is_visible()
        put(page, widget, text="the blue book . Tom")
        assert page.locator(".p-swap").is_hidden()
        put(page, widget, text="Tom the book")
        assert page.locator(".p-swap").is_visible()
        for behind in ("Tom the book wug", "Tom the book.", "the book " * 24 + "and Tom the book"):
            put(page, widget, text=behind)
            assert page.locator(".p-swap").is_hidden(), behind


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone_with_its_control_beside_what_it_moves(bench, width):
    with bench.show(PronounArcs(layer=2, head=1), width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        top = page.locator(".p-chip").first.bounding_box()["y"]
        low = page.locator(".p-pane-bars").bounding_box()
        assert low["y"] + low["height"] - top <= 700


def test_the_story_of_the_book_is_known_to_every_model():
    for name in PronounArcs.models:
        load(name).task.encode(PronounArcs(model_name=name).text)
