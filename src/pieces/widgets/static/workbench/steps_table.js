/** The steps as a table: each row a shape, its parameters and its operations, the last row their sums. */
import { h } from "../kit/kit.js";
import { steps } from "./steps.js";
import { giga, short, whole } from "../kit/parts.js";

export function stepsTable(view, words, { point, press }) {
  const body = h("tbody", {});
  const note = h("p", { class: "p-bench-small" });
  const table = h("table", { class: "p-bench-steps", role: "table" }, h("thead", {},
    h("tr", { role: "row" },
      ...words.heads.map((title) => h("th", { scope: "col", role: "columnheader" }, title)))), body);
  const part = (event) => event.target.closest?.("[data-part]")?.getAttribute("data-part") ?? null;
  body.addEventListener("pointerover", (event) => point(part(event)));
  body.addEventListener("pointerleave", () => point(null));
  body.addEventListener("click", (event) => { if (part(event)) press(part(event)); });
  const pane = h("figure", { class: "p-pane p-bench-table" }, h("figcaption", {}, words.steps), table, note);
  let rows = [];
  const shape = (list) => `[${list.join(", ")}]`; // as Python writes it
  view.table(words.steps, () => rows.length && { head: words.heads,
    rows: rows.map((row) => [words.step[row.name], shape(row.shape), whole(row.parameters),
      whole(row.operations)]) });
  return {
    pane,
    draw(s) {
      rows = steps(s);
      const cells = (name, middle, parameters, operations, more) => h("tr", { role: "row", ...more },
        h("th", { scope: "row", role: "rowheader" }, name),
        ...[middle, parameters, operations].map((n) => h("td", { role: "cell" }, n)));
      const sum = (key) => rows.reduce((all, row) => all + row[key], 0);
      const shown = (n, how) => (n ? how(n) : "–");
      body.replaceChildren(...rows.map((row) => cells(words.step[row.name], shape(row.shape),
        shown(row.parameters, short), shown(row.operations, giga), { "data-part": row.part })),
      cells(words.all, "", short(sum("parameters")), giga(sum("operations")), { class: "p-bench-sum" }));
      note.textContent = words.layers(s.n_layers);
    },
  };
}
