"""FillMask: a mask filled in by hand, its verdict, its hints, and what a page remembers."""

import pytest
import torch
from trials import trials

from browser import POINTS, opened, picture, said, state
from pieces import masks
from pieces.book.ask import ask, names
from pieces.widgets import FillMask

TestOracle = trials(__file__)


def band(**more):
    given = {
        "question": "Causal, window 2.",
        "answer": masks.sliding_window(5, 2),
        "why": "A band.",
    }
    return FillMask(**(given | more))


def fill(page, mask, by="mouse", touch=False):
    """Press every cell that may attend."""
    board = page.locator(".p-board")
    box = board.locator("canvas").bounding_box()
    size = min(40, (box["width"] - 19) / mask.shape[1])
    for i, j in mask.nonzero().tolist():
        where = {"x": 18 + (j + 0.5) * size, "y": 18 + (i + 0.5) * size}
        if by == "keyboard":
            board.press("Escape")
            board.press("ArrowDown")  # the first press wakes the cursor at the first cell
            for key, times in (("ArrowDown", i), ("ArrowRight", j)):
                for _ in range(times):
                    board.press(key)
            board.press("Enter")
        elif touch:
            board.tap(position=where)
        else:
            board.click(position=where)


def check(page):
    page.get_by_role("button", name="Check").click()
    return page.locator(".p-say").inner_text()


class TestFillMask:
    @pytest.mark.parametrize("by", ["mouse", "keyboard", "touch"])
    def test_takes_the_right_mask(self, bench, by):
        widget, touch = band(), by == "touch"
        with bench.show(widget, touch=touch, width=360 if touch else 1280) as page:
            fill(page, masks.sliding_window(5, 2), by, touch)
            assert check(page) == "✓ Right. A band."
            assert state(page, widget)["correct"] is True
            assert state(page, widget)["filled"] == masks.sliding_window(5, 2).tolist()

    def test_a_mouse_checks_what_the_keys_have_pressed(self, bench):
        """What the board says goes as it loses the focus: the button must not move away under the mouse."""
        rows, columns = [f"number {n}" for n in range(4)], ["p θ₀", "p θ₁"]
        given = {"rows": rows, "columns": columns, "marks": ("turned by it", "not turned by it")}
        widget = band(answer=torch.tensor([[1, 0], [0, 1]] * 2).bool(), **given)
        with bench.show(widget) as page:
            page.locator(".p-board").press("ArrowRight")
            page.locator(".p-board").press("Enter")
            assert check(page).startswith("✗")
            names = page.locator(".p-names text").all_text_contents()
            assert names == rows + columns, "a name is cut"

    def test_counts_the_wrong_cells_and_hints(self, bench):
        widget = band(hint="How wide is it?")
        with bench.show(widget) as page:
            assert check(page).startswith("No cell is pressed yet."), "an empty grid is no try"
            assert not page.get_by_role("button", name="Show which").is_visible()
            assert state(page, widget)["correct"] is False
            fill(page, torch.eye(5).bool())
            assert check(page) == "✗ 4 cells are wrong. How wide is it?"
            fill(page, masks.causal(5) & ~torch.eye(5).bool())
            assert said(page) == "", "an old verdict is gone"
            before = picture(page)
            assert check(page).startswith("✗ 6 cells are wrong.")
            assert state(page, widget)["correct"] is False
            assert "band" not in page.locator(".p-say").inner_text()
            drawn = page.locator("canvas").evaluate(POINTS)
            assert drawn in before, "nothing is given away"
            fill(page, masks.causal(5) & ~masks.sliding_window(5, 2) & (torch.arange(5) > 0))
            assert check(page).startswith("✗ 3 cells are wrong")

    def test_outlines_the_wrong_cells_only_if_asked(self, bench):
        with bench.show(band()) as page:
            show = page.get_by_role("button", name="Show which")
            assert not show.is_visible()
            fill(page, torch.eye(5).bool())
            check(page)
            before = page.locator("canvas").evaluate(POINTS)
            show.click()
            outlined = page.locator("canvas").evaluate(POINTS)
            assert outlined != before
            page.locator(".p-board").press("ArrowRight")
            page.locator(".p-board").press("Enter")
            assert not show.is_visible(), "no verdict, nothing to show"
            assert page.locator("canvas").evaluate(POINTS) not in (before, outlined)

    def test_a_cell_is_named_in_the_caption_and_covers_none(self, bench):
        with bench.show(band()) as page:
            board, caption = page.locator(".p-board"), page.locator("figcaption")
            assert caption.inner_text() == "Press the cells that may attend"
            board.click(position={"x": 30, "y": 30})
            assert caption.inner_text() == "query 1, key 1: may attend"
            assert not page.locator(".p-tip").is_visible()
            page.get_by_role("button", name="Check").click()
            assert caption.inner_text() == "Press the cells that may attend"

    def test_one_word_for_two_kinds_of_cells_is_refused(self):
        with pytest.raises(ValueError, match="marks"):
            band(marks=["has some"])

    def test_what_is_no_mask_has_words_of_its_own(self, bench):
        with bench.show(band(marks=["has some", "<b>none</b>"])) as page:
            caption = page.locator("figcaption")
            assert caption.inner_text() == "Press the cells"
            assert "has some" in page.locator(".p-legend").inner_text()
            assert "<b>none</b>" in page.locator(".p-legend").inner_text()
            page.locator(".p-board").click(position={"x": 30, "y": 30})
            assert caption.inner_text() == "1, 1: has some"

    def test_what_is_no_mask_may_be_one_row_and_has_no_queries(self, bench):
        answer = torch.tensor([[True, False, True]])
        widget = band(answer=answer, rows=["a bug"], marks=["yes", "no"])
        with bench.show(widget) as page:
            board = page.locator(".p-board")
            label = board.get_attribute("aria-label")
            assert "1 × 3, row by column" in label
            assert "query" not in label
            assert (
                page.get_by_role("region", name="Fill in the cells").count()
                + page.get_by_role("group", name="Fill in the cells").count()
                == 1
            )
            board.press("ArrowDown")
            board.press("Enter")
            for _ in range(2):
                board.press("ArrowRight")
            board.press("Enter")
            assert check(page) == "✓ Right. A band."
            assert state(page, widget)["filled"] == answer.tolist()

    def test_a_typical_slip_is_diagnosed(self, bench):
        slips = [(masks.causal(5), "Too wide."), (masks.full(5), "That hides nothing.")]
        with bench.show(band(hint="How wide?", slips=slips)) as page:
            fill(page, masks.causal(5))
            assert check(page) == "✗ 6 cells are wrong. Too wide."
            fill(page, ~masks.causal(5))
            assert check(page) == "✗ 16 cells are wrong. That hides nothing."
            fill(page, torch.eye(5).bool())
            assert check(page).endswith("wrong. How wide?")

    def test_after_two_wrong_masks_the_answer_may_be_seen(self, bench):
        widget = band()
        with bench.show(widget) as page:
            reveal = page.get_by_role("button", name="Show the answer")
            fill(page, torch.eye(5).bool())
            check(page)
            check(page)
            assert not reveal.is_visible(), "the same mask twice is one try"
            fill(page, masks.causal(5) & ~torch.eye(5).bool())
            check(page)
            reveal.click()
            assert said(page) == "This is the answer. A band."
            assert not reveal.is_visible()
            assert check(page) == "✓ Right. A band."
            assert state(page, widget)["filled"] == masks.sliding_window(5, 2).tolist()

    @pytest.mark.parametrize(
        "slips",
        [
            "no",
            [masks.causal(5)],
            [(masks.causal(5), 3)],
            [("mask", "why")],
            [(masks.causal(4), "another size")],
            [(masks.causal(5)[0], "a row")],
            [(masks.causal(5), "too many")] * 9,
        ],
    )
    def test_refuses_slips_that_are_none(self, unchecked, slips):
        with pytest.raises(ValueError, match="slips"):
            band(slips=slips)

    def test_a_long_word_is_whole_on_a_phone(self, bench):
        widget = band(
            question="Is multi_head_latent_attention_with_rotary_position_embeddings_" + "x" * 40
        )
        with bench.show(widget, width=320) as page:
            cut = page.locator(".p-question").evaluate(
                "(e) => [e.scrollWidth - e.clientWidth, e.closest('.pieces').scrollWidth"
                " - e.closest('.pieces').clientWidth]"
            )
            assert max(cut) <= 0

    @pytest.mark.parametrize("width", [1280, 360])
    def test_the_books_questions_name_their_rows_and_columns_whole(self, bench, width):
        asked = [one for one in map(ask, names()) if isinstance(one, FillMask)]
        with bench.show(*asked, width=width) as page:
            stages = page.locator(".pieces-stage").all()
            for one, stage in zip(asked, stages, strict=True):
                told = stage.locator("text[data-axis]").all_text_contents()
                assert told == [*one.rows, *one.columns]

    def test_names_the_cells(self, bench):
        mask = masks.causal(3)[:2]
        widget = band(answer=mask, rows=["ask", "me"], columns=["a", "b", "<i>c"])
        with bench.show(widget) as page:
            board = page.locator(".p-board")
            board.press("ArrowRight")
            board.press("ArrowRight")
            assert page.locator(".p-pane .p-hidden").inner_text() == "query ask, key <i>c: masked"

    def test_what_was_filled_survives_a_reload(self, bench):
        widget = band()
        with bench.show(widget) as page:
            fill(page, masks.sliding_window(5, 2))
            page.reload()
            page.wait_for_selector(".pieces")
            assert check(page).startswith("✓")

    def test_two_questions_keep_their_own_answers(self, bench):
        first, second = band(), band(question="The other one.")
        with bench.show(first, second) as page:
            page.locator(".p-board").first.press("Enter")
            page.reload()
            page.wait_for_function("document.querySelectorAll('.pieces').length === 2")
            for button in page.get_by_role("button", name="Check").all():
                button.click()
            assert state(page, first)["filled"][0][0] is True
            assert state(page, second)["filled"][0][0] is False

    @pytest.mark.parametrize("junk", ["", "null", "{}", "[[1]]", "not json", "[1,2,3,4,5]"])
    def test_a_spoilt_memory_is_forgotten(self, bench, junk):
        widget = band()
        write = f"localStorage.setItem('pieces:mask:Causal, window 2.', {junk!r})"
        with opened(bench.chromium, bench.url(widget), init=write) as page:
            assert check(page).startswith("No cell is pressed yet.")
            assert page.record.errors == []

    @pytest.mark.parametrize(
        ("argument", "value"),
        [("question", ""), ("answer", torch.ones(3, 3)), ("answer", torch.ones(3).bool()),
         ("answer", torch.ones(4, 1).bool()), ("answer", torch.ones(13, 4).bool()),
         ("answer", None), ("answer", "x"), ("answer", []), ("rows", "abc"), ("why", 3)],
    )  # fmt: skip
    def test_refuses(self, unchecked, argument, value):
        with pytest.raises(ValueError, match=argument):
            band(**{argument: value})


@pytest.mark.parametrize(
    ("state", "rows"),
    [
        ({"answer": [[1.0, 0.0]] * 3}, 3),
        ({"answer": [[1.0]] * 99}, 12),
        ({"answer": "text"}, None),
        ({}, None),
    ],
)
def test_a_page_keeps_as_much_space_as_the_mask_has_rows(state, rows):
    assert FillMask.rows_shown(state) == rows
