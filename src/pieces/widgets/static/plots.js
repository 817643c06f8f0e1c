/** Small plots: bars in rows and lines on axes. Colours come from the style sheet, by role. */
import { format, h } from "./dom.js";

/**
 * Rows of horizontal bars, one column of bars for each measure.
 * `draw({ names, series: [{ values, top?, digits? }], focus })`; a column is signed when its `low` is below 0.
 * @param {{caption: string, columns: {title: string, role: string, signed?: boolean}[]}} options
 */
export function bars(frame, { caption, columns, nameTitle = "key", digits = 2 }) {
  const head = h("div", { class: "p-bar-row p-bar-head", role: "row" }, h("span", { role: "columnheader" }, nameTitle),
    ...columns.map(({ title }) => h("span", { role: "columnheader" }, title)));
  const body = h("div", { class: "p-bars", role: "table", "aria-label": caption, style: `--columns:${columns.length}` }, head);
  const pane = h("figure", { class: "p-pane p-pane-bars" }, h("figcaption", {}, caption), body);
  const rows = [];
  const makeRow = () => {
    const name = h("span", { class: "p-bar-name", role: "rowheader" });
    const cells = columns.map(({ role, signed }) => {
      const fill = h("i", { "data-role": role });
      const text = h("b", {});
      return { fill, text, box: h("span", { class: signed ? "p-bar p-bar-signed" : "p-bar", role: "cell" }, fill, text) };
    });
    return { name, cells, row: h("div", { class: "p-bar-row", role: "row" }, name, ...cells.map((c) => c.box)) };
  };
  let data = null;
  frame.table(caption, () => data && {
    head: [nameTitle, ...columns.map((c) => c.title)],
    rows: data.names.map((name, i) => [name, ...data.series.map((s) => format(s.values[i], 4))]),
  });
  return {
    pane,
    draw(next) {
      data = next;
      while (rows.length > next.names.length) rows.pop().row.remove();
      while (rows.length < next.names.length) {
        rows.push(makeRow());
        body.append(rows.at(-1).row);
      }
      next.series.forEach(({ values, top }, c) => {
        const most = top ?? Math.max(1e-9, ...values.map(Math.abs));
        values.forEach((value, i) => {
          const { fill, text } = rows[i].cells[c];
          const share = Math.min(1, Math.abs(value) / most) || 0;
          fill.style.transform = `scaleX(${value < 0 ? -share : share})`;
          text.textContent = format(value, digits);
        });
      });
      rows.forEach((r, i) => {
        r.name.textContent = next.names[i];
        r.row.classList.toggle("p-focus", next.focus === i);
      });
    },
  };
}

/**
 * Lines over one axis. `draw({ series: [{ name, role, points: [[x, y]…], dashed? }], xTicks, yTicks, at? })`;
 * `at` is a position on the x axis to mark.
 * @param {{caption: string, xTitle: string, yTitle: string, x?: (v: number) => number, y?: (v: number) => number}} options
 * `x` and `y` map a value before it is placed (a logarithm, for instance).
 */
export function lines(frame, { caption, xTitle, yTitle, height = 220, x = (v) => v, y = (v) => v }) {
  const svg = h("svg", { class: "p-lines", role: "img", "aria-label": caption, height });
  const pane = h("figure", { class: "p-pane" }, h("figcaption", {}, caption), svg);
  const edge = { left: 44, right: 10, top: 10, bottom: 36 };
  let data = null;
  let width = 0;
  function paint() {
    if (!data || !width) return;
    const points = data.series.flatMap((s) => s.points);
    const xs = [...points.map((p) => x(p[0])), ...data.xTicks.map((t) => x(t[0]))];
    const ys = [...points.map((p) => y(p[1])), ...data.yTicks.map((t) => y(t[0]))];
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const px = (v) => edge.left + ((x(v) - x0) / (x1 - x0 || 1)) * (width - edge.left - edge.right);
    const py = (v) => height - edge.bottom - ((y(v) - y0) / (y1 - y0 || 1)) * (height - edge.top - edge.bottom);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren(
      ...data.yTicks.flatMap(([v, name]) => [
        h("line", { class: "p-grid", x1: edge.left, x2: width - edge.right, y1: py(v), y2: py(v) }),
        h("text", { x: edge.left - 6, y: py(v) + 4, "text-anchor": "end" }, name),
      ]),
      ...data.xTicks.map(([v, name]) => h("text", { x: px(v), y: height - edge.bottom + 16, "text-anchor": "middle" }, name)),
      h("text", { x: (edge.left + width - edge.right) / 2, y: height - 4, "text-anchor": "middle", class: "p-axis" }, xTitle),
      h("text", { transform: `translate(11 ${(height - edge.bottom + edge.top) / 2}) rotate(-90)`, "text-anchor": "middle", class: "p-axis" }, yTitle),
      data.at == null ? "" : h("line", { class: "p-at", x1: px(data.at), x2: px(data.at), y1: edge.top, y2: height - edge.bottom }),
      ...data.series.map((s) => h("path", {
        class: "p-line", "data-role": s.role, "stroke-dasharray": s.dashed ? "5 4" : null,
        d: s.points.map(([a, b], i) => `${i ? "L" : "M"}${px(a).toFixed(1)} ${py(b).toFixed(1)}`).join(""),
      })),
      ...data.series.filter((s) => s.dot != null).map((s) =>
        h("circle", { class: "p-dot", "data-role": s.role, cx: px(s.dot[0]), cy: py(s.dot[1]), r: 5 })));
  }
  frame.onWidth(pane, (now) => { width = now; paint(); });
  frame.table(caption, () => data && {
    head: [xTitle, ...data.series.map((s) => s.name)],
    rows: data.series[0].points.map(([a], i) => [format(a, 3), ...data.series.map((s) => format(s.points[i]?.[1], 4))]),
  });
  return { pane, draw(next) { data = next; paint(); } };
}
