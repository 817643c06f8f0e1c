"""What NormAxes has to show for its traits: torch and `pieces.norms` compute, formulas are run."""

import math
import re

import torch
from oracle import ask, maps, number, right, same_map, says
from told import same_listed

from pieces.norms import BatchNorm, LayerNorm, RMSNorm

SHOWN = """(root) => {
  const look = (node) => getComputedStyle(node);
  const numbers = (node, name) => (node.getAttribute(name) ?? "").match(/-?[\\d.]+/g).map(Number);
  const text = (node) => [...node.childNodes].map((one) => one.nodeType === 3 ? one.textContent
    : one.tagName === "SUP" ? `**${one.textContent}` : text(one)).join("");
  const probe = root.appendChild(document.createElement("i"));
  const colour = (name) => { probe.style.color = `var(--p-${name})`; return look(probe).color; };
  const colours = Object.fromEntries(["accent", "leak", "ink"].map((name) => [name, colour(name)]));
  probe.remove();
  return { colours,
    cubes: [...root.querySelectorAll(".p-little")].map((g) => { const front = g.querySelector(".p-front");
      return { at: numbers(g, "transform"), fill: look(front).fill, stroke: look(front).stroke }; }),
    told: root.querySelector(".p-cube").getAttribute("aria-label"),
    lines: [...root.querySelectorAll(".p-dot-line")].map((g) => ({ name: g.querySelector("text").textContent,
      dots: [...g.querySelectorAll(".p-dot")].map((c) =>
        [numbers(c, "cx")[0], numbers(c, "cy")[0], look(c).stroke]),
      middle: numbers(g.querySelector(".p-middle"), "d")[0],
      spread: [numbers(g.querySelector(".p-spread"), "x")[0], numbers(g.querySelector(".p-spread"), "width")[0]] })),
    ghosts: [...root.querySelectorAll(".p-was")].map((c) => numbers(c, "cx")[0]),
    ticks: [...root.querySelectorAll(".p-tick")].map((t) => [numbers(t, "x")[0], t.textContent]),
    ways: [...root.querySelectorAll(".p-way")].map((l) => [numbers(l, "x1")[0], numbers(l, "x2")[0]]),
    work: [...root.querySelectorAll(".p-work li")].filter((li) => !li.hidden).map(text),
    hand: root.querySelector(".p-framed-title").textContent,
    typed: root.querySelector(".p-framed input[type=text]").value,
    slid: Number(root.querySelector(".p-framed input[type=range]").value) };
}"""


def settings(s):
    """Return X, what stood before, γ and β as tensors, and the sizes of a text."""
    X, before = (torch.tensor(s[name], dtype=torch.float64) for name in ("X", "before"))
    D = X.shape[1]
    gain = torch.tensor(s["gain"] or [1.0] * D, dtype=torch.float64)
    shift = torch.tensor(s["shift"] or [0.0] * D, dtype=torch.float64)
    return X, before if before.shape == X.shape else None, gain, shift


def normed(s, X, gain, shift):
    """Return the table after the norm, by the layers of the package."""
    if s["kind"] == "text":
        texts = X.view(s["texts"], -1)
        wide = LayerNorm(texts.shape[1], eps=s["eps"]).double()
        return (wide(texts).view_as(X) * gain + shift).detach()
    layer = {"batch": BatchNorm, "layer": LayerNorm, "rms": RMSNorm}[s["kind"]]
    norm = layer(X.shape[1], eps=s["eps"]).double()
    with torch.no_grad():
        norm.weight.copy_(gain)
        if s["kind"] != "rms":
            norm.bias.copy_(shift)
        # One token has no variance for BatchNorm: there each number is its own mean.
        return norm(X) if len(X) > 1 or s["kind"] != "batch" else shift.expand_as(X)


def group(s, X):
    """Return which cells are averaged with the chosen one, as a mask [T, D]."""
    inside = torch.zeros(X.shape, dtype=torch.bool)
    i, j, long = s["row"] - 1, s["column"] - 1, len(X) // s["texts"]
    first = i // long * long
    rows = {"batch": slice(None), "text": slice(first, first + long)}.get(s["kind"], i)
    inside[rows, j if s["kind"] == "batch" else slice(None)] = True
    return inside


def norm_axes(root, s):
    """Both tables, the cubes, the dots, the arithmetic, the sentence, and what Python reads."""
    X, before, gain, shift = settings(s)
    Y = normed(s, X, gain, shift)
    was = None if before is None else normed(s, before, gain, shift)
    moved = torch.zeros(X.shape, dtype=torch.bool) if was is None else (was - Y).abs() > 1e-3
    inside, at = group(s, X), (s["row"] - 1, s["column"] - 1)
    seen = ask(root, SHOWN)
    words = s["words"] if len(s["words"]) == len(X) else []
    tables(root, s, X, Y, moved, inside, at, words, before, was)
    cubes(seen, s, inside, moved, at)
    dots(root, seen, s, X[inside], Y[inside], None if was is None else was[inside], inside, at)
    arithmetic(seen, s, X, Y, inside, at, gain, shift)
    name = f"“{words[at[0]]}”" if words else f"token {at[0] + 1}"
    right(seen["hand"] == f"Change the framed number: {name}, feature {at[1] + 1}", seen["hand"])
    right(abs(float(seen["typed"]) - float(X[at])) < 1e-4, f"the field says {seen['typed']}")
    right(abs(seen["slid"] - float(X[at])) < 1e-4, f"the slider says {seen['slid']}")
    sentence(root, s, X, moved, before, at, name, words)
    given = torch.tensor(s["result"], dtype=torch.float64)
    right(torch.allclose(given, Y, atol=1e-5), "Python reads another result")
    _, spread = statistics(s, X[inside])
    right(abs(s["mean"] - float(X[inside].mean())) < 1e-9, f"mean {s['mean']}")
    right(abs(s["spread"] - spread) < 1e-9, f"spread {s['spread']}, not {spread}")
    right(s["moved"] == moved.nonzero().tolist(), "Python reads other moved cells")


def statistics(s, numbers):
    """Return the middle and the spread that a norm works with: RMSNorm's is the root mean square."""
    if s["kind"] == "rms":
        return 0.0, float(numbers.square().mean().sqrt())
    return float(numbers.mean()), float(numbers.var(correction=0).sqrt())


def tables(root, s, X, Y, moved, inside, at, words, before, past):
    """The numbers, framed where they are averaged; the result, ringed where it has moved."""
    first, second = maps(root)
    right((first.caption, second.caption) == ("The numbers", "After the norm"), first.caption)
    rows = inside.any(1).nonzero().flatten().tolist()
    frame = {"column": at[1]} if s["kind"] == "batch" else {"frame": (rows[0], rows[-1])}
    was = [None, None] if before is None else [before.tolist(), past.tolist()]
    same_map(first, X.tolist(), digits=1, rows=words, marks=[at], ghost=was[0], **frame)
    narrow = ask(root, "(one) => one.querySelector('.p-panes').clientWidth < 608")
    marks = [*map(tuple, moved.nonzero().tolist())]
    marks += [] if moved[at] else [at]  # a ring tells more than a frame
    same_map(second, Y.tolist(), rows=[] if narrow else words, marks=marks, ghost=was[1])
    right(abs(first.cell - second.cell) < 1, "rows of the two tables are of different height")


def cubes(seen, s, inside, moved, at):
    """A cube stands where its text, token and feature put it; the averaged ones are filled."""
    T, D = inside.shape
    texts, colours = s["texts"], seen["colours"]
    right(len(seen["cubes"]) == T * D, f"{len(seen['cubes'])} cubes")
    left = min(one["at"][0] for one in seen["cubes"])
    low = max(one["at"][1] for one in seen["cubes"])
    found = {}
    for one in seen["cubes"]:
        across, up = (one["at"][0] - left) / 17, (low - one["at"][1]) / 17
        right(abs(across - round(across)) < 0.01 > abs(up - round(up)), f"a cube at {one['at']}")
        b = round(across) % 2  # the text behind stands in the gaps, half a step to the right and up
        i = b * (T // texts) + (T // texts - 1) - (round(up) - b) // 2
        found[i, (round(across) - b) // 2] = one
    right(set(found) == {(i, j) for i in range(T) for j in range(D)}, "cubes stand elsewhere")
    for cell, one in found.items():
        right((one["fill"] == colours["accent"]) == bool(inside[cell]), f"cube {cell} is filled")
        stroke = "ink" if cell == at else "leak" if moved[cell] else None
        named = next((n for n in ("ink", "leak") if one["stroke"] == colours[n]), None)
        right(named == stroke, f"cube {cell} has the edge {named}, not {stroke}")
    right(seen["told"].startswith(f"{int(inside.sum())} little cubes"), seen["told"])


def dots(root, seen, s, X, Y, was, inside, at):
    """Each dot stands at its number by the scale; the bars at mean and spread."""
    (x0, low), (x1, high) = (
        (x, number(t.replace(",", ""))) for x, t in (seen["ticks"][0], seen["ticks"][-1])
    )
    place = lambda v: x0 + (float(v) - low) / (high - low) * (x1 - x0)  # noqa: E731
    for x, name in seen["ticks"]:
        right(abs(x - place(number(name))) < 0.1, f"the tick {name} stands at {x}")
    listed = [str(n + 1) for n in range(len(X))]
    same_listed(root, listed, [X.tolist(), Y.tolist()], head=["number", "before", "after"])
    chosen = inside[: at[0]].sum() + inside[at[0], : at[1]].sum()
    first = "before: 0 and RMS" if s["kind"] == "rms" else "before: mean and spread"
    right([one["name"] for one in seen["lines"]] == [first, "after"], "lines")
    for one, values in zip(seen["lines"], (X, Y), strict=True):
        right(len(one["dots"]) == len(values), f"{len(one['dots'])} dots")
        for n, ((x, _, stroke), value) in enumerate(zip(one["dots"], values, strict=True)):
            right(abs(x - place(value)) < 0.1, f"dot {n} at {x}, not {place(value)}")
            right((stroke == seen["colours"]["ink"]) == (n == chosen), f"dot {n} is marked")
        middle, spread = statistics(s, values)
        right(abs(one["middle"] - place(middle)) < 0.1, f"the mean stands at {one['middle']}")
        ends = place(middle - spread), place(middle + spread)
        begin, wide = one["spread"]
        right(abs(begin - ends[0]) < 0.1, f"the spread begins at {begin}")
        right(abs(begin + max(wide, 0) - ends[1]) < 0.6, f"the spread is {wide} wide")
    for (start, end), x, y in zip(seen["ways"], X, Y, strict=True):
        off = max(abs(start - place(x)), abs(end - place(y)))
        right(off < 0.1, f"a line leads from {start} to {end}")
    ghosts = (
        [] if was is None else [place(v) for v, y in zip(was, Y, strict=True) if abs(v - y) > 1e-3]
    )
    near = len(ghosts) == len(seen["ghosts"]) and all(
        abs(a - b) < 0.1 for a, b in zip(ghosts, seen["ghosts"], strict=True)
    )
    right(near, f"ghosts at {seen['ghosts']}, not {ghosts}")


def arithmetic(seen, s, X, Y, inside, at, gain, shift):
    """What is written is true when it is computed, and it is the arithmetic of this number."""
    names = ["mean square", "result"] if s["kind"] == "rms" else ["mean μ", "variance σ²", "result"]
    right([line.split(" = ")[0] for line in seen["work"]] == names, seen["work"])
    numbers = X[inside]
    values = {"mean μ": numbers.mean(), "variance σ²": numbers.var(correction=0),
              "mean square": numbers.square().mean(), "result": Y[at]}  # fmt: skip
    for line in seen["work"]:
        name, told, value = line.split(" = ")
        right(
            abs(number(value) - float(values[name])) < 2e-4 * (1 + abs(float(values[name]))), line
        )
        plain = re.sub("10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda power: str(number(f"1·{power[0]}")), told)
        plain = plain.replace("−", "-").replace("·", "*").replace("√", "math.sqrt")
        if "…" not in plain:
            got = eval(plain, {"math": math})
            right(abs(got - float(values[name])) < 2e-3 * (1 + abs(got)), f"{line}: that is {got}")
        if name == "result":
            first = number(re.match(r"\(?(−?[\d.]+)", told)[1])
            right(abs(first - float(gain[at[1]])) < 1e-4, f"{line}: another gain")
            last = re.search(r"\) \+ \(?(−?[\d.]+)\)?$", told)
            right(bool(last) == (s["kind"] != "rms"), line)
            right(not last or abs(number(last[1]) - float(shift[at[1]])) < 1e-4, f"{line}: shift")
        else:
            terms = [number(t) for t in re.findall(r"−?\d[\d.]*", told)]
            count = int(re.search(r"/ (\d+)$", told)[1])
            right(count == len(numbers), f"{line}: {count} numbers")
            right(abs(terms[0] - float(numbers[0])) < 1e-4, f"{line}: begins with {terms[0]}")


def sentence(root, s, X, moved, before, at, name, words):
    """Whom the norm averages, how many numbers the last change moved, and where they stand."""
    said = root.locator(".p-say").inner_text()
    T, D = X.shape
    who = {"batch": f"BatchNorm averages feature {at[1] + 1} over all {T} tokens",
           "layer": f"LayerNorm averages the {D} features of {name}",
           "rms": f"RMSNorm averages the squares of the {D} features of {name}",
           "text": f"Here all {T * D // s['texts']} numbers of a text"}[s["kind"]]  # fmt: skip
    right(said.startswith(who), said)
    right(("padding" in said) == (s["kind"] == "batch" and "pad" in words), said)
    count = int(moved.sum())
    right(("moves nothing" in said) == (before is not None and not count), said)
    told = re.search(r"moves (\d+) of (\d+) numbers, (.*)\.$", said)
    right(bool(told) == bool(count), said)
    if told:
        rows = moved.any(1).nonzero().flatten().tolist()
        columns = moved.any(0).nonzero().flatten().tolist()
        row = f"“{words[rows[0]]}”" if words else f"token {rows[0] + 1}"
        every = "all " * (count > 1)
        where = (f"{every}in the row of {row}" if len(rows) == 1
                 else f"{every}in column {columns[0] + 1}" if len(columns) == 1 else f"in {len(rows)} rows")  # fmt: skip
        right((int(told[1]), int(told[2]), told[3]) == (count, T * D, where), said)
    right(says(str(count), count, 0), said)
