"""AttentionSteps: its numbers in Python, what it refuses, and what the page does with them."""

import re

import pytest
import torch
from trials import trials

from browser import PAINTED, picture, put, state
from pieces import masks
from pieces.attention import attention
from pieces.widgets import AttentionSteps
from pieces.widgets.attention_steps import STEPS
from pieces.widgets.six_tokens import TABLE, draws

TestOracle = trials(__file__)


def reference(widget):
    """Q and the weights and output of `pieces.attention` for the widget's traits, float64."""
    X, *W = (
        torch.tensor(m, dtype=torch.float64) for m in (widget.X, widget.Wq, widget.Wk, widget.Wv)
    )
    q, k, v = (X @ w for w in W)
    mask = masks.causal(6) if widget.mask == "causal" else None
    output, weights = attention(q[None, None], k[None, None], v[None, None], mask=mask)
    return q, weights[0, 0], output[0, 0]


class TestNumbers:
    def test_are_those_of_the_source(self):
        widget = AttentionSteps()
        torch.manual_seed(168)
        theirs = [torch.rand(3, 3) for _ in range(3)]
        for ours, matrix in zip((widget.Wq, widget.Wk, widget.Wv), theirs, strict=True):
            assert torch.equal(torch.tensor(ours), matrix)
        query = torch.tensor(TABLE[1]) @ theirs[0]
        assert torch.allclose(query, torch.tensor([0.9990, 0.8667, 0.5560]), atol=5e-5)
        assert "query 2 is [0.9990, 0.8667, 0.5560]" in repr(widget)

    def test_leave_the_readers_random_numbers_alone(self):
        torch.manual_seed(3)
        expected = torch.rand(4)
        torch.manual_seed(3)
        draws()
        AttentionSteps()
        assert torch.equal(torch.rand(4), expected)

    def test_are_not_shared_between_widgets(self):
        first, second = AttentionSteps(), AttentionSteps()
        first.X = torch.zeros(6, 3)
        assert second.X[0][0] == 0.13


@pytest.mark.usefixtures("unchecked")
class TestRefuses:
    @pytest.mark.parametrize(
        ("trait", "value"),
        [
            ("X", torch.zeros(5, 3)),
            ("X", torch.zeros(6, 3, 1)),
            ("X", [[1, 2, 3]] * 5 + [[1, 2]]),
            ("X", torch.full((6, 3), torch.nan)),
            ("X", torch.full((6, 3), 101.0)),
            ("Wq", torch.zeros(3, 4)),
            ("Wk", torch.full((3, 3), torch.inf)),
            ("Wv", "eye"),
            ("step", 7),
            ("step", -1),
            ("column", 7),
            ("tokens", ["a"] * 7),
            ("step", "score"),
            ("row", 0),
            ("row", 7),
            ("row", True),
            ("mask", "prefix"),
            ("mask", None),
        ],
    )
    def test_what_does_not_fit(self, trait, value):
        with pytest.raises(ValueError, match=trait):
            AttentionSteps(**{trait: value})
        widget = AttentionSteps()
        with pytest.raises(ValueError, match=trait):
            setattr(widget, trait, value)

    def test_takes_tensors_and_lists(self):
        widget = AttentionSteps(X=torch.ones(6, 3), Wq=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], step=6)
        assert widget.X == [[1.0] * 3] * 6
        assert "the step “mix”" in repr(widget)
        assert "query 2 is [1.0000, 1.0000, 1.0000]" in repr(widget)


# How far each pane is moved sideways when its way begins; null where it only fades in.
MOVING = """() => Object.fromEntries(document.getAnimations().map((one) => [
  one.effect.target.querySelector("figcaption")?.textContent ?? one.effect.target.textContent,
  one.effect.getKeyframes()[0].transform ? Number(one.effect.getKeyframes()[0].transform.match(/-?[\\d.]+/)[0]) : null]))"""
LIT = """() => [...document.querySelectorAll(".p-pane:not([hidden])")].map((pane) => {
  const cell = Number(getComputedStyle(pane).getPropertyValue("--cell").replace("px", ""));
  const start = () => Number(pane.querySelector('.p-names [data-axis=row][data-at="0"]').getAttribute("y")) - cell / 2;
  const found = {};
  for (const kind of ["row", "column", "cell"]) {
    const frame = pane.querySelector(`[data-frame=${kind}]:not([hidden]) .p-ring`);
    if (!frame) continue;
    const [x, y] = ["x", "y"].map((name) => Number(frame.getAttribute(name)));
    const [left, top] = [Number(pane.querySelector(".p-names [data-axis=row]").getAttribute("x")) + 5, start()];
    const [i, j] = [Math.round((y - top) / cell), Math.round((x - left) / cell)];
    found[kind] = kind === "row" ? i : kind === "column" ? j : [i, j];
  }
  return [pane.querySelector("figcaption").textContent, found];
})"""
CELL = """([caption, i, j]) => {
  const pane = [...document.querySelectorAll(".p-pane:not([hidden])")].find((one) => one.querySelector("figcaption").textContent === caption);
  const cell = Number(getComputedStyle(pane).getPropertyValue("--cell").replace("px", ""));
  const y = Number(pane.querySelector(".p-names [data-axis=row]").getAttribute("y"));
  const box = pane.querySelector(".p-board").getBoundingClientRect();
  const left = Number(pane.querySelector(".p-names [data-axis=row]").getAttribute("x")) + 5;
  return [box.left + left + (j + 0.5) * cell, box.top + y + i * cell];
}"""


def cell(page, caption, i, j):
    """The middle of a cell on the screen."""
    page.locator(".pieces").scroll_into_view_if_needed()
    return page.evaluate(CELL, [caption, i, j])


def lit(page):
    """What is framed in each matrix, and which line is lit, all counted from 0."""
    page.evaluate(PAINTED)
    found = dict(page.evaluate(LIT))
    for one in found.values():
        if "cell" in one:
            one["cell"] = tuple(one["cell"])
    on = page.locator(".p-work li").evaluate_all(
        "(all) => all.findIndex((li) => li.classList.contains('p-on'))"
    )
    return found | {"line": on if on >= 0 else None}


def numbers_of(page):
    """The results that are written out: the bold numbers of the visible lines."""
    texts = page.locator(".p-work li:visible b").all_inner_texts()
    return [float(t.replace("−", "-")) for t in texts if not re.match("[qkv]", t)]


class TestPage:
    @pytest.mark.parametrize("mask", ["none", "causal"])
    @pytest.mark.parametrize("seed", [None, 0, 1])
    def test_computes_what_the_package_computes(self, bench, mask, seed):
        widget = AttentionSteps(mask=mask)
        if seed is not None:
            drawn = torch.Generator().manual_seed(seed)
            widget.X = 4 * torch.randn(6, 3, generator=drawn, dtype=torch.float64)
            widget.Wq = torch.randn(3, 3, generator=drawn, dtype=torch.float64)
        q, weights, output = reference(widget)
        with bench.show(widget) as page:
            found = state(page, widget)
        close = {"rtol": 0, "atol": 1e-12}
        assert torch.allclose(torch.tensor(found["query"], dtype=torch.float64), q[1], **close)
        assert torch.allclose(torch.tensor(found["weights"], dtype=torch.float64), weights, **close)
        assert torch.allclose(torch.tensor(found["output"], dtype=torch.float64), output, **close)

    def test_writes_one_row_out(self, bench):
        widget = AttentionSteps()
        q, weights, output = reference(widget)
        with bench.show(widget) as page:
            text = page.locator(".p-work").inner_text().replace("\n", " ")
            assert "0.9990 = 0.25·0.0365 + 0.87·0.8351 + 0.66·0.3991" in text
            assert numbers_of(page) == [round(x, 4) for x in q[1].tolist()]
            put(page, widget, step=5)
            assert numbers_of(page)[:6] == [round(x, 4) for x in weights[1].tolist()]
            put(page, widget, step=6, row=5)
            assert numbers_of(page) == [round(x, 4) for x in output[4].tolist()]
            assert state(page, widget)["query"] == pytest.approx(q[4].tolist(), abs=1e-12)

    def test_hides_later_keys(self, bench):
        with bench.show(AttentionSteps(step=5, mask="causal")) as page:
            assert numbers_of(page)[2:6] == [0.0] * 4
            assert page.locator(".p-work").inner_text().count("hidden") == 4

    def test_a_shared_lead_is_told_as_one(self, bench):
        widget = AttentionSteps(step=5, row=3)
        widget.X = [row if n != 2 else [0, 0, 0] for n, row in enumerate(widget.X)]
        with bench.show(widget) as page:
            said = page.locator(".p-say")
            assert "Keys 1, 2, 3, 4, 5, 6 share the lead with 16.7 % each." in said.inner_text()
            put(page, widget, step=3)
            assert "Keys 1, 2, 3, 4, 5, 6 fit best, equally well: 0.0000." in said.inner_text()
            put(page, widget, step=4)
            assert "Its scores are equal, and stay so." in said.inner_text()
            put(page, widget, step=5, mask="causal")
            assert "Keys 1, 2, 3 share the lead with 33.3 % each." in said.inner_text()
            put(page, widget, step=6)
            assert said.inner_text().endswith("of rows 1 to 3 of V, as the mask allows.")
            put(page, widget, row=1)
            assert "Output 1 is v₁ itself" in said.inner_text()

    def test_a_weight_that_underflows_is_not_called_positive(self, bench):
        widget = AttentionSteps(step=5)
        widget.X = [[99 * (-1) ** n * x for x in row] for n, row in enumerate(widget.X)]
        widget.Wq, widget.Wk = ([[99.0 * (i == j) for j in range(3)] for i in range(3)],) * 2
        with bench.show(widget) as page:
            assert 0 in numbers_of(page)[:6]
            assert page.locator(".p-say").inner_text().startswith("Row 2 sums to 1 now.")

    def test_the_dark_colours_every_tile_anew(self, bench):
        tiles = """() => [...document.querySelectorAll(".p-work li:not([hidden]) .p-tile")]
          .map((tile) => tile.style.cssText)"""
        dark = "document.documentElement.dataset.theme = 'dark'"
        widget = AttentionSteps(step=3)
        with bench.show(widget) as page:
            light = page.evaluate(tiles)
            page.evaluate(dark)
            page.evaluate(PAINTED)
            turned = page.evaluate(tiles)
            put(page, widget, step=2)
            put(page, widget, step=3)
            assert turned == page.evaluate(tiles)
        assert len(light) == len(turned) > 30
        assert all(one != other for one, other in zip(light, turned, strict=True))

    def test_pointing_at_a_score_lights_what_makes_it_and_a_press_keeps_it(self, bench):
        widget = AttentionSteps(step=3)
        with bench.show(widget) as page:
            said, kept = page.locator(".p-say"), picture(page)
            at = cell(page, "scores Q Kᵀ", 4, 2)
            page.mouse.move(*at)
            assert lit(page) == {"queries Q": {"row": 4}, "keys Kᵀ": {"column": 2},
                                 "scores Q Kᵀ": {"row": 4, "cell": (4, 2)}, "line": 2}  # fmt: skip
            assert "Query 5" in said.inner_text()
            assert state(page, widget)["row"] == 2
            page.mouse.move(1, 1)
            assert picture(page) == kept
            page.mouse.click(*at)
            page.mouse.move(1, 1)
            assert (state(page, widget)["row"], state(page, widget)["column"]) == (5, 3)
            assert lit(page)["line"] == 2

    def test_pointing_at_a_line_lights_its_cell_and_by_keyboard_too(self, bench):
        widget = AttentionSteps(step=3)
        with bench.show(widget) as page:
            page.locator(".p-work li").nth(4).hover()
            assert lit(page)["scores Q Kᵀ"] == {"row": 1, "cell": (1, 4)}
            page.mouse.move(1, 1)
            page.locator(".p-work li").nth(5).focus()
            assert lit(page)["keys Kᵀ"] == {"column": 5}
            page.locator(".p-work li").nth(3).click()
            assert state(page, widget)["column"] == 4

    def test_a_finger_keeps_a_cell_and_lets_it_go(self, bench):
        widget = AttentionSteps(step=3, column=0)
        with bench.show(widget, width=390, touch=True) as page:
            assert lit(page) == {"queries Q": {"row": 1}, "keys Kᵀ": {},
                                 "scores Q Kᵀ": {"row": 1}, "line": None}  # fmt: skip
            at = cell(page, "keys Kᵀ", 1, 4)
            page.touchscreen.tap(*at)
            assert (state(page, widget)["row"], state(page, widget)["column"]) == (2, 5)
            page.touchscreen.tap(*at)
            assert state(page, widget)["column"] == 0

    def test_the_keyboard_chooses_a_row(self, bench):
        widget = AttentionSteps(step=3, row=6)
        with bench.show(widget) as page:
            board = page.locator(".p-pane", has_text="scores Q").locator(".p-board")
            board.focus()
            for key in ("ArrowDown", "ArrowDown", "Enter"):
                board.press(key)
            assert state(page, widget)["row"] == 3

    def test_a_cell_that_a_step_has_not_is_let_go(self, bench):
        widget = AttentionSteps(step=3, column=6)
        with bench.show(widget) as page:
            put(page, widget, step=6)
            assert state(page, widget)["column"] == 3
            assert lit(page)["line"] == 2

    @pytest.mark.parametrize("step", range(len(STEPS)))
    def test_shows_only_the_matrices_of_the_step(self, bench, step):
        shown = (3, 3, 3, 3, 2, 2, 3)
        with bench.show(AttentionSteps(step=step)) as page:
            assert page.locator(".p-board:visible").count() == shown[step]
            page.locator("details").last.locator("summary").click()
            page.locator(".p-tables table").last.wait_for()
            assert page.locator(".p-tables table").count() == shown[step]

    @pytest.mark.parametrize("width", [320, 360, 390, 640])
    @pytest.mark.parametrize("step", [0, 3, 4, 6])
    def test_fits_a_narrow_page_with_its_numbers(self, bench, width, step):
        with bench.show(AttentionSteps(step=step), width=width) as page:
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            frame = page.locator(".pieces").bounding_box()
            ends = [
                box.bounding_box()["x"] + box.bounding_box()["width"]
                for box in page.locator(".p-pane:visible, .p-work li:visible").all()
            ]
            assert max(ends) <= frame["x"] + frame["width"]
            control = page.locator(".p-stepper").bounding_box()["y"]
            last = [box.bounding_box() for box in page.locator(".p-pane:visible").all()]
            assert max(box["y"] + box["height"] for box in last) - control <= 700

    def test_a_matrix_glides_to_its_next_place(self, bench):
        """Scores move from the right to the left; who wants less motion sees them there at once."""
        widget = AttentionSteps(step=3)
        begin = "() => document.querySelector('[aria-label=\"Next step\"]').click()"
        with bench.show(widget) as page:
            page.evaluate(begin)
            page.evaluate(PAINTED)
            assert page.evaluate("document.getAnimations().length") == 0
            put(page, widget, step=3)
            page.emulate_media(reduced_motion="no-preference")
            before = page.locator(".p-pane", has_text="scores Q").bounding_box()
            page.evaluate(begin)
            page.evaluate(PAINTED)
            found = page.evaluate(MOVING)
            page.wait_for_function("() => document.getAnimations().length === 0")
            after = page.locator(".p-pane", has_text="scores Q").bounding_box()
            assert found["scores Q Kᵀ"] == pytest.approx(before["x"] - after["x"], abs=2)
            assert found["scaled scores"] is None, "what is new fades in where it stands"
            assert page.record.errors == []

    def test_what_was_kept_comes_back_from_there(self, bench):
        widget = AttentionSteps(step=2)
        with bench.show(widget) as page:
            page.emulate_media(reduced_motion="no-preference")
            kept = page.locator(".p-kept", has_text="K").bounding_box()
            put(page, widget, step=3)
            found = page.evaluate(MOVING)
            page.wait_for_function("() => document.getAnimations().length === 0")
            turned = page.locator(".p-pane", has_text="keys Kᵀ").bounding_box()
            assert found["keys Kᵀ"] == pytest.approx(kept["x"] - turned["x"], abs=2)

    def test_typed_nonsense_stays_and_changes_nothing(self, bench):
        widget = AttentionSteps()
        with bench.show(widget) as page:
            page.locator("summary").first.click()
            field = page.get_by_label("input X, row 2, column 1")
            before = state(page, widget)["output"]
            for text in ("", "one", "NaN", "1e999", "--1", "101"):
                field.fill(text)
                assert field.get_attribute("aria-invalid") == "true"
                assert state(page, widget)["X"][1][0] == 0.25
                assert state(page, widget)["output"] == before
                assert field.input_value() == text
                note = page.locator(".p-note").first
                assert note.inner_text() == (
                    f"“{text}” is not a number from −100 to 100: 0.25 stays in use."
                )
            field.fill("-0,5")
            assert not note.is_visible()
            assert state(page, widget)["X"][1][0] == -0.5
            assert state(page, widget)["output"] != before
            assert "(−0.5)·0.0365" in page.locator(".p-work").inner_text()

    def test_edits_can_be_undone(self, bench):
        widget = AttentionSteps()
        with bench.show(widget) as page:
            page.locator("summary").first.click()
            assert not page.get_by_role("button", name="Undo my edits").is_visible()
            before = state(page, widget)
            page.get_by_label("key weights, row 1, column 1").fill("2")
            page.get_by_label("input X, row 1, column 1").fill("what")
            page.get_by_role("button", name="Undo my edits").click()
            assert state(page, widget) == before
            assert page.get_by_label("input X, row 1, column 1").input_value() == "0.13"

    def test_large_numbers_stay_numbers(self, bench):
        widget = AttentionSteps(X=torch.full((6, 3), 100.0), Wq=torch.full((3, 3), 100.0), step=5)
        with bench.show(widget) as page:
            assert all(abs(sum(row) - 1) < 1e-9 for row in state(page, widget)["weights"])
            text = page.locator(".p-work").inner_text()
            assert "∞" not in text
            assert "NaN" not in text
            assert page.record.errors == []
