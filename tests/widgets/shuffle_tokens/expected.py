"""What ShuffleTokens has to show for its traits, by torch and `pieces`, never by the page."""

from itertools import pairwise

import torch
from by_torch import matrices
from charted import fixed
from oracle import apart, ask, right, says
from told import tables

CELLS = """(root) => [...root.querySelectorAll(".p-shuffled li, .p-mean")].map((row) => ({
  told: row.getAttribute("aria-label"), paper: getComputedStyle(row).getPropertyValue("--p-paper").trim(),
  cells: [...row.querySelectorAll(".p-cell")].map((c) => [c.style.backgroundColor, c.title]) }))"""


def shuffle_tokens(root, s):
    """Each word with its input and its output, the mean of the outputs, and what has changed."""
    m = matrices(s | {"mask": s["mask"]})
    order = [n - 1 for n in s["order"]]
    right(sorted(order) == list(range(6)), order)
    right((order == list(range(6))) == (s["shuffle"] == 0), f"{order} for shuffle {s['shuffle']}")
    moved = matrices(s | {"X": [s["X"][n] for n in order]})["output"]
    rows = root.locator(".p-shuffled li").evaluate_all(
        "(all) => all.map((li) => [li.querySelector('b').textContent,"
        " [...li.querySelectorAll('.p-cell')].map((c) => [c.textContent, c.classList.contains('p-changed')])])"
    )
    right([name for name, _ in rows] == [s["tokens"][n] for n in order], "other words")
    changed = []
    for (name, cells), n, out in zip(rows, order, moved, strict=True):
        for (text, mark), value in zip(cells[:3], s["X"][n], strict=True):
            right(says(text, value, 2) and not mark, f"{name}: input {text}, not {value}")
        for (text, mark), value, was in zip(cells[3:], out, m["output"][n], strict=True):
            right(says(text, float(value), 2), f"{name}: output {text}, not {float(value)}")
            right(mark == (abs(float(value - was)) > 1e-6), f"{name}: {text} is marked: {mark}")
        changed += [name] * any(mark for _, mark in cells[3:])
    mean = root.locator(".p-mean .p-cell").all_inner_texts()
    right(all(says(t, float(v), 2) for t, v in zip(mean, moved.mean(0), strict=True)), mean)
    said = root.locator(".p-say").inner_text()
    if changed:
        n = "One word has" if len(changed) == 1 else f"{len(changed)} words have"
        right(said.startswith(f"{n} a different output now: {', '.join(changed)}. "), said)
    else:
        right("a different output now" not in said, said)
    same_cells(root, s, m, order, moved, [name for name, _ in rows])
    given = torch.tensor(s["output"], dtype=torch.float64)
    right(torch.allclose(given, moved, rtol=1e-9, atol=1e-9), "Python reads another output")


def same_cells(root, s, m, order, moved, names):
    """Colours, what a changed cell was, what a row says, and the table view."""
    seen = ask(root, CELLS)
    X = torch.tensor(s["X"], dtype=torch.float64)[order]
    was = m["output"][order]
    shades = {}
    keep = lambda side, v, colour: shades.setdefault((side, v < 0), []).append(  # noqa: E731
        (abs(float(v)), apart(colour, seen[0]["paper"]))
    )
    rows = [*zip(X, moved, was, strict=True), (None, moved.mean(0), was.mean(0))]
    for row, (x, out, old) in zip(seen, rows, strict=True):
        cells = row["cells"]
        if x is not None:
            for v, (colour, _) in zip(x, cells[:3], strict=True):
                keep("x", float(v), colour)
        for (colour, title), v, before in zip(cells[-3:], out, old, strict=True):
            keep("o", float(v), colour)
            other = abs(float(v - before)) > 1e-6
            right(
                title == (f"was {fixed(before, 2)}" if other else ""), f"{title}: {float(before)}"
            )
    for name, pairs in shades.items():
        pairs.sort()
        right(all(b >= a - 3 for (_, a), (_, b) in pairwise(pairs)), f"colours of {name}: {pairs}")
    for row, name, x, out in zip(seen, names, X, moved, strict=False):
        two = [" ".join(fixed(v, 2) for v in list_) for list_ in (x, out)]
        right(row["told"] == f"{name}: input {two[0]}, output {two[1]}", row["told"])
    for _, (head, *listed) in tables(root):
        right(head == ["token", "input x", "output o"], head)
        for row, name, x, out in zip(listed, names, X, moved, strict=True):
            two = [", ".join(fixed(v, 4) for v in list_) for list_ in (x, out)]
            right(row == [name, *two], f"{row}, not {[name, *two]}")
