"""The picture oracle: what is drawn in a real browser, read back and compared with torch.

`recorded` opens a widget and keeps what its canvases are told to draw. `check` reads every number,
label, position and length off the page and compares it with what `expected.py` says of the traits.
The readers (`Map`, `bars`, `plane`, …) know pictures, not widgets, and take what should be drawn.
"""

import json
import math
import re
from bisect import bisect_left
from contextlib import contextmanager
from itertools import pairwise

import pytest
import torch

from browser import state

# Keep what each canvas was told since it was last wiped, in the canvas's own pixels.
RECORD = """(() => {
  const P = CanvasRenderingContext2D.prototype;
  const kept = new WeakMap();
  const marks = (brush) => {
    if (!kept.has(brush.canvas)) kept.set(brush.canvas, []);
    return kept.get(brush.canvas);
  };
  const corner = (brush, x, y) => {
    const at = brush.getTransform().transformPoint(new DOMPoint(x, y));
    return [at.x, at.y];
  };
  const box = (brush, x, y, w, h) => [...corner(brush, x, y), ...corner(brush, x + w, y + h)];
  const named = (paint) => (typeof paint === "string" ? paint : "pattern");
  const after = (name, note) => {
    const own = P[name];
    P[name] = function (...given) { note(this, ...given); return own.apply(this, given); };
  };
  after("fillRect", (b, ...r) => marks(b).push(
    { kind: "rect", box: box(b, ...r), colour: named(b.fillStyle) }));
  after("strokeRect", (b, ...r) => b.lineWidth < 3 && marks(b).push( // its halo is wider
    { kind: "ring", box: box(b, ...r), colour: named(b.strokeStyle) }));
  after("fillText", (b, text, x, y) => marks(b).push(
    { kind: "text", text: String(text), at: corner(b, x, y), size: parseFloat(b.font) }));
  // A corner in the colour of what was: where its path begins, and how it is filled.
  const begun = new WeakMap();
  after("beginPath", (b) => begun.delete(b));
  after("moveTo", (b, x, y) => { if (!begun.has(b)) begun.set(b, corner(b, x, y)); });
  after("fill", (b) => { if (begun.has(b)) marks(b).push(
    { kind: "corner", at: begun.get(b), colour: named(b.fillStyle) }); });
  // Boxes that are filled together.
  const together = new WeakMap();
  after("beginPath", (b) => together.set(b, []));
  after("rect", (b, ...r) => together.get(b).push(box(b, ...r)));
  after("fill", (b) => together.get(b).forEach((one) => marks(b).push(
    { kind: "rect", box: one, colour: named(b.fillStyle) })));
  // A box with round corners: filled, outlined, or both.
  const rounded = new WeakMap();
  after("beginPath", (b) => rounded.delete(b));
  after("roundRect", (b, ...r) => rounded.set(b, box(b, ...r)));
  for (const [name, kind, style] of [["fill", "rect", "fillStyle"], ["stroke", "ring", "strokeStyle"]]) {
    after(name, (b) => { if (rounded.has(b)) marks(b).push(
      { kind, box: rounded.get(b), colour: named(b[style]) }); });
  }
  after("clearRect", (b, x, y, w, h) => {
    const [left, top, right, bottom] = box(b, x, y, w, h);
    const whole = right >= b.canvas.width - 1 && bottom >= b.canvas.height - 1;
    if (left <= 1 && top <= 1 && whole) kept.set(b.canvas, []);
  });
  // Cells that are points of an image: a box for each; what lets the hatching through stays hatched.
  after("drawImage", (b, image, left, top, width, height) => {
    if (!(image instanceof HTMLCanvasElement) || b.imageSmoothingEnabled) return;
    const [w, h] = [image.width, image.height];
    const { data } = image.getContext("2d").getImageData(0, 0, w, h);
    if (marks(b).at(-1)?.colour === "pattern") marks(b).pop();
    for (let n = 0; n < w * h; n++) {
      const [x, y] = [left + (n % w) * width / w, top + Math.floor(n / w) * height / h];
      const [red, green, blue, seen] = data.slice(4 * n, 4 * n + 4);
      marks(b).push({ kind: "rect", box: box(b, x, y, width / w, height / h), colour: `rgb(${red},${green},${blue})` });
      if (!seen) marks(b).push({ ...marks(b).at(-1), colour: "pattern" });
    }
  });
  for (const side of ["width", "height"]) {
    const own = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, side);
    Object.defineProperty(HTMLCanvasElement.prototype, side, {
      ...own, set(value) { own.set.call(this, value); kept.set(this, []); } });
  }
  window.drawn = (canvas) => {
    const ratio = canvas.width / (canvas.clientWidth || 1);
    const scaled = (list) => list.map((x) => x / ratio);
    return (kept.get(canvas) ?? []).map((mark) => ({ ...mark,
      ...(mark.box && { box: scaled(mark.box) }), ...(mark.at && { at: scaled(mark.at) }) }));
  };
})();"""
CANVASES = """(root) => [...root.querySelectorAll(".p-pane")].flatMap((pane, order) => {
  // The small tiles of heads are canvases too, without cells to read.
  const canvas = pane.querySelector(".p-board canvas");
  if (!canvas || !pane.offsetParent || !canvas.width) return [];
  const style = getComputedStyle(pane);
  const colour = (name) => style.getPropertyValue(`--p-${name}`).trim();
  // Labels and frames lie over the canvas, in the same pixels.
  const labels = [...pane.querySelectorAll(".p-names text")].map((node) => ({ kind: "text", text: node.textContent,
    at: (node.getAttribute("transform")?.match(/-?[\\d.]+/g) ?? [node.getAttribute("x"), node.getAttribute("y")]).slice(0, 2).map(Number)
      .map((n, axis) => (axis || !node.hasAttribute("transform") ? n : n + 2)) })); // a tilted name begins beside its middle
  const frames = [...pane.querySelectorAll("[data-frame]:not([hidden]) .p-ring")].map((node) => {
    const [x, y, w, h] = ["x", "y", "width", "height"].map((name) => Number(node.getAttribute(name)));
    return { kind: "ring", box: [x, y, x + w, y + h] };
  });
  return [{ order, caption: pane.querySelector("figcaption").textContent, marks: [...window.drawn(canvas), ...labels, ...frames],
    paper: colour("paper"), label: pane.querySelector(".p-board").ariaLabel }];
})"""
BARS = """(root) => [...root.querySelectorAll(".p-bar-row:not(.p-bar-head)")].map((row) => ({
  name: row.querySelector(".p-bar-name").textContent,
  bars: [...row.querySelectorAll(".p-bar")].map((bar) => {
    const [whole, fill] = [bar, bar.querySelector("i")].map((node) => node.getBoundingClientRect());
    const was = bar.querySelector("s");
    return { text: bar.querySelector("b").textContent, was: was.hidden ? null : (parseFloat(was.style.left) || 0) / 100,
      from: (fill.left - whole.left) / whole.width, to: (fill.right - whole.left) / whole.width };
  }) }))"""
PLANE = """(svg) => {
  const middle = (node) => { const b = node.getBoundingClientRect();
    return [b.left + b.width / 2, b.top + b.height / 2]; };
  const whole = svg.getBoundingClientRect();
  const share = ([x, y]) => [(x - whole.left) / whole.width, (y - whole.top) / whole.height];
  const end = (line, n) => share(Object.values((() => {
    const at = new DOMPoint(line[`x${n}`].baseVal.value, line[`y${n}`].baseVal.value)
      .matrixTransform(line.getScreenCTM());
    return { x: at.x, y: at.y }; })()));
  const circle = (group) => share(middle([...group.querySelectorAll("circle")].at(-1)));
  return {
    query: circle(svg.querySelector(".p-query")),
    keys: [...svg.querySelectorAll("g[data-role=key]")].map((g) => [g.textContent, circle(g)]),
    lines: [...svg.querySelectorAll("line[data-role=weight]")].map((line) =>
      [end(line, 1), end(line, 2), Number(line.getAttribute("stroke-width"))]),
  };
}"""
GROUND = """(c) => [...c.getContext("2d").getImageData(0, 0, c.width, c.height).data]"""
BALANCE = """(svg) => {
  const x = (g) => Number(g.getAttribute("transform").match(/-?[\\d.]+/)[0]);
  const text = (g) => g.querySelector("text")?.textContent ?? "";
  const loads = [...svg.querySelectorAll("g[data-role=value]")];
  const rest = svg.querySelector(".p-rest");
  return { width: svg.viewBox.baseVal.width, rest: [x(rest), text(rest)],
    loads: loads.map((g) => [x(g), Number(g.querySelector("circle").getAttribute("r")), text(g)]) };
}"""
TABLE = (
    """(table) => [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent))"""
)


class PictureError(AssertionError):
    """A picture says something else than torch."""


def right(condition, *what):
    """Raise `PictureError` unless the condition holds."""
    if not condition:
        raise PictureError(" ".join(map(str, what)))


@contextmanager
def recorded(bench, *widgets, **options):
    """Open a page with these widgets, and keep what their canvases are told to draw."""
    with bench.show(*widgets, init=RECORD, **options) as page:
        yield page


COMPARED = []  # the heat maps that the check in progress has compared, for their tips and tables


def check(page, widget, at=0):
    """Compare everything that a widget shows with torch."""
    from samples import beside, folder  # what it finds uses the readers above
    from told import same_cells, same_views, tables

    root = page.locator(".pieces").nth(at)
    name = type(widget).__name__
    COMPARED.clear()
    getattr(beside(name, "expected"), folder(name))(root, state(page, widget))
    listed = tables(root)
    same_cells(root, COMPARED, listed)
    same_views(root, listed)


def ask(place, reader, given=None):
    """Return what a function reads of an element that is there: `evaluate` takes three calls for it."""
    return place.evaluate_all(f"([node], given) => ({reader})(node, given)", given)


def read_out(place, reader):
    """Return what a reader finds, as one JSON text: Playwright takes thousands of values apart."""
    return json.loads(ask(place, f"(node) => JSON.stringify(({reader})(node))"))


# 0.25, −3.2·10⁻⁸, 1,234.50, 12,345.
NUMBER = re.compile(
    r"[−-]?(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?(?:·10⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?)"
)
POWERS = "-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"


def raised(power):
    """Return a power as it is printed above the line."""
    return str(int(power)).translate(str.maketrans(*POWERS))


def number(text):
    """Return a printed number: a true minus sign, 1.2·10⁻⁵, ∞; an error where it is none."""
    right(NUMBER.fullmatch(text) or text in ("∞", "−∞"), f"{text!r} is no number")
    part, _, power = text.replace("−", "-").replace(",", "").replace("∞", "inf").partition("·10")
    return float(part) * 10.0 ** int(power.translate(str.maketrans(*reversed(POWERS))) or 0)


def says(text, value, digits):
    """Whether a printed text is this number to so many digits (or 1.2·10⁻⁵ where they fail)."""
    if text.startswith("<"):  # a probability that is too small for four decimals
        return 0 < value < number(text[2:]) == 1e-4
    got = number(text)
    digits = 0 if "," in text and "." not in text else digits
    digits = digits if "·" in text else max(digits, len(text.partition(".")[2]))
    coarse = abs(value) * 0.06 if "·" in text else 0
    twin = 2e-6 * max(1.0, abs(value))  # the page computes in other steps than torch
    return abs(got - value) <= 0.5001 * 10**-digits + coarse + twin


def percent(p):
    """A share as the kit writes it."""
    if 0.995 < p < 1 or 0 < p < 0.005:
        return ">\u00a099\u00a0%" if p > 0.5 else "<\u00a01\u00a0%"
    return f"{math.floor(100 * p + 0.5)}\u00a0%"


def shares(p):
    """How a share may be written: float32 and float64 part where it is all but 1, or a half."""
    return {percent(min(1.0, max(0.0, float(p) + by))) for by in (-1e-6, 0, 1e-6)}


def rgb(colour):
    """Return a CSS colour as three numbers."""
    if colour.startswith("#"):
        return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return [int(float(x)) for x in re.findall(r"[\d.]+", colour)[:3]]


def apart(a, b):
    """Return how far two CSS colours are from each other."""
    return sum((x - y) ** 2 for x, y in zip(rgb(a), rgb(b), strict=True)) ** 0.5


def steps(values):
    """Return the different places among some coordinates that scatter by less than half a pixel."""
    places = []
    for value in sorted(values):
        if not places or value - places[-1] > 0.5:
            places.append(value)
    return places


class Map:
    """A heat map as it was drawn: colours, numbers and hatching by cell, labels, frames."""

    def __init__(self, drawn):
        self.caption, self.paper, self.label = drawn["caption"], drawn["paper"], drawn["label"]
        self.order = drawn["order"]
        marks = drawn["marks"]
        plain = [m for m in marks if m["kind"] == "rect" and m["colour"] != "pattern"]
        right(plain, f"{self.caption}: nothing is drawn")
        self.lefts = steps(m["box"][0] for m in plain)
        self.tops = steps(m["box"][1] for m in plain)
        left, top, right_, bottom = plain[0]["box"]
        self.cell, self.high = right_ - left, bottom - top
        self.colours = {self.at(*self.middle(m["box"])): m["colour"] for m in plain}
        hatched = [m for m in marks if m["kind"] == "rect" and m["colour"] == "pattern"]
        self.hatched = {self.at(*self.middle(m["box"])) for m in hatched}
        self.frames = [self.span(m["box"]) for m in marks if m["kind"] == "ring"]
        # A notch begins at the right edge of its cell, a gap before the next one.
        corners = [m for m in marks if m["kind"] == "corner"]
        self.corners = {self.at(m["at"][0] - 2, m["at"][1]): m["colour"] for m in corners}
        self.numbers, self.rows, self.columns = {}, {}, {}
        for mark in (m for m in marks if m["kind"] == "text"):
            self._place(mark["text"], *mark["at"])

    @property
    def shape(self):
        return len(self.tops), len(self.lefts)

    def middle(self, box):
        return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2

    def index(self, places, size, at):
        n = bisect_left(places, at - size - 1)
        return n if n < len(places) and places[n] - 1 <= at else None

    def at(self, x, y):
        """Return the cell [row, column] of a point; None beside the cells."""
        return self.index(self.tops, self.high, y), self.index(self.lefts, self.cell, x)

    def span(self, box):
        """Return the cells that a frame holds, as (rows, columns), each first and last."""
        air = 1 if min(self.cell, self.high) > 6 else 0  # a frame is a pixel wider than its cells
        inside = lambda places, size, low, high: [  # noqa: E731
            n for n, at in enumerate(places) if low - air <= at + size / 2 <= high + air
        ]
        rows = inside(self.tops, self.high, box[1], box[3])
        columns = inside(self.lefts, self.cell, box[0], box[2])
        tight = box[3] - box[1] <= len(rows) * (self.high + 2) + 4
        right(rows and columns and tight, f"{self.caption}: a frame around no cells at {box}")
        return (rows[0], rows[-1]), (columns[0], columns[-1])

    def _place(self, text, x, y):
        i, j = self.at(x, y)
        if i is not None and j is not None:
            self.numbers[i, j] = text
        elif i is not None and x < self.lefts[0]:
            self.rows[i] = text
        else:
            # A tilted name begins a little beside the middle of its column.
            near = min(range(len(self.lefts)), key=lambda n: abs(self.lefts[n] + self.cell / 2 - x))
            right(y < self.tops[0], f"{self.caption}: a text beside the map: {text!r}")
            right(near not in self.columns, f"{self.caption}: two names over one column")
            self.columns[near] = text


def maps(root):
    """Return the heat maps that a widget shows, in their order."""
    return [Map(one) for one in read_out(root, CANVASES)]


def same_map(drawn, values, *, mask=None, rows=(), columns=(), frame=None, marks=(), digits=2,
             signed=True, column=None, ghost=None, tip=None, states=None):  # fmt: skip
    """Compare a drawn heat map with values [T, S]: colours, numbers, labels, hatching, frames.

    `digits` 0: its cells may stay without numbers. `frame` is a row, or the first and the last.
    `ghost` are the values before, `tip(i, j)` what is told of a cell where that is not its number;
    tip and table view are read when all else of the widget is (told.py); there `states` are the
    words for an open and a masked cell, where cells have no numbers.
    """
    T, S = len(values), len(values[0])
    name = drawn.caption
    right(drawn.shape == (T, S), f"{name}: {drawn.shape} cells instead of {(T, S)}")
    cells = [(i, j) for i in range(T) for j in range(S)]
    open_ = {(i, j) for i, j in cells if mask is None or mask[i][j]}
    right(drawn.hatched == set(cells) - open_, f"{name}: other cells are hatched")
    kind = "words" if states else "numbers"
    right(
        drawn.label.endswith(f"The same {kind} stand in the table view."), f"{name}: {drawn.label}"
    )
    same_labels(name, drawn.rows, rows or range(1, T + 1), T, drawn.high)
    same_labels(name, drawn.columns, columns or range(1, S + 1), S, drawn.cell)
    if drawn.numbers or (digits and drawn.cell >= 30):
        right(set(drawn.numbers) == open_, f"{name}: numbers in other cells")
    for (i, j), text in drawn.numbers.items():
        right(says(text, values[i][j], digits), f"{name} [{i}, {j}]: {text}, not {values[i][j]}")
    same_colours(drawn, {at: values[at[0]][at[1]] for at in open_}, signed)
    first_last = frame if isinstance(frame, tuple) else (frame, frame)
    wanted = [(first_last, (0, S - 1))] if frame is not None else []
    wanted += [((0, T - 1), (column, column))] if column is not None else []
    wanted += [((i, i), (j, j)) for i, j in marks]
    right(sorted(drawn.frames) == sorted(wanted), f"{name}: framed {drawn.frames}, not {wanted}")
    if ghost is not None:
        same_ghosts(drawn, values, ghost, open_, signed)
    COMPARED.append((drawn, values, open_, list(rows), list(columns), tip, states))


def same_ghosts(drawn, values, ghost, open_, signed):
    """A cell that has changed keeps a corner in the colour of what it was, and no other does."""
    top = max(abs(values[i][j]) for i, j in open_) or 1e-9
    was = {(i, j): ghost[i][j] for i, j in open_ if abs(ghost[i][j] - values[i][j]) > top / 50}
    right(drawn.corners.keys() == was.keys(), f"{drawn.caption}: corners {drawn.corners}")
    drawn.colours |= {("was", *at): colour for at, colour in drawn.corners.items()}
    held = {("was", *at): max(-top, min(top, v)) for at, v in was.items()}
    same_colours(drawn, {at: values[at[0]][at[1]] for at in open_} | held, signed)


def same_labels(name, drawn, wanted, count, cell):
    """Compare labels; where cells are small, some are left out, but none is moved."""
    wanted = [str(label) for label in wanted]
    right(
        len(drawn) == count or (cell < 15 and len(drawn) >= int(count * min(0.2, cell / 30))),
        f"{name}: labels missing",
    )
    for at, text in drawn.items():
        whole = wanted[at]
        same = text == whole or (
            text.endswith("…") and len(text) >= 6 and whole.startswith(text[:-1])
        )
        right(same, f"{name}: label {at + 1} is {text!r} instead of {wanted[at]!r}")


def same_colours(drawn, values, signed):
    """A larger value lies farther from the paper; equal values look alike; signs look different."""
    top = max(map(abs, values.values()), default=0)
    for positive in (True, False):
        side = [(abs(v), apart(drawn.colours[at], drawn.paper)) for at, v in values.items()
                if (v >= 0) == positive or not signed]  # fmt: skip
        side.sort()
        for (low, pale), (high, strong) in pairwise(side):
            right(strong >= pale - 3, f"{drawn.caption}: {high} is paler than {low}")
            if high - low > 0.1 * top:
                right(strong > pale, f"{drawn.caption}: {high} looks like {low}")
    if signed and values:
        ends = [max(values, key=values.get), min(values, key=values.get)]
        if (
            values[ends[0]] > 0.3 * abs(values[ends[1]])
            and values[ends[1]] < -0.3 * values[ends[0]]
        ):
            gap = apart(*(drawn.colours[at] for at in ends))
            right(gap > 30, f"{drawn.caption}: both signs look alike")


def same_bars(root, names, series, before=None):
    """Compare rows of bars with values; `series`: (values, top, signed, digits) a column.

    `before`: for each column what its unsigned bars were, or None; without it no ghost is looked at.
    """
    from told import same_listed

    rows = ask(root, BARS)
    right([row["name"] for row in rows] == list(names), "bars: other names")
    same_listed(root, list(names), [list(map(float, values)) for values, *_ in series])
    for c, (values, top, signed, digits) in enumerate(series):
        top = top or max(map(abs, values)) or 1
        for row, value in zip(rows, values, strict=True):
            bar = row["bars"][c]
            right(
                says(bar["text"], value, digits), f"bar {row['name']}: {bar['text']}, not {value}"
            )
            share = min(1, abs(value) / top)
            wanted = (0, share) if not signed else sorted((0.5, 0.5 + value / top / 2))
            for end, want in zip((bar["from"], bar["to"]), wanted, strict=True):
                end = min(1, end)  # what stands over is cut off
                right(abs(end - want) < 0.012, f"bar {row['name']}: to {end:.3f}, not {want:.3f}")
        for row, was in zip(
            rows, (before[c] if before else None) or [None] * len(rows), strict=True
        ):
            drawn = row["bars"][c]["was"]
            fits = drawn is was if drawn is None or was is None else abs(drawn - was / top) < 1e-3
            right(not before or fits, f"bar {row['name']}: a ghost at {drawn}, not {was}")


def same_plane(root, query, keys, weights, names, span=3.3, size=240):
    """Compare the plane: x to the right, y upwards, a line from the query as wide as the weight."""
    drawn = ask(root.locator(".p-plane"), PLANE)
    place = lambda v: 0.5 + max(-span, min(span, v)) / span * (0.5 - 10 / size)  # noqa: E731
    at = lambda point: (place(point[0]), place(-point[1]))  # noqa: E731
    close = lambda a, b: max(abs(x - y) for x, y in zip(a, b, strict=True)) < 0.006  # noqa: E731
    right(
        close(drawn["query"], at(query)), f"the query stands at {drawn['query']}, not {at(query)}"
    )
    right([n for n, _ in drawn["keys"]] == names, f"keys {drawn['keys']}, not {names}")
    for (name, found), key in zip(drawn["keys"], keys, strict=True):
        right(close(found, at(key)), f"key {name} stands at {found}, not {at(key)}")
    right(len(drawn["lines"]) == len(keys), "other lines")
    for (start, end, width), key, weight in zip(drawn["lines"], keys, weights, strict=True):
        right(
            close(start, at(query)) and close(end, at(key)),
            f"a line leads elsewhere: {start} {end}",
        )
        right(abs(width - (0.3 + 8 * weight)) < 0.011, f"a line is {width} wide, weight {weight}")
    from told import tables  # what it tells uses the readers above

    for _, (head, *listed) in [one for one in tables(root) if one[0] == "The plane"]:
        right(head == ["vector", "x", "y"], f"the plane's heads {head}")
        right(len(listed) == 1 + len(keys), f"{len(listed)} vectors in the plane's table")
        for (name, *both), point in zip(listed, [query, *keys], strict=True):
            good = all(
                (text == "–" and not n) or says(text, float(n), 2)
                for text, n in zip(both, point, strict=True)
            )
            right(good and both[0] != "–", f"{name} is at {both}, not {point}")


def same_ground(root, weights_at, edge=3.6, size=200):
    """Compare the ground of the plane: a step darker where a query's largest weight passes a bound.

    `weights_at(points)` gives the weights [N, S] of queries at points [N, 2].
    """
    colours = read_out(root.locator(".p-plane-box canvas"), GROUND)
    side = torch.arange(4, size, 12)
    at = lambda n: ((n + 0.5) / size * 2 - 1) * edge  # noqa: E731
    points = torch.stack([at(side).repeat(len(side)), -at(side).repeat_interleave(len(side))], 1)
    best = weights_at(points.double()).topk(2, -1).values
    bounds, tones = (0.5, 0.65, 0.8, 0.95), {}
    for n, (weight, second) in enumerate(best.tolist()):
        # Between two steps it may be either; a border between two winners is left light.
        if min(abs(weight - bound) for bound in bounds) > 0.03 and weight - second > 0.1:
            step = sum(weight > bound for bound in bounds)
            i, j = int(side[n // len(side)]), int(side[n % len(side)])
            tones.setdefault(step, []).append(tuple(colours[4 * (i * size + j) :][:3]))
    common = {step: max(set(found), key=found.count) for step, found in tones.items()}
    for step, found in tones.items():
        share = found.count(common[step]) / len(found)
        right(share > 0.9 or len(found) < 5, f"the ground: step {step}, its tone in {share:.0%}")
    right(len(set(common.values())) == len(common), f"the ground: {common}")
    darkness = [abs(sum(common[step]) - sum(common[min(common)])) for step in sorted(common)]
    right(darkness == sorted(darkness), f"the ground: {common}")


def same_balance(root, values, weights, output, unit, digits=1):
    """Compare the balance: weights as areas at their values, resting on the average."""
    drawn = ask(root.locator(".p-balance"), BALANCE)
    low, high = min(values), max(values)
    at = lambda v: 22 + (v - low) / (high - low) * (drawn["width"] - 44)  # noqa: E731
    right(len(drawn["loads"]) == len(values), "the balance: other loads")
    for (x, r, text), value, weight in zip(drawn["loads"], values, weights, strict=True):
        right(abs(x - at(value)) < 0.6, f"a load at {x}, not {at(value)}")
        right(abs(r - (2 + 14 * weight**0.5)) < 0.02, f"a load of {r}, weight {weight}")
        right(not text or says(text, value, 1), f"a load says {text}, not {value}")
    x, text = drawn["rest"]
    right(abs(x - at(output)) < 0.6, f"it rests at {x}, not {at(output)}")
    right(says(text.removesuffix(unit), output, digits) and text.endswith(unit), text)


def same_table(root, selector, wanted, digits):
    """Compare the numbers of a table with lists of values, row by row."""
    rows = ask(root.locator(selector), TABLE)[1:]
    right(len(rows) == len(wanted), f"{len(rows)} rows in the table")
    for (name, *texts), (want, *values) in zip(rows, wanted, strict=True):
        right(name == want, f"the table's row {name!r} should be {want!r}")
        for text, value, n in zip(texts, values, digits, strict=True):
            right(says(text, value, n), f"table, {name}: {text}, not {value}")


@contextmanager
def wrong(unseen="the oracle takes what is wrong"):
    """Expect the check to fail, for tests of the oracle itself."""
    try:
        yield
    except PictureError:
        return
    pytest.fail(unseen)
