/** Two models side by side: where their parameters are, and in what they differ. */
import { h, setText } from "../kit/kit.js";
import { parts, short, whole } from "../kit/parts.js";
import { COLUMNS, SIZES } from "./models.js";

export const ROLES = { embedding: "query", positions: "key", attention: "weight", "feed-forward": "value",
  norms: "residual", head: "output" };

/** The parts of a model, each with its colour. */
export const partsOf = ({ parts: counts }) => Object.entries(counts).map(([name, value]) =>
  ({ name, value, role: ROLES[name] ?? "score" }));

/** How far a count is from its headline, in per cent, with its sign. */
export const off = ({ total, size }) => {
  const percent = size ? (100 * (total - size)) / size : 0;
  return `${percent < 0 ? "−" : "+"}${Math.abs(percent).toFixed(1)} %`;
};

/** What is told of a model, a line each: [key, text]. */
const lines = (one, source) => [["year", String(one.year)], ["category", one.category],
  ["size", short(one.size)], ["total", short(one.total)], ["off", off(one)],
  ...COLUMNS.map((name) => [name, one[source][name] ?? "–"]),
  ...SIZES.map((name) => [name, whole(one.sizes[name])]),
  ["wide", whole(one.sizes.n_heads * one.sizes.head_dim)]];

/** @param {Object} view @param {Record<string, any>} words */
export function comparison(view, words) {
  const bars = parts(view, { caption: words.parts, unit: words.unit });
  const head = h("tr", {});
  const body = h("tbody", {});
  const table = h("table", { class: "p-beside" }, h("caption", {}, words.beside), h("thead", {}, head), body);
  const sources = h("div", { class: "p-told" });
  const fold = h("details", { class: "p-details p-origins" }, h("summary", {}, words.sources), sources);
  const note = ([column, text]) => h("li", {}, `${words.names[column] ?? column}: ${text}`);
  const cited = ([fields, citation, assumed]) => h("li", {}, `${fields.join(", ")}: ${citation}`
    + `${assumed ? words.assumed : ""}`);
  const told = (one) => h("section", {},
    h("p", { class: "p-told-name" }, words.name(one)), h("p", {}, words.appeared(one)),
    one.beyond ? h("p", {}, words.beyond(off(one), one.beyond)) : null,
    h("ul", {}, ...one.notes.map(note), ...one.told.map(cited)));
  let drawn = "";
  return {
    nodes: [bars.pane, table, fold],
    draw(pair, source) {
      const key = JSON.stringify([pair.map(({ name }) => name), source]);
      if (key === drawn) return;
      drawn = key;
      bars.draw(pair.map((one) => ({ name: words.name(one), parts: partsOf(one) })));
      const [left, right] = pair.map((one) => lines(one, source));
      head.replaceChildren(h("td", {}), ...pair.map((one) => h("th", { scope: "col" }, words.name(one))),
        h("th", { scope: "col", class: "p-hidden-head" }, words.differs));
      body.replaceChildren(...(left ?? []).map(([name, text], n) => {
        const other = right?.[n][1] ?? text;
        return h("tr", { class: text === other ? "" : "p-differs", "data-line": name },
          h("th", { scope: "row" }, words.names[name]), h("td", {}, text), h("td", {}, other),
          h("td", {}, text === other ? "" : "≠"));
      }));
      sources.replaceChildren(...pair.map(told));
      setText(fold.firstElementChild, words.sources);
    },
  };
}
