/** A whole beam search as a tree: a row for each step, with every candidate that was kept or finished. */
import { h } from "../kit/kit.js";
import { logged } from "./beam_step.js";

/** @typedef {import("../twin/beam.js").Step} Step
 *  @typedef {{ids: number[], total: number, from: number, ended: boolean, became: string, x: number}} Node a
 *   candidate, its parent's place in the row above, what became of it, and where it stands, from 0 to 1 */

const WIDE = { kept: 5, ended: 2 }; // a word's room, and that of the mark of an end

/** @param {import("../twin/beam.js").Extended[]} candidates */
const staying = (candidates) => candidates.filter(({ fate }) => fate !== "dropped");

/** The rows of the tree up to a step. @param {Step[]} steps @param {number} step @returns {Node[][]} */
function grown(steps, step) {
  /** @type {Node[][]} */
  const rows = [[{ ids: steps[0].open[0].ids, total: 0, from: -1, ended: false, became: "on", x: 0.5 }]];
  steps.slice(0, step + 1).forEach(({ open, candidates, closed }, n) => {
    const above = rows[n].flatMap(({ ended }, place) => (ended ? [] : [place])); // where the open ones stand
    const parents = n < step && new Set(staying(steps[n + 1].candidates).map(({ from }) => from));
    let [kept, at] = [0, 0];
    const row = staying(candidates);
    const wide = row.reduce((sum, { fate }) => sum + WIDE[fate], 0);
    rows.push(row.map(({ from, id, total, fate }) => {
      const ended = fate === "ended";
      const place = ended ? -1 : kept++;
      at += WIDE[fate];
      return { ids: [...open[from].ids, id], total, from: above[from], ended, x: (at - WIDE[fate] / 2) / wide,
        became: ended ? "ended" : closed ? "left" : !parents ? "open" : parents.has(place) ? "on" : "stuck" };
    }));
  });
  return rows;
}

/**
 * @param {Object} view
 * @param {{say: Record<string, any>, word: (id: number) => string}} options
 */
export function beamTree(view, { say, word }) {
  const svg = h("svg", { class: "p-branches", "aria-hidden": "true", preserveAspectRatio: "none" });
  const list = h("ol", { class: "p-tree-rows" });
  const pane = h("figure", { class: "p-pane p-tree" }, h("figcaption", {}, say.tree),
    h("div", { class: "p-tree-stage" }, svg, list));
  /** @type {Node[][]} */
  let rows = [];
  const text = (ids) => ids.slice(1).map(word).join(" ") || word(ids[0]);

  view.table(say.tree, () => rows.length && { head: say.treeHeads,
    rows: rows.slice(1).flatMap((row, n) => row.map(({ ids, total, became }) =>
      [n + 1, text(ids), logged(total), say.became[became]])) });
  return {
    pane,
    /** @param {{steps: Step[], step: number, lead: number[]}|null} search `lead`: the best so far, from its
     *  first token on */
    draw(search) {
      pane.hidden = !search;
      rows = search ? grown(search.steps, search.step) : [];
      if (!search) return;
      const leads = ({ ids }) => ids.every((id, n) => id === search.lead[n]);
      const marks = (one) => ({ "data-became": one.became, "data-lead": leads(one) });
      list.replaceChildren(...rows.map((row) => h("li", { style: `grid-template-columns: ${
        row.map(({ ended }) => `minmax(0, ${WIDE[ended ? "ended" : "kept"]}fr)`).join(" ")}` },
      ...row.map((one) => {
        const { ids, total, ended, became } = one;
        const told = ids.length > 1 ? say.node(text(ids), logged(total), say.became[became]) : null;
        return h("span", { ...marks(one), title: told }, h("i", {}, ended ? "■" : word(ids.at(-1))),
          ended || ids.length === 1 ? null : h("b", {}, logged(total)));
      }))));
      // Rows to come have their room already: a step moves nothing on the page.
      pane.style.setProperty("--tree-rows", String(search.steps.length + 1));
      svg.setAttribute("viewBox", `0 0 100 ${rows.length}`);
      svg.style.height = `${(100 * rows.length) / (search.steps.length + 1)}%`;
      svg.replaceChildren(...rows.slice(1).flatMap((row, n) => row.map((one) => {
        const [x, to] = [rows[n][one.from].x, one.x].map((v) => (100 * v).toFixed(2));
        const d = `M${x} ${n + 0.84}C${x} ${n + 1.05} ${to} ${n + 0.95} ${to} ${n + 1.16}`;
        return h("path", { ...marks(one), d });
      })));
    },
  };
}
