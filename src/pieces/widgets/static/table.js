/** A table whose columns sort: up, down, and back to the order it came in. */
import { format, h } from "./dom.js";
import { keyed } from "./keyed.js";
import { words } from "./words.js";

/**
 * @typedef {{key: string, title: string, digits?: number, show?: (value: any, row: any) => string}}
 * Column a number is set in `digits`
 */

/** Numbers by size, words by the alphabet; what is no value comes last, whichever way. */
export function compare(a, b, down) {
  const missing = (x) => x === null || x === undefined || x === "" || Number.isNaN(x);
  if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
  const order = typeof a === "number" && typeof b === "number" ? (a < b ? -1 : Number(a > b))
    : String(a).localeCompare(String(b), undefined, { numeric: true, sensitivity: "base" });
  return down ? -order : order;
}

let serial = 0;

/**
 * `draw(rows)`, objects by the columns' keys. The first column names the row.
 * @param {Object} frame
 * @param {{caption: string, columns: Column[], rowKey?: (row: any) => string|number, pick?: (row: any) =>
 *   void}} options
 */
export function sortable(frame, { caption, columns, rowKey = (row) => row[columns[0].key], pick }) {
  const text = words.table;
  const arrows = columns.map(() => h("i", { "aria-hidden": "true" }));
  const heads = columns.map(({ title }, n) => h("th", { scope: "col", role: "columnheader" },
    h("button", { type: "button", class: "p-sort", onclick: () => press(n) }, title, arrows[n])));
  const body = h("tbody", {});
  const name = `p-caption-${++serial}`;
  const voice = h("span", { class: "p-hidden", role: "status" });
  const table = h("table", { class: "p-sortable", role: "table" }, h("caption", { id: name }, caption),
    h("thead", {}, h("tr", {}, ...heads)), body);
  const pane = h("div", { class: "p-pane p-pane-table p-scroll", tabindex: "0", role: "region",
    "aria-labelledby": name }, table, voice);
  /** @param {Column} column */
  const shown = ({ key, digits = 2, show }, row) => {
    const value = row[key];
    if (show) return show(value, row);
    if (typeof value !== "number") return String(value ?? "–");
    return Number.isInteger(value) ? value.toLocaleString("en").replace("-", "−") : format(value, digits);
  };
  /** @type {any[]} */
  let rows = [];
  let by = -1;
  let down = false;

  const list = keyed(body, {
    key: rowKey, moves: true,
    make: () => h("tr", { role: "row" }, ...columns.map(({ title }, n) => (n
      ? h("td", { role: "cell", "data-title": title }) : h("th", { scope: "row", role: "rowheader" })))),
    update(tr, row) {
      columns.forEach((column, n) => {
        const cell = tr.children[n];
        const now = shown(column, row);
        if (cell.textContent !== now) cell.textContent = now;
        cell.classList.toggle("p-left", wordy(column));
      });
      tr.onclick = pick ? () => pick(row) : null;
    },
  });
  const wordy = ({ key }) => !rows.some((row) => typeof row[key] === "number");
  /** Where the table is wider than its place, each row becomes a card: nothing scrolls sideways. */
  function fit() {
    table.classList.remove("p-cards");
    table.classList.toggle("p-cards", table.scrollWidth > pane.clientWidth);
  }
  function paint() {
    const order = by < 0 ? rows : [...rows].sort((a, b) =>
      compare(a[columns[by].key], b[columns[by].key], down));
    heads.forEach((head, n) => {
      head.classList.toggle("p-left", wordy(columns[n]));
      head.setAttribute("aria-sort", n !== by ? "none" : down ? "descending" : "ascending");
      arrows[n].textContent = n !== by ? "" : down ? " ↓" : " ↑";
    });
    list.draw(order);
  }
  /** Numbers begin with the largest, words with A; the third press brings the first order back. */
  function press(n) {
    const first = rows.some((row) => typeof row[columns[n].key] === "number");
    if (by !== n) [by, down] = [n, first];
    else if (down === first) down = !first;
    else by = -1;
    paint();
    voice.textContent = by < 0 ? text.unsorted : text.sorted(columns[n].title, down);
  }
  frame.onWidth(pane, fit);
  return {
    pane,
    /** @param {any[]} next */
    draw(next) { rows = next; paint(); fit(); },
    /** @param {string} key @param {boolean} [falling] */
    sort(key, falling = false) {
      by = columns.findIndex((column) => column.key === key);
      down = falling;
      paint();
    },
  };
}
