"""static/kit/charts.js: curves, ticks and readings are taken from the page and compared with the numbers given."""

import math
import re

import numpy as np
import pytest
from desk import painted, table

MAKE = """([options, data]) => {
  document.querySelector("main").replaceChildren();
  const view = made();
  const number = (x) => (x === null ? NaN : Number(x));
  const list = (x) => Float64Array.from(x, number);
  window.curves = kit.chart(view, { caption: "Loss", xTitle: "step", yTitle: "nats", ...options });
  view.panes.append(curves.pane);
  view.measure();
  curves.draw({ ...data, x: list(data.x), series: data.series.map((s) => ({
    ...s, y: s.y && list(s.y), runs: s.runs && s.runs.map(list), ghost: s.ghost && list(s.ghost) })) });
}"""
# The least time of five in which so many points are drawn, for each number of them, by turns.
BOTH_LENGTHS = """async (lengths) => {
  const least = lengths.map(() => Infinity);
  for (let round = 0; round < 5; round++) {
    lengths.forEach((length, at) => {
      const x = Float64Array.from({ length }, (_, i) => i);
      const y = x.map((i) => i % 977);
      const start = performance.now();
      curves.draw({ x, series: [{ name: "a", role: "key", y }] });
      least[at] = Math.min(least[at], performance.now() - start);
    });
    await new Promise((go) => setTimeout(go));
  }
  return least;
}"""
CHART = "svg.p-chart"


def plain(values):
    return [None if math.isnan(v) else str(v) for v in np.asarray(values, dtype=float).tolist()]


def draw(page, x, *series, options=None, **more):
    series = [
        {k: plain(v) if k in ("y", "ghost") else [plain(r) for r in v] if k == "runs" else v
         for k, v in {"name": f"s{n}", "role": "score", **s}.items()}
        for n, s in enumerate(series)
    ]  # fmt: skip
    page.evaluate(MAKE, [options or {}, {"x": plain(x), "series": series, **more}])
    painted(page)


def axis(page, which):
    """Return the map from places to values that the ticks of an axis tell, and the ticks."""
    found = page.locator(f"[data-tick={which}]").evaluate_all(
        "(nodes) => nodes.map((n) => [n.dataset.value, n.textContent, n.getAttribute('x'), n.getAttribute('y')])"
    )
    return [
        (float(v), name, float(px) if which == "x" else float(py) - 4) for v, name, px, py in found
    ]


def reader(page, which, log=False):
    places = axis(page, which)
    (v0, _, p0), (v1, _, p1) = places[0], places[-1]
    of = np.log10 if log else np.asarray
    slope = (of(v1) - of(v0)) / (p1 - p0)
    return lambda p: of(v0) + slope * (np.asarray(p) - p0)


def curve(page, kind="line", at=0):
    """Return the drawn points of a curve, one list for each unbroken piece."""
    d = page.locator(f".p-curve-{kind} path").nth(at).get_attribute("d")
    pieces = [piece for piece in d.split("M") if piece]
    return [np.array([[float(n) for n in p.split()] for p in x.split("L")]) for x in pieces]


@pytest.fixture(scope="module")
def page(desk):
    with desk.open("kit/charts", "kit/scales", "kit/paths") as opened:
        yield opened


@pytest.mark.parametrize(("log_x", "log_y"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_curves_pass_through_their_numbers(page, log_x, log_y):
    x = np.geomspace(1, 5000, 60) if log_x else np.linspace(-3, 8, 60)
    y = np.exp(np.sin(np.arange(60)) * 3) + 0.01
    draw(page, x, {"y": y}, options={"logX": bool(log_x), "logY": bool(log_y)})
    (points,) = curve(page)
    got_x = reader(page, "x", log_x)(points[:, 0])
    got_y = reader(page, "y", log_y)(points[:, 1])
    np.testing.assert_allclose(got_x, np.log10(x) if log_x else x, atol=0.02)
    np.testing.assert_allclose(got_y, np.log10(y) if log_y else y, atol=0.05)


@pytest.mark.parametrize("top", [9, 900, 90_000, 900_000])
def test_a_long_number_leaves_the_title_its_place(page, top):
    x = np.arange(1, 6)
    draw(page, x, {"y": np.geomspace(1, top, 5)}, options={"logY": True})
    sides = "(all) => all.map((node) => node.getBoundingClientRect()).map((b) => [b.left, b.right])"
    title = max(right for _, right in page.locator(".p-axis[transform]").evaluate_all(sides))
    ticks = [left for left, _ in page.locator("[data-tick=y]").evaluate_all(sides)]
    assert len(ticks) > 1
    assert min(ticks) > title + 1


@pytest.mark.parametrize(
    ("low", "high", "log", "names"),
    [
        (0, 1, False, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-3, 8, False, ["−2", "0", "2", "4", "6", "8"]),
        (0.1, 2000, True, ["0.1", "1", "10", "100", "1,000"]),
        (1e-7, 1e-3, True, ["10⁻⁷", "10⁻⁶", "10⁻⁵", "10⁻⁴", "0.001"]),
        (0, 3e7, False, ["0", "5·10⁶", "10⁷", "1.5·10⁷", "2·10⁷", "2.5·10⁷", "3·10⁷"]),
    ],
)
def test_ticks_are_round_and_named_right(page, low, high, log, names):
    got = page.evaluate(
        """([low, high, log]) => {
          const t = kit.ticks(kit.makeScale(low, high, log), 6);
          return t.map((v) => kit.tickName(v, log ? undefined : t[1] - t[0]));
        }""",
        [low, high, log],
    )
    zero = [n.replace("0.0", "0") if n == "0.0" else n for n in names]
    assert got in (names, zero)


def test_gaps_stay_open(page):
    y = np.arange(12.0)
    y[[4, 5, 9]] = math.nan
    y[7] = math.inf
    draw(page, np.arange(12), {"y": y})
    pieces = curve(page)
    assert [len(p) for p in pieces] == [4, 2]
    alone = page.locator(".p-curve-line circle")
    assert alone.count() == 2, "a number between two gaps is a dot"
    at = sorted(float(c.get_attribute("cx")) for c in alone.all())
    np.testing.assert_allclose(reader(page, "x")(at), [6, 8], atol=0.05)


def test_what_is_not_positive_has_no_place_on_a_logarithmic_axis(page):
    draw(page, np.arange(5), {"y": [1, 0, -1, 10, 100]}, options={"logY": True})
    assert [len(p) for p in curve(page)] == [2]
    assert not re.search("NaN|Infinity", page.locator(CHART).inner_html())


def test_several_runs_and_their_median(page):
    runs = np.random.default_rng(0).normal(size=(5, 30)).cumsum(1)
    draw(page, np.arange(30), {"runs": runs})
    assert page.locator(".p-curve-run").count() == 5
    to_y = reader(page, "y")
    for n in range(5):
        np.testing.assert_allclose(to_y(curve(page, "run", n)[0][:, 1]), runs[n], atol=0.1)
    np.testing.assert_allclose(to_y(curve(page)[0][:, 1]), np.median(runs, 0), atol=0.1)


def test_130000_points_keep_every_peak_and_few_nodes(page):
    n = 130_000
    y = np.sin(np.arange(n) / 9000)
    y[77_777], y[100_001] = 9, -7
    page.evaluate(
        MAKE, [{}, {"x": list(range(n)), "series": [{"name": "a", "role": "key", "y": plain(y)}]}]
    )
    (points,) = curve(page)
    assert len(points) < 4 * 700
    to_x, to_y = reader(page, "x"), reader(page, "y")
    for at in (77_777, 100_001):
        place = np.abs(to_y(points[:, 1]) - y[at]).argmin()
        assert abs(to_y(points[place, 1]) - y[at]) < 0.05
        assert abs(to_x(points[place, 0]) - at) < n / 300
    few, many = page.evaluate(BOTH_LENGTHS, [1_300, n])
    print(f"{few:.1f} ms for 1,300 points, {many:.1f} for 130,000")
    assert many < 20 * few  # of a hundred times the points few are drawn


def test_the_cursor_reads_by_keyboard_and_pointer(page):
    x, y = np.linspace(0, 10, 41), np.linspace(5, -5, 41)
    draw(page, x, {"y": y}, {"y": 2 * y, "role": "value"})
    chart = page.locator(CHART)
    chart.focus()
    for key, index in (
        ("ArrowRight", 0),
        ("ArrowRight", 1),
        ("PageUp", 11),
        ("End", 40),
        ("ArrowLeft", 39),
        ("Home", 0),
    ):
        chart.press(key)
        painted(page)
        said = chart.get_attribute("aria-valuetext").replace("−", "-")
        assert said == f"step {x[index]:.3f}: s0 {y[index]:.3f}, s1 {2 * y[index]:.3f}", key
    box = chart.bounding_box()
    place = curve(page)[0][20]
    page.mouse.move(box["x"] + place[0], box["y"] + 60)
    painted(page)
    dots = page.locator(".p-dot").evaluate_all(
        "(d) => d.map((n) => [n.getAttribute('cx'), n.getAttribute('cy')])"
    )
    np.testing.assert_allclose([float(a) for a in dots[0]], place, atol=0.1)
    shown = page.locator(".p-chart-key li").all_inner_texts()
    assert [s.replace("−", "-").split()[-1] for s in shown] == [f"{y[20]:.3f}", f"{2 * y[20]:.3f}"]
    page.mouse.move(0, 0)
    painted(page)
    assert "step 0.000" in chart.get_attribute("aria-valuetext"), (
        "back to where the keyboard left it"
    )


def test_the_table_holds_the_numbers(page):
    draw(page, [1, 2, 3], {"y": [0.5, math.nan, 2]})
    head, rows = table(page)
    assert head == ["step", "s0"]
    assert rows == [["1", "0.5000"], ["2", "–"], ["3", "2.0000"]]
    draw(page, [1, 2.5], {"y": [0.5, 2]})
    assert [row[0] for row in table(page)[1]] == ["1.000", "2.500"]


@pytest.mark.parametrize("y", [[], [3.0], [math.nan], [2.0, 2.0, 2.0]])
def test_little_data_is_drawn_too(page, y):
    draw(page, np.arange(len(y)), {"y": y})
    assert not re.search("NaN|Infinity", page.locator(CHART).inner_html())
    assert len(axis(page, "y")) >= 2


def test_the_ghost_is_drawn_where_it_was(page):
    y = np.linspace(0, 4, 9)
    draw(page, np.arange(9), {"y": y, "ghost": y[::-1]})
    np.testing.assert_allclose(reader(page, "y")(curve(page, "ghost")[0][:, 1]), y[::-1], atol=0.03)


def test_marks_stand_at_their_values(page):
    draw(
        page,
        np.arange(10),
        {"y": np.arange(10.0)},
        marks=[{"x": 4, "name": "here"}, {"y": 6, "name": "floor"}],
    )
    lines = page.locator(".p-mark")
    assert reader(page, "x")(float(lines.nth(0).get_attribute("x1"))) == pytest.approx(4, abs=0.02)
    assert reader(page, "y")(float(lines.nth(1).get_attribute("y1"))) == pytest.approx(6, abs=0.02)
    assert page.locator(".p-mark-name").all_text_contents() == ["here", "floor"]
    above = "(name) => Boolean(document.querySelector('.p-curve')"
    above += ".compareDocumentPosition(name) & Node.DOCUMENT_POSITION_FOLLOWING)"
    assert [name.evaluate(above) for name in page.locator(".p-mark-name").all()] == [True, True]


# Whether a curve, walked along in the browser, runs through the words of the mark beside it.
STRUCK = """() => {
  const { x, y, width, height } = document.querySelector(".p-mark-name").getBBox();
  return [...document.querySelectorAll(".p-curve path:not([d=''])")].some((path) => {
    for (let at = 0; at <= path.getTotalLength(); at += 0.5) {
      const point = path.getPointAtLength(at);
      if (point.x > x && point.x < x + width && point.y > y + 1 && point.y < y + height - 2) return true;
    }
    return false;
  });
}"""


@pytest.mark.parametrize(
    ("ys", "below", "anchor"),
    [
        ([np.linspace(0, 10, 200)], False, "end"),
        ([np.where(np.arange(200) < 100, 0, 6.5)], False, "start"),
        ([np.where(np.abs(np.arange(200) - 100) < 40, 0, 6.5)], False, "middle"),
        ([np.where(np.arange(200) < 150, 6.5, 0), np.linspace(0, 10, 200)], False, "end"),
        ([np.linspace(3, 2, 200), np.array([6.5, np.nan] * 100)], True, "end"),
        ([np.where(np.arange(200) < 100, 9, 5.85)], True, "start"),
        ([np.array([2, 6.5])], False, "start"),
    ],
)
def test_the_name_of_a_level_is_not_struck_through(page, ys, below, anchor):
    mark = {"y": 6, "name": "a floor that all share", "below": below}
    draw(page, np.linspace(0, 9, len(ys[0])), *({"y": y} for y in ys), marks=[mark])
    assert page.locator(".p-mark-name").get_attribute("text-anchor") == anchor
    assert not page.evaluate(STRUCK)


HALF = np.arange(200) < 100


@pytest.mark.parametrize(
    ("y", "at", "anchor", "high"),
    [
        (np.zeros(200), 5, "start", True),
        (np.zeros(200), 8, "end", True),  # on the right it would leave the picture
        (np.where(HALF, 0, 10), 4.4, "end", True),
        (np.where(HALF, 10, 0), 4, "end", False),  # crossed above on both sides
        (np.where(np.arange(200) < 22, 0, 10), 1, "start", False),  # on the left it would leave it
    ],
)
def test_the_name_of_an_upright_line_is_not_struck_through(page, y, at, anchor, high):
    y = np.append(y[:-2], [0, 10])  # the axis has the same ends in each case
    mark = {"x": at, "name": "you are here, now"}
    draw(page, np.linspace(0, 9, 200), {"y": y}, marks=[mark])
    name = page.locator(".p-mark-name")
    assert name.get_attribute("text-anchor") == anchor
    assert (float(name.get_attribute("y")) < 100) is high
    assert not page.evaluate(STRUCK)


def test_the_names_of_two_marks_lie_apart(page):
    marks = [{"x": 5, "name": "you are here"}, {"x": 5.4, "name": "you were here"}]
    draw(page, np.linspace(0, 9, 50), {"y": np.linspace(4, 5, 50)}, marks=marks)
    one, other = (name.bounding_box() for name in page.locator(".p-mark-name").all())
    beside = one["x"] + one["width"] < other["x"] or other["x"] + other["width"] < one["x"]
    assert beside or abs(one["y"] - other["y"]) > one["height"]


def test_where_no_place_is_free_a_level_is_named_at_its_end(page):
    mark = {"y": 6, "name": "a floor that all share"}
    draw(page, np.arange(200), {"y": 6 + np.sin(np.linspace(0, 40, 200))}, marks=[mark])
    assert page.locator(".p-mark-name").get_attribute("text-anchor") == "end"
    assert page.evaluate(STRUCK)
    page.evaluate("curves.draw({ x: [0, 1], series: [{ name: 'a', role: 'key', y: [0, 1] }] })")
    assert page.locator(".p-mark-name").count() == 0
