"""What PositionWaves and BiasMaps have to show for their traits, by `pieces.positions`."""

import math
import re

import torch
from oracle import maps, number, right, same_bars, same_map, says

from pieces.positions import ALiBi, Sinusoidal, alibi_slopes, t5_bucket

CHARTS = """(root) => [...root.querySelectorAll(".p-pane-chart")].filter((one) => one.checkVisibility()).map((pane) => {
  const all = (selector) => [...pane.querySelectorAll(selector)];
  const [text, of] = [(node) => node.textContent, (name) => (node) => Number(node.getAttribute(name))];
  const ticks = (axis) => all(`[data-tick=${axis}]`).map((node) =>
    [Number(node.dataset.value), text(node), of(axis)(node) - (axis === "y" ? 4 : 0)]);
  const cursor = pane.querySelector(".p-at");
  return { caption: text(pane.querySelector("figcaption")), x: ticks("x"), y: ticks("y"), axes: all(".p-axis").map(text),
    curves: all(".p-curve-line").map((g) => ({ name: g.dataset.name, dashed: g.querySelector("path").hasAttribute("stroke-dasharray"),
      d: g.querySelector("path").getAttribute("d") })),
    cursor: cursor.hasAttribute("hidden") ? null : of("x1")(cursor), key: all(".p-chart-key li").map(text),
    marks: all(".p-mark").map((line) => [of("x1")(line), of("x2")(line), of("y1")(line)]), names: all(".p-mark-name").map(text) };
})"""
CLOCKS = """(root) => [...root.querySelectorAll(".p-clock")].filter((one) => one.checkVisibility()).map((clock) => ({
  label: clock.getAttribute("aria-label"), pressed: clock.getAttribute("aria-pressed") === "true",
  name: clock.querySelector("span").textContent, turn: clock.querySelector("b").textContent,
  hands: [".p-hand:not(.p-hand-later)", ".p-hand-later"].map((one) => ["x2", "y2"].map((end) =>
    Number(clock.querySelector(one).getAttribute(end)))),
  way: clock.querySelector(".p-way").getAttribute("d").match(/-?[\\d.]+/g).map(Number) }))"""


def place(ticks, log, start=()):
    """Return where a value stands on an axis, by its outer ticks; by its start, where one is alone."""
    for value, name, _ in ticks:
        right(abs(number(name.replace(",", "")) - value) < 1e-6, f"the tick {name} is at {value}")
    (low, _, a), (high, _, b) = (*start, *ticks)[0 if len(ticks) == 1 else len(start)], ticks[-1]
    of = math.log10 if log else float
    return lambda value: a + (of(value) - of(low)) * (b - a) / (of(high) - of(low))


def same_chart(drawn, x, series, *, axes, cursor, marks=(), levels=(), log=False, digits=3):
    """Compare a chart: ticks, every point of its curves [(name, y, dashed)], cursor, marks, key."""
    name, px, py = (
        drawn["caption"],
        place(drawn["x"], False, [(x[0], "", 50.0)]),
        place(drawn["y"], log),
    )
    right(drawn["axes"] == list(axes), f"{name}: the axes {drawn['axes']}")
    right([c["name"] for c in drawn["curves"]] == [s[0] for s in series], f"{name}: other curves")
    for curve, (label, y, dashed), key in zip(drawn["curves"], series, drawn["key"], strict=True):
        right(curve["dashed"] == dashed, f"{name}: {label} is dashed: {curve['dashed']}")
        points = [[float(n) for n in p.split()] for p in curve["d"].removeprefix("M").split("L")]
        wanted = [(px(a), py(b)) for a, b in zip(x, y, strict=True)]
        # Of points on one pixel some are left out, but the ends stand.
        right(len(points) >= min(len(x), 60), f"{name}: {len(points)} points")
        for got in points:
            off = min(max(abs(got[0] - a), abs(got[1] - b)) for a, b in wanted)
            right(off < 0.2, f"{name}: {label} passes through {got}, {off:.1f} px away")
        for got, want in ((points[0], wanted[0]), (points[-1], wanted[-1])):
            right(abs(got[0] - want[0]) < 0.2, f"{name}: {label} ends at {got}, not {want}")
        at = list(x).index(cursor)
        told = key.removeprefix(label).strip()
        right(key.startswith(label) and says(told, float(y[at]), digits), f"{name}: {key!r}")
    right(drawn["cursor"] is not None and abs(drawn["cursor"] - px(cursor)) < 0.2, "the cursor")
    wanted = [(px(v), px(v)) for v, _ in marks]
    right(len(drawn["marks"]) == len(drawn["names"]) == len(marks) + len(levels), f"{name}: marks")
    upright = [m for m in drawn["marks"] if m[0] == m[1]]
    right(
        all(abs(a[0] - b[0]) < 0.2 for a, b in zip(upright, wanted, strict=True)), f"{name}: marks"
    )
    flat = [m[2] for m in drawn["marks"] if m[0] != m[1]]
    right(
        all(abs(a - py(v)) < 0.2 for a, (v, _) in zip(flat, levels, strict=True)), f"{name}: levels"
    )
    right(drawn["names"] == [text for _, text in (*marks, *levels)], f"{name}: {drawn['names']}")


def fixed(value, digits):
    """Return a number as the widgets write it."""
    return (
        f"{float(value):.{digits}f}".replace("-", "−")
        if float(f"{float(value):.{digits}f}")
        else f"{0:.{digits}f}"
    )


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
    same_map(first, codes.T.tolist(), rows=[str(n) for n in range(d)], columns=names,
             frame=s["column"], column=p)  # fmt: skip
    charts = root.evaluate(CHARTS)
    clocks = root.evaluate(CLOCKS)
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
    said = root.locator(".p-say").text_content()
    kind = "cosine" if s["column"] % 2 else "sine"
    sentence = {
        "wave": f"Column {s['column']} is the {kind} of pair n = {i}, which turns once in "
        f"{written(waves[i], 1)} positions: {written(length / waves[i], 2)} turns in this text.",
        "similarity": f"Positions {p} and {p + k}: their dot product is {written(alike[p, p + k], 2)} of "
        f"a code's own with itself. Any two positions {k} apart have the same.",
        "shift": f"A step of {k} turns pair {i} by {written(360 * k / waves[i], 1)}°: from "
        f"({written(later[0, 0])}, {written(later[0, 1])}) at {p} to ({written(later[1, 0])}, "
        f"{written(later[1, 1])}) at {p + k}. Move p, and the angle stays.",
    }[s["view"]]
    right(same_words(said, sentence), f"{said!r}, not {sentence!r}")
    right(abs(s["wavelength"] / waves[i] - 1) < 1e-9, f"Python reads {s['wavelength']}")
    right(abs(s["similarity"] - float(alike[p, p + k])) < 1e-9, f"Python reads {s['similarity']}")


def written(value, digits=2):
    """Return a number for a sentence; very small and very large ones have a power of ten."""
    value = float(value)
    if abs(value) >= 1e4 or (value and abs(value) < 10**-digits / 2):
        return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e").replace("-", "−")
    return fixed(value, digits)


def same_words(said, wanted):
    """Whether two sentences agree; a number may differ by one in its last digit, by rounding."""
    parts = r"−?\d+(?:\.\d+)?(?:e−?\d+)?"
    if re.split(parts, said) != re.split(parts, wanted):
        return False
    pairs = zip(re.findall(parts, said), re.findall(parts, wanted), strict=True)
    return all(a == b or says(a, number(b), 2 if "." in a else 0) for a, b in pairs)


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


def bias_maps(root, s):
    """The matrix and who shares a number in it, the row, the slopes or the buckets, the sentence."""
    T, i, j, both, head = s["T"], s["query"], s["key"], s["bidirectional"], s["head"]
    positions = torch.arange(T)
    sizes = (s["num_buckets"], s["max_distance"])
    bucket = lambda relative: t5_bucket(relative, *sizes, bidirectional=both)  # noqa: E731
    alibi = s["kind"] == "alibi"
    if alibi:
        values = ALiBi(s["heads"])(positions)[0, head - 1].double()
    else:
        values = bucket(positions - positions[:, None]).double()
    mask = torch.ones(T, T).bool() if both else torch.ones(T, T).tril().bool()
    same = (values == values[i - 1, j - 1]) & mask
    (drawn,) = maps(root)
    same_map(drawn, values.tolist(), mask=mask, frame=i - 1, marks=same.nonzero().tolist(),
             digits=1 if alibi else 0, signed=alibi)  # fmt: skip
    kind = "bias" if alibi else "bucket"
    right(drawn.caption == f"{kind.title()} of each query and key", drawn.caption)
    row, *others = root.evaluate(CHARTS)
    keys = range(1, (T if both else i) + 1)
    digits = 3 if alibi else 0
    if len(keys) > 1:
        same_chart(row, keys, [(kind, values[i - 1, : len(keys)], False)], axes=("key", kind), cursor=j,
                   digits=digits)  # fmt: skip
    d = i - j
    where = f"Query {i} and key {j}, {abs(d)} {'back' if d > 0 else 'ahead'}"
    where = where if d else f"Query {i} and its own key"
    if alibi:
        slopes = alibi_slopes(s["heads"]).double()
        plain = [2 ** (-8 * (h + 1) / s["heads"]) for h in range(s["heads"])]
        same_bars(root, [f"head {h + 1}" for h in range(s["heads"])],
                  [(slopes.tolist(), 1, False, 4), (plain, 1, False, 4)])  # fmt: skip
        focus = root.locator(".p-bar-row.p-focus .p-bar-name").all_text_contents()
        right(
            focus == [f"head {head}"] and not others, f"{focus} is followed, {len(others)} charts"
        )
        slope = slopes[head - 1]
        sentence = f"{where}: head {head} adds −{written(slope, 4)} × {abs(d)} = "
        sentence += f"{written(values[i - 1, j - 1], 3)} to the score."
    else:
        right(root.locator(".p-bar-row:visible").count() == 0, "slopes of ALiBi under T5")
        distances = torch.arange(round(1.25 * s["max_distance"] + 1e-9) + 1)
        far = bucket(-distances)
        same_chart(others[0], distances.tolist(), [("bucket", far, False)], axes=("distance", "bucket"),
                   cursor=min(abs(d), len(distances) - 1), marks=[(s["max_distance"], "furthest")],
                   digits=0)  # fmt: skip
        sentence = bucket_sentence(where, bucket, d)
    said = root.locator(".p-say").text_content()
    right(same_words(said, sentence), f"{said!r}, not {sentence!r}")
    right(s["distance"] == d, f"Python reads the distance {s['distance']}, not {d}")
    wanted = float(values[i - 1, j - 1])
    right(abs(s["value"] - wanted) < 1e-5, f"Python reads {s['value']}, not {wanted}")


def bucket_sentence(where, bucket, d):
    """What is said of a bucket: which distances it holds on this side."""
    side = -1 if d > 0 else 1
    mine = int(bucket(torch.tensor(-d)))
    held = [n for n in range(1200) if int(bucket(torch.tensor(side * n))) == mine]
    text = f"{where}: bucket {mine}, which holds "
    if held[-1] == 1199:
        text += f"each distance from {held[0]} on."
    elif len(held) == 1:
        text += f"the distance {held[0]} only."
    else:
        text += f"the distances {held[0]} to {held[-1]}."
    return text + " All cells of a bucket get one trained number."
