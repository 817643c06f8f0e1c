"""The picture oracle itself: it takes what is right, and each deliberate fault below makes it fail."""

import re

import pytest
import torch
from oracle import check, recorded, wrong

from pieces import masks
from pieces.widgets import AttentionSteps, FillMask, MaskExplorer, PredictNumber, ScoreFunctions

X = (3 * torch.randn(6, 3, generator=torch.Generator().manual_seed(4))).round(decimals=2)


def wrong_fill(page):
    """A reader's try at the mask: the main diagonal, checked, its faults outlined."""
    board = page.locator(".p-board")
    for i in range(3):
        board.press("Escape")
        for key in ["ArrowDown"] * (i + 1) + ["ArrowRight"] * i + ["Enter"]:
            board.press(key)
    page.get_by_role("button", name="Check").click()
    page.get_by_role("button", name="Show which").click()


def right_number(page):
    page.get_by_label("Your answer").fill("0.254")
    page.get_by_label("Your answer").press("Enter")


# Pictures that the oracle must take, and on which faults are tried: a widget, and what a reader does.
PICTURES = {
    "causal": (lambda: MaskExplorer(T=6, flips=[[1, 4], [3, 0]], layers=2), None),
    "named": (lambda: MaskExplorer(kind="sliding_window", tokens=list("abcdefg"), window=2), None),
    "prefix": (lambda: MaskExplorer(kind="prefix", T=5, prefix_len=3, flips=[[0, 4]]), None),
    "large": (lambda: MaskExplorer(kind="global_window", T=24, window=5, layers=3), None),
    "project": (lambda: AttentionSteps(X=X, step=0, row=3), None),
    "score": (lambda: AttentionSteps(X=X, step=1, row=2), None),
    "scale": (lambda: AttentionSteps(X=X, step=2, row=5), None),
    "softmax": (lambda: AttentionSteps(X=X, step=3, row=4, mask="causal"), None),
    "mix": (lambda: AttentionSteps(X=X, step=4, row=3), None),
    "plane": (lambda: ScoreFunctions(temperature=2.0, D=4, query_x=1.4, query_y=-0.8), None),
    "additive": (lambda: ScoreFunctions(score="additive", D=64, n_keys=4), None),
    "bilinear": (lambda: ScoreFunctions(score="bilinear", n_keys=9, temperature=0.5), None),
    "line": (lambda: ScoreFunctions(score="dot", D=1, n_keys=3), None),
    "fill": (lambda: FillMask(question="Causal?", answer=masks.causal(3, 4), rows=list("abc"),
                              columns=list("wxyz")), wrong_fill),
    "predict": (lambda: PredictNumber(question="1/4?", answer=0.25), right_number),
}  # fmt: skip

NUMBER_IN_CELL = "word(brush, printed(value, cells.digits)"
# A fault: the picture on which it is tried, the module, what stands there, what is put in its place.
FAULTS = {
    "numbers ten times too large": ("score", "heatmap_cells", NUMBER_IN_CELL,
                                    "word(brush, printed(10 * value, cells.digits)"),
    "numbers of the next column": ("score", "heatmap_cells", NUMBER_IN_CELL,
                                   "word(brush, printed(cells.value(i, (j + 1) % S), cells.digits)"),
    "numbers without their sign": ("project", "heatmap_cells", NUMBER_IN_CELL,
                                   "word(brush, printed(Math.abs(value), cells.digits)"),
    "row labels lost": ("score", "heatmap_overlay", "of steps(T, high, rows)", "of steps(0, high, rows)"),
    "row labels one behind": ("named", "heatmap_overlay", "rows[i] || String(i + 1)", "rows[i - 1] || 'x'"),
    "counted labels one behind": ("score", "heatmap_overlay", "rows[i] || String(i + 1)", "String(i)"),
    "column labels one behind": ("score", "heatmap_overlay", "columns[j] || String(j + 1)", "String(j)"),
    "column labels of rows": ("fill", "heatmap_overlay", "columns[j] || String(j + 1)", "rows[j] || '4'"),
    "a transposed map": ("score", "attention_steps", "values: now[name],",
                         "values: name === 'scores' ? now[name].map((r, i) => now[name].map((c) => c[i])) : now[name],"),
    "the map of another matrix": ("score", "attention_steps", "values: now[name],",
                                  "values: now[name === 'Q' ? 'K' : name],"),
    "framed one too low": ("score", "heatmap_overlay", "y: top + row * t - 1", "y: top + (row + 1) * t - 1"),
    "no frame": ("score", "heatmap_overlay", "put(frames.row, inside(row, T)", "put(frames.row, false"),
    "colours turned round": ("large", "ramp", "(Number.isFinite(share) ? share : 1) * STEPS", "(1 - share) * STEPS"),
    "colours of the row above": ("mix", "heatmap_cells", ": ramp.shade(value, cells.top);", ": ramp.shade(cells.value(Math.max(0, i - 1), j), cells.top);"),
    "one colour for both signs": ("project", "ramp", "value < 0 ? down : up", "up"),
    "hatching lost": ("causal", "heatmap_cells", "brush.fillStyle = hatch;\n        brush.fillRect(x, y, w, t);", ""),
    "hatching of open cells": ("fill", "fill_mask", "mask: filled, marks", "mask: filled.map((r) => r.map((x) => !x)), marks"),
    "hidden keys shown": ("softmax", "attention_steps", 'name === "weights" ||', "false &&"),
    "a ring one to the right": ("causal", "heatmap_cells", "boxes.push([left + j * cell + 2", "boxes.push([left + (j + 1) * cell + 2"),
    "rings lost": ("prefix", "heatmap_cells", "if (mark(i, j))", "if (false)"),
    "what a mask means to show is outlined": ("prefix", "mask_explorer", "x && !meant?.[i][j]", "x"),
    "the wrong cells transposed": ("fill", "fill_mask", "marks = wrong();", "marks = wrong().map((r, i) => r.map((_, j) => Boolean(wrong()[j]?.[i])));"),
    "one wrong cell too few": ("fill", "fill_mask", "const count = `✗ ${errors}", "const count = `✗ ${errors - 1}"),
    "steps one behind": ("score", "attention_steps", 'count(model, "step", 0, 4)]', 'count(model, "step", 0, 4) - 1]'),
    "the arithmetic of the next row": ("score", "attention_steps", "WRITTEN[now.step](now, row)", "WRITTEN[now.step](now, (row + 1) % T)"),
    "the sentence of the next row": ("score", "attention_steps", "SAID[now.step](now, row)", "SAID[now.step](now, (row + 1) % T)"),
    "scores that are not divided": ("scale", "twin", "x / root", "x"),
    "the softmax of columns": ("mix", "twin", "const weights = maskedSoftmax(scaled, mask)", "const weights = transpose(maskedSoftmax(transpose(scaled), mask))"),
    "the query of row 1": ("score", "attention_steps", "query: now.Q[now.row]", "query: now.Q[0]"),
    "a temperature that multiplies": ("plane", "score_functions", "x / s.temperature", "x * s.temperature"),
    "scaled dot left unscaled": ("plane", "score_functions", "scores.scaledDot(q, k)", "scores.dot(q, k)"),
    "bars of the next row": ("plane", "plots", "next.series.forEach(({ values, top, ghost }, c) => {", "next.series.forEach(({ values, top, ghost }, c) => { values = [...values.slice(1), values[0]];"),
    "lengths of the next row": ("additive", "plots", "scaleX(${share(values[i])})", "scaleX(${share(values[(i + 1) % values.length])})"),
    "bars half as long": ("plane", "plots", "Math.max(-1, value / most)", "Math.max(-1, 0.5 * value / most)"),
    "bars to the wrong side": ("plane", "plots", "scaleX(${share(", "scaleX(${-share("),
    "names of bars from 0": ("plane", "score_functions", "names: keys.map((_, i) => String(i + 1))", "names: keys.map((_, i) => String(i))"),
    "a mirrored query": ("plane", "plane", "translate(${qx} ${qy})", "translate(${SIZE - qx} ${qy})"),
    "upside down": ("plane", "plane", "place(flat ? 0 : -b)", "place(flat ? 0 : b)"),
    "keys from 0": ("plane", "plane", "String(marks.length + 1)", "String(marks.length)"),
    "lines of one width": ("plane", "plane", "8 * weights[i]", "8 / weights.length"),
    "lines to the next key": ("plane", "plane", "x2: kx, y2: ky", "x2: at(...keys[(i + 1) % keys.length])[0], y2: ky"),
    "a table one row behind": ("plane", "score_functions", "readings[i][what]", "readings[(i + 3) % 4][what]"),
    "another score marked": ("plane", "score_functions", "r.kind === kind", "r.kind !== kind"),
    "the sentence of the next key": ("plane", "score_functions", "Key ${weights.indexOf(largest) + 1} gets", "Key ${weights.indexOf(largest) + 2} gets"),
    "a bilinear score without its matrix": ("bilinear", "score_functions", "scores.dot(through(U, q)", "scores.dot(through(W, q)"),
    "weights that ignore the mask": ("causal", "mask_explorer", "draws[i * 24 + j]), mask), mask", "draws[i * 24 + j])), mask"),
    "a layer too few": ("causal", "mask_explorer", "reach: masks.reach(mask, s.layers)", "reach: masks.reach(mask, s.layers - 1)"),
    "another window in the code": ("named", "mask_explorer", "masks.sliding_window(${T}, window=${w})", "masks.sliding_window(${T}, window=${w + 1})"),
    "a count of all cells": ("causal", "mask_explorer", "const open = mask.flat().filter(Boolean).length", "const open = mask.flat().length"),
    "flips of the mirrored cell": ("causal", "mask_explorer", "mask[i][j] = !mask[i][j]", "mask[j][i] = !mask[j][i]"),
    "a tolerance that does not count": ("predict", "predict_number", "<= tolerance", "<= 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_takes_what_is_right(bench, name):
    make, hands = PICTURES[name]
    widget = make()
    with recorded(bench, widget) as page:
        if hands:
            hands(page)
        check(page, widget)
        assert page.record.errors == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(bench, fault):
    name, module, stands, instead = FAULTS[fault]
    make, hands = PICTURES[name]

    def spoil(source):
        assert re.subn(re.escape(stands), "", source)[1] >= 1, f"{module} has no {stands!r} now"
        return source.replace(stands, instead)

    widget = make()
    with recorded(bench, widget, patches=[(module, spoil)]) as page:
        assert page.record.errors == [], "a fault that throws proves nothing"
        if hands:
            hands(page)
        with wrong():
            check(page, widget)
