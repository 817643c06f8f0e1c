"""The kit's charts read back, and what is said beside them: for the expectations of several widgets."""

import math

from oracle import NUMBER, number, raised, right, says
from told import close

CHARTS = """(root) => [...root.querySelectorAll(".p-pane-chart")].filter((one) => one.checkVisibility()).map((pane) => {
  const all = (selector) => [...pane.querySelectorAll(selector)];
  const [text, of] = [(node) => node.textContent, (name) => (node) => Number(node.getAttribute(name))];
  const ticks = (axis) => all(`[data-tick=${axis}]`).map((node) =>
    [Number(node.dataset.value), text(node), of(axis)(node) - (axis === "y" ? 4 : 0)]);
  const cursor = pane.querySelector(".p-at");
  const listed = [...root.querySelectorAll(".p-tables table")].map((table) =>
    [...table.rows].map((row) => [...row.cells].map(text)));
  return { listed, caption: text(pane.querySelector("figcaption")), x: ticks("x"), y: ticks("y"), axes: all(".p-axis").map(text),
    curves: all(".p-curve-line").map((g) => ({ name: g.dataset.name, dashed: g.querySelector("path").hasAttribute("stroke-dasharray"),
      d: g.querySelector("path").getAttribute("d") })),
    cursor: cursor.hasAttribute("hidden") ? null : of("x1")(cursor), key: all(".p-chart-key li").map(text),
    marks: all(".p-mark").map((line) => [of("x1")(line), of("x2")(line), of("y1")(line)]), names: all(".p-mark-name").map(text) };
})"""


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
    same_listed_curves(drawn, x, series, axes[0])
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


def same_listed_curves(drawn, x, series, axis):
    """The chart's table, where the table view is open: its heads, and its first and last row."""
    if not drawn["listed"]:
        return
    head = [axis, *(name for name, *_ in series)]
    mine = [rows for rows in drawn["listed"] if rows[0] == head and close(rows[-1][0], x[-1])]
    right(mine, f"{drawn['caption']}: no table has the heads {head}")
    for at in (0, -1):
        row = mine[0][1:][at]
        values = [x[at], *(float(y[at]) for _, y, _ in series)]
        fits = all(close(text, float(value)) for text, value in zip(row, values, strict=True))
        right(fits, f"{drawn['caption']}: the table's row {row}, not {values}")


def fixed(value, digits):
    """Return a number as the widgets write it."""
    return (
        f"{float(value):,.{digits}f}".replace("-", "−")
        if float(f"{float(value):.{digits}f}")
        else f"{0:.{digits}f}"
    )


def written(value, digits=2):
    """Return a number for a sentence: a small one has two digits, the smallest a power of ten."""
    value = float(value)
    size = abs(value)
    if size >= 999_999.5 or 0 < size < min(10**-digits / 2, 0.0000995):
        part, power = f"{value:.1e}".split("e")
        return f"{part.replace('-', '−')}·10{raised(power)}"
    if size >= 9999.5:
        return f"{value:,.0f}".replace("-", "−")
    tiny = 0 < size < 10**-digits / 2
    return fixed(value, 1 - math.floor(math.log10(size)) if tiny else digits)


def same_words(said, wanted):
    """Whether two sentences agree; a number may differ by one in its last digit, by rounding."""
    if NUMBER.split(said) != NUMBER.split(wanted):
        return False
    pairs = zip(NUMBER.findall(said), NUMBER.findall(wanted), strict=True)
    return all(a == b or says(a, number(b), 2 if "." in a else 0) for a, b in pairs)


CURVES = """(svg) => {
  const at = (axis, name, below) => [...svg.querySelectorAll(`[data-tick=${axis}]`)].map((t) =>
    [Number(t.dataset.value), Number(t.getAttribute(name)) - below]);
  return { x: at("x", "x", 0), y: at("y", "y", 4), marks: [...svg.querySelectorAll(".p-mark")].map((m) => Number(m.getAttribute("x1"))),
    names: [...svg.querySelectorAll(".p-mark-name")].map((m) => m.textContent),
    curves: [...svg.querySelectorAll(".p-curve")].map((g) => ({ kind: g.classList[1].split("-").at(-1), name: g.dataset.name,
      dashed: Boolean(g.querySelector("path").getAttribute("stroke-dasharray")), role: g.dataset.role,
      alone: [...g.querySelectorAll("circle")].map((c) => [Number(c.getAttribute("cx")), Number(c.getAttribute("cy"))]),
      points: (g.querySelector("path").getAttribute("d").match(/-?[\\d.]+ -?[\\d.]+/g) ?? []).map((p) => p.split(" ").map(Number)) })) };
}"""


def values(chart, curve):
    """Read a curve back in the units of its axes."""

    def unit(ticks):
        (a, pa), (b, pb) = ticks[0], ticks[-1]
        return lambda p: a + (p - pa) * (b - a) / (pb - pa)

    x, y = unit(chart["x"]), unit(chart["y"])
    per = abs((chart["y"][-1][0] - chart["y"][0][0]) / (chart["y"][-1][1] - chart["y"][0][1]))
    points = sorted(curve["points"] + curve["alone"])
    return [(x(px), y(py)) for px, py in points], 0.2 * per


def same_curve(chart, curve, xs, ys):
    """Compare a drawn curve with numbers; NaN is not drawn."""
    wanted = [(float(x), float(y)) for x, y in zip(xs, ys, strict=True) if not math.isnan(float(y))]
    got, most = values(chart, curve)
    right(len(got) == len(wanted), f"{curve['name']}: {len(got)} points, not {len(wanted)}")
    for (x, y), (wx, wy) in zip(got, wanted, strict=True):
        right(abs(x - wx) < 0.6 and abs(y - wy) <= most, f"{curve['name']}: {x, y}, not {wx, wy}")
