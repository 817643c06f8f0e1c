"""What AttentionSteps has to show for its traits, by torch and `pieces`, never by the page."""

import math
import re

import torch
from by_torch import matrices
from oracle import apart, ask, maps, number, right, same_map, says

from pieces import masks

LOW = "₁₂₃₄₅₆"
# Of each step: left, above or none, and what they make.
STEPS = ("X Wq Q", "X Wk K", "X Wv V", "Q Kt scores", "scores - scaled", "scaled - weights",
         "weights V output")  # fmt: skip
CAPTIONS = {"weights Wq": "Wq", "weights Wk": "Wk", "weights Wv": "Wv", "keys Kᵀ": "Kt",
            "scores Q Kᵀ": "scores", "scaled scores": "scaled", "weights A": "weights",
            "output O": "output", "input X": "X", "queries Q": "Q", "keys K": "K",
            "values V": "V"}  # fmt: skip
SCREEN = """(root) => [...root.querySelectorAll(".p-pane:not([hidden]), .p-operator")]
  .filter((node) => node.offsetParent).map((node) => { const b = node.getBoundingClientRect();
    return [node.querySelector("figcaption")?.textContent ?? node.textContent, b.left, b.top]; })"""


def attention_steps(root, s):
    """The matrices of the step, the row and the cell that are followed, and their arithmetic."""
    m = matrices(s)
    row, step, j = s["row"] - 1, s["step"], s["column"] - 1
    causal = s["mask"] == "causal"
    hidden = ~masks.causal(6) if causal else torch.zeros(6, 6, dtype=torch.bool)
    left, above, made = STEPS[step].split()
    drawn = {CAPTIONS[one.caption]: one for one in maps(root)}
    right(set(drawn) == {left, above, made} - {"-"}, list(drawn))
    tokens = s["tokens"] or list("123456")
    for name, one in drawn.items():
        masked = name == "weights" or (name == "scaled" and step == 5)
        lit = {"column": j} if name == above else {"frame": row}
        if j < 0:
            lit.pop("column", None)
        elif name == made or above == "-":
            lit["marks"] = [(row, j)]
        same_map(one, m[name].tolist(), mask=(~hidden).tolist() if masked else None, **lit,
                 rows=() if name[0] == "W" or name == "Kt" else tokens,
                 columns=tokens if name == "Kt" else ())  # fmt: skip
    in_order(root, step, [n for n in (left, above, made) if n != "-"])
    same_kept(root, step, left, above)
    written(root, step, row, m, hidden)
    same_tiles(root, s, m, drawn)
    lines = root.locator(".p-work li:visible").evaluate_all(
        "(all) => all.map((li) => li.classList.contains('p-on'))"
    )
    right([n for n, on in enumerate(lines) if on] == [j] * (j >= 0), f"line {lines} is lit")
    said_of(root, step, row, m, s["tokens"], hidden)
    for trait, value in (
        ("query", m["Q"][row]),
        ("weights", m["weights"]),
        ("output", m["output"]),
    ):
        given = torch.tensor(s[trait], dtype=torch.float64)
        right(torch.allclose(given, value, rtol=1e-9, atol=1e-9), f"Python reads another {trait}")


def in_order(root, step, names):
    """A × B = C from left to right; on a narrow page B stands above C, so that they share columns."""
    on = {CAPTIONS.get(text, text): (x, y) for text, x, y in ask(root, SCREEN)}
    signs = {4: ["÷ √3 ="], 5: ["softmax →"]}.get(step, ["×", "="])
    right(set(on) == {*names, *signs}, on)
    first, *_, made = names
    if len(names) == 2:
        beside = on[first][0] < on[signs[0]][0] < on[made][0]
        below = on[first][1] < on[signs[0]][1] < on[made][1]
        return right(beside or below, on)
    above = names[1]
    beside = on[first][0] < on["×"][0] < on[above][0] < on["="][0] < on[made][0]
    crossed = on[above][1] < on[made][1] and on[first][0] < on["="][0] < on[made][0]
    return right(beside or crossed, on)


def same_kept(root, step, left, above):
    """What earlier steps made waits below, and is dotted while it is in use."""
    kept = root.locator(".p-kept:visible").evaluate_all(
        "(all) => all.map((one) => [one.textContent, one.classList.contains('p-used')])"
    )
    used = {left, above.removesuffix("t")}
    right(kept == [[name, name in used] for name in "QKV"[: min(step, 3)]], kept)


def same_tiles(root, s, m, drawn):
    """A tile has the colour of the cell whose number it repeats."""
    row, step = s["row"] - 1, s["step"]
    left, above, made = STEPS[step].split()
    lines = root.locator(".p-work li:visible").evaluate_all(
        "(all) => all.map((li) => [...li.querySelectorAll('.p-tile')]"
        ".map((tile) => tile.style.backgroundColor))"
    )
    for j, tiles in enumerate(lines[: m[made].shape[1]]):
        cells = [(made, row, j)]
        if above == "-":
            cells += [(left, row, j)]
        else:
            for n in range(m[left].shape[1]):
                cells += [(left, row, n), (above, n, j)]
        if made == "weights" and (row, j) in drawn[made].hatched:
            continue
        right(len(tiles) == len(cells), f"line {j}: {len(tiles)} tiles")
        for tile, (name, i, c) in zip(tiles, cells, strict=True):
            if (i, c) not in drawn[name].hatched:
                near = apart(tile, drawn[name].colours[i, c]) < 2
                right(near, f"line {j}: the tile of {name} [{i}, {c}] has another colour")


def said_of(root, step, row, m, tokens, hidden):
    """The sentence speaks of the row that is followed, and of the key that has most."""
    said = root.locator(".p-say").inner_text()
    right(int(re.search(r"(?:Token|Query|Row|Output) (\d)", said)[1]) == row + 1, said)
    named = f" (“{tokens[row]}”)" if tokens else ""
    right(step > 2 or said.startswith(f"Token {row + 1}{named} "), said)
    best = {3: m["scores"], 5: m["weights"], 6: m["weights"]}.get(step)
    if step == 4:
        equal = bool((m["scores"][row] == m["scores"][row, 0]).all())
        right(("are equal, and stay so." in said) == equal, said)
        right(("The order stays; the spread shrinks." in said) != equal, said)
    if best is None:
        return
    hides = bool(hidden[row].any())
    positive = bool((m["weights"][row] > 0).all())
    right(step != 5 or (" is positive now and sums to 1." in said) == positive, said)
    right(step != 5 or ("Later keys were hidden" in said) == hides, said)
    key, word = re.search(r"(?:Key (\d)|Row \d of V)(?: \(“(.*?)”\))?", said).groups()
    told = int(key or re.search(r"Row (\d) of V", said)[1])
    right(best[row][told - 1] >= best[row].max() - 1e-9, said)
    right(not tokens or word == tokens[told - 1], said)
    if step == 3:
        right(says(said.split(" ")[-1].removesuffix("."), float(best[row].max()), 4), said)
    if step == 5:
        share = re.search(r"share, ([\d.]+) %", said)[1]
        right(says(share, 100 * float(best[row].max()), 1), said)


def written(root, step, row, m, hidden):
    """Every line of the arithmetic: its result is torch's, and its terms make the result."""
    lines = root.locator(".p-work li:visible").evaluate_all(
        "(all) => all.map((li) => [...li.children].map((part) => part.textContent.trim()))"
    )
    if step == 5:
        total = lines.pop()
        right(total[1] == "is the sum of exp over the row", total)
    left, above, name = STEPS[step].split()
    right(len(lines) == m[name].shape[1], f"{len(lines)} lines of arithmetic")
    for j, line in enumerate(lines):
        if step == 5 and hidden[row, j]:
            right(line[:2] == ["0.0000", f": key {j + 1} is hidden"], line)
            continue
        terms = list(zip(m[left][row], m[above][:, j], strict=True)) if above != "-" else None
        adds_up(line, m[name][row, j], terms)
        if step == 3:
            right(f"q{LOW[row]}·k{LOW[j]}" in line[1], line)


def adds_up(line, value, terms=None):
    """A line "result = how = how": the result is the value, and each way leads to it."""
    result, how = line[0], line[1]
    right(says(result, float(value), 4), f"{result}, not {float(value)}")
    size = 1.0
    for way in how.split("=")[1:]:
        if re.search(r"[qk][₁-₆]", way):
            continue
        text = way.replace("−", "-").replace("·", "*").replace("√3", "sqrt(3)").replace("∞", "inf")
        right(re.fullmatch(r"[\d.e+*/() \-]*(?:(?:exp|sqrt)[\d.e+*/() \-]*)*", text), way)
        got = eval(text, {"__builtins__": {}, "exp": math.exp, "sqrt": math.sqrt})
        numbers = [abs(float(x)) for x in re.findall(r"\d+\.?\d*", text)]
        size = max([1.0, *numbers])
        right(abs(got - float(value)) <= 2e-3 * size, f"{way} makes {got}, not {float(value)}")
        if terms:
            pairs = re.findall(r"\(?(-?[\d.]+)\)?\*\(?(-?[\d.]+)\)?", text)
            right(len(pairs) == len(terms), f"{way}: {len(pairs)} terms")
            for pair, want in zip(pairs, terms, strict=True):
                near = all(
                    abs(number(a) - float(b)) < 1e-3 for a, b in zip(pair, want, strict=True)
                )
                right(near, f"{way}: {pair} instead of {tuple(map(float, want))}")
