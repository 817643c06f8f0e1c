"""What PositionWaves has to show for its traits, by torch and `pieces`, never by the page."""

import math
import re

import torch
from charted import CHARTS, fixed, same_chart, same_words, written
from oracle import ask, maps, right, same_map, says
from told import tables

from pieces.positions import Sinusoidal

CLOCKS = """(root) => [...root.querySelectorAll(".p-clock")].filter((one) => one.checkVisibility()).map((clock) => ({
  label: clock.getAttribute("aria-label"), pressed: clock.getAttribute("aria-pressed") === "true",
  name: clock.querySelector("span").textContent, turn: clock.querySelector("b").textContent,
  hands: [".p-hand:not(.p-hand-later)", ".p-hand-later"].map((one) => ["x2", "y2"].map((end) =>
    Number(clock.querySelector(one).getAttribute(end)))),
  way: clock.querySelector(".p-way").getAttribute("d").match(/-?[\\d.]+/g).map(Number) }))"""


def position_waves(root, s):
    """The codes, and under the open tab the waves, the likeness or the clocks; the sentence."""
    d, base, length, p, k = s["d"], s["base"], s["length"], s["position"], s["k"]
    positions, i, pairs = torch.arange(length), s["column"] // 2, d // 2
    codes = Sinusoidal(d, base=base)(positions, torch.float64)
    later = Sinusoidal(d, base=base)(torch.tensor([p, p + k]), torch.float64)[:, 2 * i : 2 * i + 2]
    waves = [2 * math.pi * base ** (2 * n / d) for n in range(pairs)]
    alike = codes @ codes.T / pairs
    first, *others = maps(root)
    names = [str(n) for n in range(length)]
    same_map(first, codes.T.tolist(), rows=[str(n) for n in range(d)], columns=names, tip=False,
             frame=s["column"], column=p)  # fmt: skip
    charts = ask(root, CHARTS)
    clocks = ask(root, CLOCKS)
    shown = (len(charts), len(others), len(clocks))
    wanted = {"wave": (2, 0, 0), "similarity": (1, 1, 0), "shift": (0, 0, pairs)}[s["view"]]
    right(shown == wanted, f"{shown} charts, maps and clocks are shown, not {wanted}")
    if s["view"] == "wave":
        lines = [(f"column {c}", codes[:, c], c != s["column"]) for c in (2 * i, 2 * i + 1)]
        turn = [(waves[i], f"one turn: {fixed(waves[i], 1)}")] if waves[i] < length - 1 else []
        same_chart(
            charts[0], range(length), lines, axes=("position", "number"), cursor=p, marks=turn
        )
        same_chart(charts[1], range(pairs), [("Wavelength of each pair", waves, False)], log=True,
                   axes=("pair n", "positions"), cursor=i, levels=[(length, "this text")],
                   digits=1) if pairs > 1 else None  # fmt: skip
    elif s["view"] == "similarity":
        same_map(others[0], alike.tolist(), rows=names, columns=names, frame=p, column=p + k)
        same_chart(charts[0], range(length), [(f"Position {p} with every other", alike[p], False)],
                   axes=("position", "likeness"), cursor=p + k,
                   marks=[(p + k, f"p + k = {p + k}")])  # fmt: skip
    else:
        same_clocks(clocks, d, base, p, k, i)
        same_turns(root, d, base, p, k)
    said = root.locator(".p-say").text_content()
    kind = "cosine" if s["column"] % 2 else "sine"
    sentence = {
        "wave": f"Column {s['column']} is the {kind} of pair n = {i}, which turns once in "
        f"{written(waves[i], 1)} positions: {written(length / waves[i], 2)} turns in this text.",
        "similarity": f"Positions {p} and {p + k}: their dot product is {written(alike[p, p + k], 2)} of "
        f"a code’s dot product with itself. Any two positions {k} apart have the same one.",
        "shift": f"A step of {k} turns pair {i} by {written(360 * k / waves[i], 1)}°: from "
        f"({written(later[0, 0])}, {written(later[0, 1])}) at {p} to ({written(later[1, 0])}, "
        f"{written(later[1, 1])}) at {p + k}. Move p, and the angle stays the same.",
    }[s["view"]]
    right(same_words(said, sentence), f"{said!r}, not {sentence!r}")
    right(abs(s["wavelength"] / waves[i] - 1) < 1e-9, f"Python reads {s['wavelength']}")
    right(abs(s["similarity"] - float(alike[p, p + k])) < 1e-9, f"Python reads {s['similarity']}")


def same_turns(root, d, base, p, k):
    """The table of the clocks: each pair's angles at p, at p + k, and between, in degrees."""
    for _, (head, *listed) in [one for one in tables(root) if one[0].startswith("Each pair as a")]:
        right(head == ["n", "p", "p + k", "k"], head)
        right(len(listed) == d // 2, f"{len(listed)} pairs")
        for i, (name, *angles) in enumerate(listed):
            wanted = [math.degrees(n * base ** (-2 * i / d)) for n in (p, p + k, k)]
            good = [says(a.removesuffix("°"), w, 1) for a, w in zip(angles, wanted, strict=True)]
            right(name == str(i) and all(good), f"pair {name}: {angles}, not {wanted}")


def same_clocks(clocks, d, base, p, k, chosen):
    """Each pair's hands: sine to the right, cosine upwards, at p and at p + k; the way between."""
    codes = Sinusoidal(d, base=base)(torch.tensor([p, p + k]), torch.float64)
    for i, clock in enumerate(clocks):
        right(clock["name"] == f"n = {i}", f"clock {i} is called {clock['name']}")
        right(clock["pressed"] == (i == chosen), f"clock {i} is pressed: {clock['pressed']}")
        for hand, code in zip(clock["hands"], codes, strict=True):
            x, y = 18 * code[2 * i], -18 * code[2 * i + 1]
            close = abs(hand[0] - x) < 2e-3 and abs(hand[1] - y) < 2e-3
            right(close, f"a hand of clock {i} points to {hand}, not {(float(x), float(y))}")
        angle = math.degrees(k * base ** (-2 * i / d))
        label = re.search(r"a turn of (\S+) degrees", clock["label"])[1]
        right(says(label, angle, 1), f"clock {i} tells {label} degrees, not {angle}")
        turn = clock["turn"].removesuffix("°")
        small = turn == "< 0.01" and 0 < angle < 0.01
        right(small or says(turn, angle, 2 if angle < 1 else 1 if angle < 9.95 else 0), turn)
        *start, _, _, _, large, sweep, x, y = clock["way"]
        end = min(k * base ** (-2 * i / d), 1.999 * math.pi) + p * base ** (-2 * i / d)
        at = (
            13 * codes[0, 2 * i],
            -13 * codes[0, 2 * i + 1],
            13 * math.sin(end),
            -13 * math.cos(end),
        )
        off = max(abs(a - float(b)) for a, b in zip((*start, x, y), at, strict=True))
        right(off < 2e-3 and sweep == 1, f"the way of clock {i}: {clock['way']}, not {at}")
        right(bool(large) == (angle > 180), f"the way of clock {i} goes round the other side")
