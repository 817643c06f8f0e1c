/** A table whose columns sort: up, down, and back to the order it came in. */
import { format, give, h, setText } from "./dom.js";
import { keyed } from "./keyed.js";
import { words } from "./words.js";

/**
 * @typedef {{key: string, title: string, digits?: number, show?: (value: any, row: any) => string,
 *   under?: (node: HTMLElement, row: any) => void}} Column a number is set in `digits`; `under` draws into a
 * box below it
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
 * `draw(rows)`, objects by the columns' keys. The first column names the row: a button, where rows are to be
 * picked, pressed where it is `picked`. `order` is told the column (or "") and the way that a press asks for,
 * and gives them back by `sort`; without it the table keeps its order itself.
 * @param {Object} frame
 * @param {{caption: string, columns: Column[], rowKey?: (row: any) => string|number, pick?: (row: any) =>
 *   void, picked?: (row: any) => boolean, order?: (key: string, down: boolean) => void}} options
 */
export function sortable(frame, options) {
  const { caption, columns, rowKey = (row) => row[columns[0].key], pick, order } = options;
  const { picked = () => false } = options;
  const text = words.table;
  const arrows = columns.map(() => h("i", { "aria-hidden": "true" }));
  const heads = columns.map(({ title }, n) => h("th", { scope: "col", role: "columnheader" },
    h("button", { type: "button", class: "p-sort", onclick: () => press(n) }, title, arrows[n])));
  const body = h("tbody", {});
  const name = `p-caption-${++serial}`;
  const voice = h("span", { class: "p-hidden", role: "status" });
  const title = h("caption", { id: name }, caption);
  const table = h("table", { class: "p-sortable", role: "table" }, title,
    h("thead", {}, h("tr", {}, ...heads)), body);
  const pane = h("div", { class: "p-pane p-pane-table p-scroll", tabindex: "0", role: "group",
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
    make: () => h("tr", { role: "row" }, ...columns.map(({ title, under }, n) => (n
      ? h("td", { role: "cell", "data-title": title }, h("span", {}), under ? h("div", {}) : null)
      : h("th", { scope: "row", role: "rowheader" },
        pick ? h("button", { type: "button", class: "p-pick" }) : h("span", {}))))),
    update(tr, row) {
      columns.forEach((column, n) => {
        const [cell, text] = [tr.children[n], tr.children[n].firstChild];
        setText(text, shown(column, row));
        column.under?.(cell.lastChild, row);
        cell.classList.toggle("p-left", wordy(column));
      });
      if (!pick) return;
      const button = tr.firstChild.firstChild;
      button.onclick = () => pick(row);
      give(button, { "aria-pressed": String(picked(row)) });
    },
  });
  const wordy = ({ key }) => !rows.some((row) => typeof row[key] === "number");
  /** Where the table is wider than its place, each row becomes a card: nothing scrolls sideways. */
  function fit() {
    table.classList.remove("p-cards");
    table.classList.toggle("p-cards", table.scrollWidth > pane.clientWidth);
  }
  function paint() {
    const sorted = by < 0 ? rows : [...rows].sort((a, b) =>
      compare(a[columns[by].key], b[columns[by].key], down));
    heads.forEach((head, n) => {
      if (rows.length) head.className = wordy(columns[n]) ? "p-left" : "p-right";
      head.setAttribute("aria-sort", n !== by ? "none" : down ? "descending" : "ascending");
      arrows[n].textContent = n !== by ? "" : down ? " ↓" : " ↑";
    });
    list.draw(sorted);
  }
  /** Numbers begin with the largest, words with A; the third press brings the first order back. */
  function press(n) {
    const numbers = !wordy(columns[n]);
    if (by !== n) [by, down] = [n, numbers];
    else if (down === numbers) down = !numbers;
    else [by, down] = [-1, false];
    if (order) order(columns[by]?.key ?? "", down);
    else paint();
    voice.textContent = by < 0 ? text.unsorted : text[numbers ? "sorted" : "spelt"](columns[n].title, down);
  }
  frame.onWidth(pane, fit);
  return {
    pane,
    /** @param {any[]} next */
    draw(next) { rows = next; paint(); fit(); },
    /** The order of the next draw. @param {string} key @param {boolean} [falling] */
    sort(key, falling = false) {
      by = columns.findIndex((column) => column.key === key);
      down = falling;
    },
    /** The keys of the rows, as they stand. */
    names: () => [...list.keys()],
    /** @param {string} text */
    title(text) { setText(title, text); },
  };
}
