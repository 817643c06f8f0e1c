/** Rows of horizontal bars. Colours come from the style sheet, by role. */
import { chance, h, setText, writes } from "./dom.js";
import { extent } from "../twin/tensor.js";
import { words } from "./words.js";

/**
 * Rows of horizontal bars, one column of bars for each measure.
 * `draw({ names, series: [{ values, top?, ghost? }], focus })`; a signed column has its zero in the middle.
 * `ghost` are the values before: an outline where each bar ended. What is no number has no bar.
 * @param {Object} frame
 * @param {{caption: string, columns: {title: string, role: string, signed?: boolean}[], nameTitle?: string,
 *   digits?: number, print?: (value: number) => string}} options
 */
export function bars(frame, options) {
  const { caption, columns, nameTitle = words.bars.key, digits = 2 } = options;
  /** Numbers as their column writes them, unless one way is asked for. */
  const write = columns.map(({ role }) => writes(options.print === chance ? "weight" : role));
  const print = (value, c) => options.print?.(value) ?? write[c](value, digits);
  const head = h("div", { class: "p-bar-row p-bar-head", role: "row" },
    h("span", { role: "columnheader" }, nameTitle),
    ...columns.map(({ title }) => h("span", { role: "columnheader" }, title)));
  const body = h("div", { class: "p-bars", role: "table", "aria-label": caption,
    style: `--columns:${columns.length}` }, head);
  const pane = h("figure", { class: "p-pane p-pane-bars" }, h("figcaption", {}, caption), body);
  const rows = [];
  const makeRow = () => {
    const name = h("span", { class: "p-bar-name", role: "rowheader" });
    const cells = columns.map(({ role, signed }) => {
      const fill = h("i", { "data-role": role });
      const was = h("s", { hidden: true });
      const text = h("b", {});
      return { fill, was, text, signed, box: h("span",
        { class: signed ? "p-bar p-bar-signed" : "p-bar", role: "cell", "data-lit": role }, fill, was,
          text) };
    });
    return { name, cells, row: h("div", { class: "p-bar-row", role: "row", "data-key": rows.length }, name,
      ...cells.map((c) => c.box)) };
  };
  let data = null;
  frame.table(caption, () => data && {
    head: [nameTitle, ...columns.map((c) => c.title)],
    rows: data.names.map((name, i) => [name, ...data.series.map((s, c) => write[c](s.values[i], 4))]),
  });
  return {
    pane,
    /** Draw bars; `null` puts them away, out of the page and out of the table view. */
    draw(next) {
      data = next;
      pane.hidden = !next;
      if (!next) return;
      while (rows.length > next.names.length) rows.pop().row.remove();
      while (rows.length < next.names.length) {
        rows.push(makeRow());
        body.append(rows.at(-1).row);
      }
      next.series.forEach(({ values, top, ghost }, c) => {
        const most = top ?? Math.max(1e-9, extent(values).most, ghost ? extent(ghost).most : 0);
        const share = (value) => Math.min(1, Math.max(-1, value / most)) || 0;
        rows.forEach(({ cells }, i) => {
          const { fill, was, text, signed } = cells[c];
          fill.style.transform = `scaleX(${share(values[i])})`;
          setText(text, print(values[i], c));
          was.hidden = !Number.isFinite(ghost?.[i]);
          if (was.hidden) was.removeAttribute("style");
          else was.style.left = `${signed ? 50 + 50 * share(ghost[i]) : 100 * share(ghost[i])}%`;
        });
      });
      rows.forEach((r, i) => {
        setText(r.name, next.names[i]);
        r.row.classList.toggle("p-focus", next.focus === i);
      });
    },
  };
}
