/** What a choice became: a row for each word, a column for each year, and the models in their cells. */
import { h } from "../kit/kit.js";

const ROLES = ["query", "value", "key", "output", "score"];

/** The words of a column in the order of the years, blanks last: [word, role, rows]. */
function byWord(rows, column) {
  const found = new Map();
  for (const row of rows) found.set(row[column], [...(found.get(row[column]) ?? []), row]);
  const mean = (list) => list.reduce((sum, { year }) => sum + year, 0) / list.length;
  const order = [...found].sort(([a, some], [b, others]) => Number(a === null) - Number(b === null)
    || mean(some) - mean(others) || String(a).localeCompare(String(b)));
  return order.map(([word, list], n) => ({ word, role: word === null ? "none" : ROLES[n % ROLES.length],
    list }));
}

/**
 * `draw(rows, column)`; a press on a model tells its name.
 * @param {{words: Record<string, any>, pick: (name: string) => void, picked: (name: string) => boolean}}
 *   options
 */
export function yearBoard({ words, pick, picked }) {
  const caption = h("caption", {});
  const [head, body] = [h("thead", {}), h("tbody", {})];
  const table = h("table", { class: "p-years", role: "table" }, caption, head, body);
  const pane = h("div", { class: "p-pane p-pane-years" }, table);
  let drawn = "";
  const chip = (row, role) => h("button", { type: "button", class: "p-model", "data-role": role,
    "data-name": row.name, onclick: () => pick(row.name) }, words.name(row));
  return {
    pane,
    draw(rows, column) {
      const groups = byWord(rows, column);
      const years = [...new Set(rows.map(({ year }) => year))].sort((a, b) => a - b);
      const key = JSON.stringify([column, groups.map(({ word, list }) => [word, list.map(words.name)])]);
      if (key !== drawn) {
        drawn = key;
        caption.textContent = words.caption(column);
        head.replaceChildren(h("tr", { role: "row" }, h("th", { scope: "col", role: "columnheader" },
          words.columns[column]), ...years.map((year) =>
          h("th", { scope: "col", role: "columnheader" }, String(year)))));
        body.replaceChildren(...groups.map(({ word, role, list }) => h("tr", { role: "row" },
          h("th", { scope: "row", role: "rowheader", "data-role": role }, words.count(word, list.length)),
          ...years.map((year) => h("td", { role: "cell", "data-title": String(year) },
            ...list.filter((row) => row.year === year).map((row) => chip(row, role)))))));
      }
      for (const node of body.querySelectorAll(".p-model")) {
        node.setAttribute("aria-pressed", String(picked(node.getAttribute("data-name"))));
      }
    },
  };
}
