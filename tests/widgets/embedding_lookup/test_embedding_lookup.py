"""EmbeddingLookup: typed key by key, a cell of W changed by every hand, followed by every hand."""

import pytest
import torch
from oracle import check, recorded
from trials import trials

from browser import put, said, state
from pieces.tasks import Stories, Translation
from pieces.widgets import EmbeddingLookup
from pieces.widgets.embedding_lookup import VOCABULARIES, W

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("given", "named"),
    [({"language": "french"}, "language"), ({"W": [[0.0] * 4] * 7}, "W"), ({"W": [[6.0] * 4] * 8}, "W"),
     ({"W": []}, "W"), ({"before": [[1.0]]}, "before"), ({"token": 9}, "token"), ({"row": 0}, "row"),
     ({"column": 5}, "column"), ({"positions": 1}, "positions"), ({"text": "a" * 201}, "text"),
     ({"bias": 1}, "bias")],
)  # fmt: skip
def test_refuses(given, named):
    with pytest.raises(ValueError, match=named):
        EmbeddingLookup(**given)


def test_its_words_are_the_stories_and_the_translators():
    stories, translator = Stories().vocabulary, Translation().vocabulary
    assert set(VOCABULARIES["english"]) <= set(stories)
    assert set(VOCABULARIES["chinese"]) <= set(translator)


def test_typed_key_by_key(bench):
    widget = EmbeddingLookup()
    with recorded(bench, widget) as page:
        field = page.get_by_label("Type a text")
        field.fill("")
        check(page, widget)
        for key in "The cat found TOM":
            field.press_sequentially(key)
        assert field.input_value() == "The cat found TOM"
        now = state(page, widget)
        assert now["ids"] == [7, 3, 5, 1]
        assert (now["token"], now["row"]) == (4, 2), "Tom was typed last, and his number is framed"
        check(page, widget)
        field.press_sequentially(" ballo")
        page.get_by_role("button", name="Write ball in place of ballo").click()
        page.mouse.move(0, 0)  # or it would come to point at a word that is drawn under it
        assert state(page, widget)["ids"] == [7, 3, 5, 1, 2]
        check(page, widget)
        field.fill("dog " * 12)
        assert state(page, widget)["ids"] == [4] * 8
        check(page, widget)
        field.fill("the cat found")
        field.fill("the red cat found")
        assert [state(page, widget)[t] for t in ("token", "row")] == [2, 7], "a word in the middle"
        check(page, widget)


def test_a_cell_is_chosen_slid_typed_and_undone(bench):
    widget = EmbeddingLookup()
    with recorded(bench, widget) as page:
        slider = page.get_by_label("slide it")
        slider.evaluate(
            """(one) => { for (const value of [0.6, 0.7, 0.8, 0.9, 1]) {
              one.value = String(value); one.dispatchEvent(new Event("input")); } }"""
        )
        now = state(page, widget)
        assert now["W"][4][0] == pytest.approx(1.0)
        assert now["before"] == [list(row) for row in W], "a drag is one change"
        assert "has reached one token" in said(page)
        check(page, widget)
        field = page.get_by_label("type it")
        for bad in ("many", "6", ""):
            field.fill(bad)
            assert field.get_attribute("aria-invalid") == "true"
            assert state(page, widget)["W"][4][0] == pytest.approx(1.0)
        page.get_by_role("button", name="Undo").click()
        assert state(page, widget)["W"] == [list(row) for row in W]
        check(page, widget)
        board = page.locator(".p-map-1 .p-board")
        board.focus()
        for key in ["ArrowDown", "ArrowDown", "ArrowRight", "Enter"]:
            board.press(key)
        page.get_by_label("slide it").focus()
        assert [state(page, widget)[t] for t in ("row", "column")] != [5, 1]
        check(page, widget)


def test_a_repeated_word_is_changed_everywhere(bench):
    widget = EmbeddingLookup(row=8, column=2)
    with recorded(bench, widget) as page:
        page.get_by_label("slide it").press("Home")
        assert "has reached 2 tokens: every place" in said(page)
        x = torch.tensor(state(page, widget)["x"])
        code = x - torch.tensor(state(page, widget)["W"])[state(page, widget)["ids"]]
        assert code[0, 1] != code[3, 1]
        check(page, widget)


def test_hovered_is_followed_and_let_go(bench):
    widget = EmbeddingLookup()
    with recorded(bench, widget) as page:
        page.locator(".p-chip").nth(5).hover()
        page.wait_for_function("document.querySelector('.p-say').textContent.includes('“ball”')")
        assert state(page, widget)["token"] == 2
        page.mouse.move(3, 3)
        check(page, widget)
        page.locator(".p-chip").nth(4).click()
        page.mouse.move(3, 3)
        assert [state(page, widget)[t] for t in ("token", "row")] == [5, 7]
        check(page, widget)


def test_another_vocabulary_and_no_positions(bench):
    widget = EmbeddingLookup()
    with recorded(bench, widget) as page:
        page.get_by_label("vocabulary", exact=True).select_option("chinese")
        assert state(page, widget)["ids"] == [3, 2, 4, 6, 0, 2, 5]
        check(page, widget)
        page.get_by_label("add positions").uncheck()
        check(page, widget)
        put(page, widget, text="鸟 <b> 鸟", token=2)
        check(page, widget)


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    widget = EmbeddingLookup(text="found " * 8, W=[[-4.5] * 4] * 8)
    with recorded(bench, widget, width=width, touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = "(all) => all.every((one) => one.scrollWidth <= one.clientWidth)"
        assert page.locator(".pieces, .p-framed, .p-pane, .p-work").evaluate_all(inside)
        page.locator(".p-chip").nth(2).tap()
        assert state(page, widget)["token"] == 3
