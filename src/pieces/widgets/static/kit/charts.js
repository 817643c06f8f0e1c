/**
 * Curves on axes, linear or logarithmic: gaps, several runs over each other, and a cursor that
 * reads them.
 */
import { format, give, h, setText } from "./dom.js";
import { placed } from "./marks.js";
import { median, nearest, thread } from "./paths.js";
import { oncePerFrame } from "./pulse.js";
import { makeScale, tickName, ticks } from "./scales.js";
import { extent } from "../twin/tensor.js";
import { words } from "./words.js";

/** @typedef {ArrayLike<number>} Numbers
 *  @typedef {{name: string, role: string, y?: Numbers, runs?: Numbers[], x?: Numbers, dashed?: boolean,
 * ghost?: Numbers}} Series */

const EDGE = { left: 50, right: 14, top: 12, bottom: 38 };
const [BESIDE, DIGIT] = [24, 6.2]; // px of the title and the air beside it, and of a figure

/**
 * `draw({ x, series, at, marks, high })`: `x` rises and is shared; a series has `y`, or `runs` (thin, their
 * median thick), and perhaps `ghost`, what it was before. `at` sets the cursor to a value of x, null takes it
 * away; `marks` are { x or y, name }, one of y perhaps named `below` its line; the axis reaches `high` at
 * least.
 * @param {Object} frame
 * @param {{caption: string, xTitle: string, yTitle: string, logX?: boolean, logY?: boolean, height?: number,
 *   digits?: number, low?: number, high?: number, read?: (index: number|null) => void}} options
 */
export function chart(frame, { caption, xTitle, yTitle, logX = false, logY = false, height = 240, digits = 3,
  low, high, read }) {
  const text = words.chart;
  const grid = h("g", { class: "p-chart-grid" });
  const curves = h("g", {});
  const names = h("g", {}); // of the marks, above the curves that cross them
  const dots = h("g", {});
  const line = h("line", { class: "p-at" });
  const svg = h("svg", { class: "p-chart", height, tabindex: "0", role: "slider", "aria-label": caption,
    "aria-valuemin": 0 },
    grid, curves, names, line, dots);
  const key = h("ul", { class: "p-legend p-chart-key" });
  const pane = h("figure", { class: "p-pane p-pane-chart" }, h("figcaption", {}, caption), svg, key);
  let data = null;
  let width = 0;
  let axes = null;
  let framed = ""; // what the axes were drawn for
  let keyed = ""; // and the key
  let cursor = null; // an index into x
  let settled = null; // where the keyboard or a press left it

  const middle = (s) => s.middle ?? s.y;
  /** The ticks of an axis, each with its name. */
  function named(scale, most) {
    const values = ticks(scale, most);
    const step = values.length > 1 && !scale.log ? values[1] - values[0] : undefined;
    return values.map((v) => /** @type {[number, string]} */ ([v, tickName(v, step)]));
  }
  function measure() {
    const ys = data.series.flatMap((s) => [...(s.runs ?? [s.y]), ...(s.ghost ? [s.ghost] : [])]);
    const fitting = (list, log) => extent(log ? Float64Array.from(list).map((v) => (v > 0 ? v : NaN)) : list);
    const along = fitting(data.x, logX);
    const up = ys.map((y) => fitting(y, logY)).reduce((all, one) =>
      ({ low: Math.min(all.low, one.low), high: Math.max(all.high, one.high) }),
        { low: Infinity, high: -Infinity });
    const [bottom, top] = [Math.min(low ?? Infinity, up.low),
      Math.max(data.high ?? high ?? -Infinity, up.high)];
    const air = logY ? 0 : 0.04 * (top - bottom || 0);
    const x = makeScale(along.low, along.high, logX);
    const y = makeScale(low === undefined ? bottom - air : bottom, high === undefined ? top + air : top,
      logY);
    const rows = named(y, Math.max(2, Math.floor(height / 44)));
    // Beside the axis stands its title, beside that the longest of its numbers.
    const left = Math.max(EDGE.left, ...rows.map(([, name]) => BESIDE + DIGIT * name.length));
    const px = (v) => (x.fits(v) ? left + x.share(v) * (width - left - EDGE.right) : NaN);
    const py = (v) => (y.fits(v) ? height - EDGE.bottom - y.share(v) * (height - EDGE.top - EDGE.bottom)
      : NaN);
    return { x, y, px, py, rows, left };
  }
  function paintAxes() {
    const { x, y, px, py, rows, left } = axes;
    const wanted = JSON.stringify([width, [x, y].map(({ low, high, log }) => [low, high, log]), data.marks]);
    if (wanted === framed) return;
    framed = wanted;
    const [right, bottom] = [width - EDGE.right, height - EDGE.bottom];
    const columns = named(x, Math.max(2, Math.floor((width - 60) / 70)));
    grid.replaceChildren(
      ...rows.flatMap(([v, name]) => [
        h("line", { class: "p-grid", x1: left, x2: right, y1: py(v), y2: py(v) }),
        h("text", { x: left - 7, y: py(v) + 4, "text-anchor": "end", "data-tick": "y", "data-value": v },
          name),
      ]),
      ...columns.flatMap(([v, name]) => [
        h("line", { class: "p-tick", x1: px(v), x2: px(v), y1: bottom, y2: bottom + 4 }),
        h("text", { x: px(v), y: bottom + 17, "text-anchor": "middle", "data-tick": "x", "data-value": v },
          name),
      ]),
      h("line", { class: "p-base", x1: left, x2: right, y1: bottom, y2: bottom }),
      h("text", { x: (left + right) / 2, y: height - 3, "text-anchor": "middle", class: "p-axis" },
        xTitle),
      h("text", { transform: `translate(11 ${(bottom + EDGE.top) / 2}) rotate(-90)`, "text-anchor": "middle",
        class: "p-axis" }, yTitle),
      ...(data.marks ?? []).map((m) => h("line", { class: "p-mark", ...(m.y === undefined
        ? { x1: px(m.x), x2: px(m.x), y1: EDGE.top, y2: bottom }
        : { x1: left, x2: right, y1: py(m.y), y2: py(m.y) }) })));
  }
  function paintNames() {
    const { px, py, left } = axes;
    const { marks = [] } = data;
    const room = { left, right: width - EDGE.right, top: EDGE.top, bottom: height - EDGE.bottom };
    const drawn = ({ ghost, runs = [], ...s }) => [...(ghost ? [ghost] : []), ...runs, middle(s)];
    const lines = marks.length ? data.series.flatMap(drawn)
      .map((y) => Array.from(y, (v, n) => [px(data.x[n]), py(v)])) : [];
    const at = (m) => (m.y === undefined ? { x: px(m.x) } : { y: py(m.y), below: m.below });
    const places = placed(marks.map((m) => ({ name: m.name, ...at(m) })), room, lines);
    names.replaceChildren(...marks.map(({ name }, n) =>
      h("text", { class: "p-mark-name", ...places[n] }, name)));
  }
  function paint() {
    if (!data || !width) return;
    axes = measure();
    give(svg, { viewBox: `0 0 ${width} ${height}` });
    paintAxes();
    paintNames();
    const { px, py } = axes;
    const path = (s, y, kind) => {
      const { d, alone } = thread({ x: data.x, y }, px, py);
      return h("g", { class: `p-curve p-curve-${kind}`, "data-role": s.role, "data-name": s.name },
        h("path", { d, "stroke-dasharray": s.dashed ? "6 4" : null }),
          ...alone.map(([cx, cy]) => h("circle", { cx, cy, r: 2 })));
    };
    curves.replaceChildren(...data.series.flatMap((s) => [
      ...(s.ghost ? [path(s, s.ghost, "ghost")] : []),
      ...(s.runs ?? []).map((y) => path(s, y, "run")),
      path(s, middle(s), "line")]));
    point();
  }
  /** The key: a line and a name for each curve, and room for its number. */
  function name() {
    const wanted = JSON.stringify(data.series.map((s) => [s.role, s.name, Boolean(s.dashed)]));
    if (wanted === keyed) return;
    keyed = wanted;
    key.replaceChildren(...data.series.map((s) => h("li", { "data-role": s.role },
      h("svg", { class: "p-swatch", width: 18, height: 8, "aria-hidden": "true" },
        h("path", { d: "M0 4H18", "stroke-dasharray": s.dashed ? "5 3" : null })),
      s.name, h("b", {}))));
  }
  /** The cursor: a line, a dot on each curve, and the numbers beside the names. */
  const drawer = oncePerFrame(frame.guarded(point));
  function point() {
    if (!axes) return;
    const x = cursor === null ? NaN : axes.px(data.x[cursor]);
    const on = Number.isFinite(x);
    line.toggleAttribute("hidden", !on);
    const ends = on ? { x1: x, x2: x, y1: EDGE.top, y2: height - EDGE.bottom } : {};
    for (const [name, v] of Object.entries(ends)) line.setAttribute(name, String(v));
    const places = data.series.map((s) => ({ s, y: on ? axes.py(middle(s)[cursor]) : NaN }))
      .filter(({ y }) => Number.isFinite(y));
    dots.replaceChildren(...places.map(({ s, y }) =>
      h("circle", { class: "p-dot", "data-role": s.role, "data-name": s.name, cx: x, cy: y, r: 4 })));
    [...key.children].forEach((entry, n) => {
      setText(entry.lastChild, on ? ` ${format(middle(data.series[n])[cursor], digits)}` : "");
    });
    svg.setAttribute("aria-valuenow", String(cursor ?? 0));
    svg.setAttribute("aria-valuetext", cursor === null ? text.start
      : text.at(xTitle, format(data.x[cursor], digits),
      data.series.map((s) => [s.name, format(middle(s)[cursor], digits)])));
  }
  function move(index) {
    const next = index === null || !data?.x.length ? null : Math.min(data.x.length - 1, Math.max(0, index));
    if (next === cursor) return;
    cursor = next;
    drawer.ask();
    read?.(cursor);
  }
  const under = (event) => {
    const box = svg.getBoundingClientRect();
    const share = (event.clientX - box.left - axes.left) / (width - axes.left - EDGE.right);
    return nearest(data.x, axes.x.invert(Math.min(1, Math.max(0, share))));
  };
  svg.addEventListener("pointermove", (event) => { if (axes && data.x.length) move(under(event)); });
  svg.addEventListener("pointerleave", () => move(settled));
  svg.addEventListener("click", (event) => { if (axes && data.x.length) move(settled = under(event)); });
  svg.addEventListener("keydown", (event) => {
    if (!axes || !data?.x.length || event.ctrlKey || event.metaKey || event.altKey) return;
    // One press is one point, or one pixel where there are more points than pixels.
    const one = Math.max(1, Math.round(data.x.length / Math.max(1, width - axes.left - EDGE.right)));
    const from = cursor ?? -one;
    const to = { ArrowRight: from + one, ArrowUp: from + one, ArrowLeft: from - one, ArrowDown: from - one,
      PageUp: from + 10 * one, PageDown: from - 10 * one, Home: 0, End: data.x.length - 1,
        Escape: null }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    move(to);
    settled = cursor;
  });
  frame.onWidth(svg, (now) => { width = now; paint(); });
  frame.onDispose(drawer.cancel);
  frame.table(caption, () => data && inTable(data, xTitle, middle));
  return {
    pane,
    /** Draw curves; `null` puts the chart away, out of the page and out of the table view. */
    draw(next) {
      pane.hidden = !next;
      if (!next) {
        data = null;
        cursor = settled = null;
        return;
      }
      data = { ...next, series: next.series.map((s) => (s.runs ? { ...s, middle: median(s.runs) } : s)) };
      if (data.at !== undefined) cursor = settled = data.at === null ? null : nearest(data.x, data.at);
      if (cursor >= data.x.length) cursor = settled = null;
      svg.setAttribute("aria-valuemax", String(Math.max(0, data.x.length - 1)));
      svg.setAttribute("aria-description", text.size(data.series.length, data.x.length));
      name();
      paint();
    },
  };
}

const ROWS = 200;

/** The numbers as a table: every point, or of very many as many as can be read, evenly spread. */
function inTable({ x, series }, xTitle, middle) {
  const n = x.length;
  const places = Array.from(x).every(Number.isInteger) ? 0 : 3; // a step is counted, 5 and not 5.000
  const picks = Array.from({ length: Math.min(n, ROWS) },
    (_, i) => (n <= ROWS ? i : Math.round((i * (n - 1)) / (ROWS - 1))));
  return {
    head: [xTitle, ...series.map((s) => s.name)],
    rows: picks.map((i) => [format(x[i], places), ...series.map((s) => format(middle(s)[i], 4))]),
  };
}
