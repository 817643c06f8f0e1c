/** One step of a beam search: the open candidates, how each goes on, and what becomes of that. */
import { h } from "../kit/kit.js";

/** @typedef {import("../twin/beam.js").Step} Step */

/** A sum of log-probabilities, with the digits in which candidates differ. @param {number} total */
export const logged = (total) =>
  (total > -5e-5 ? "0.0000" : total.toFixed(total < -1 ? 2 : 4).replace("-", "−"));

/**
 * @param {Object} view
 * @param {{say: Record<string, any>, word: (id: number) => string}} options
 */
export function beamStep(view, { say, word }) {
  const [open, next] = ["p-open", "p-extended"].map((name) => h("ol", { class: name }));
  const svg = h("svg", { class: "p-branches", "aria-hidden": "true", viewBox: "0 0 100 100",
    preserveAspectRatio: "none" });
  const heads = h("div", { class: "p-beam-heads" }, h("span", {}, say.open), h("span", {}, say.extended));
  const done = h("ol", { class: "p-done" });
  const pane = h("figure", { class: "p-pane p-beam" }, h("figcaption", {}, say.beam), heads,
    h("div", { class: "p-beam-stage" }, open, svg, next), h("p", { class: "p-done-head" }, say.done), done);
  /** @type {Step|null} */
  let step = null;
  const text = (ids) => ids.slice(1).map(word).join(" ") || word(ids[0]);
  const short = (ids) => (ids.length > 3 ? `… ${ids.slice(-2).map(word).join(" ")}` : text(ids));
  const score = ({ total, ids }) => total / (ids.length - 1);
  const become = (fate) => say.fate[step.closed && fate === "kept" ? "open" : fate];

  view.table(say.beam, () => step && { head: say.beamHeads,
    rows: step.candidates.map(({ from, id, total, fate }) =>
      [`${text(step.open[from].ids)} → ${word(id)}`, logged(total), become(fate)]) });
  return {
    pane,
    /** @param {Step|null} now */
    draw(now) {
      step = now;
      pane.hidden = !step;
      if (!step) return;
      const { candidates } = step;
      open.replaceChildren(...step.open.map(({ ids, total }) =>
        h("li", { title: text(ids) }, h("span", {}, short(ids)), h("b", {}, logged(total)))));
      next.replaceChildren(...candidates.map(({ id, total, fate }) =>
        h("li", { "data-fate": fate }, h("span", {}, word(id)), h("b", {}, logged(total)),
          h("em", {}, become(fate)))));
      const at = (n, of) => (100 * (n + 0.5)) / of;
      svg.replaceChildren(...candidates.map(({ from, fate }, n) => {
        const [y, to] = [at(from, step.open.length), at(n, candidates.length)].map((v) => v.toFixed(2));
        return h("path", { "data-fate": fate, "data-from": from, "data-to": n,
          d: `M0 ${y}C50 ${y} 50 ${to} 100 ${to}` });
      }));
      done.replaceChildren(...(step.finished.length ? step.finished.map((one) =>
        h("li", {}, h("span", {}, text(one.ids)), h("b", {},
          say.score(logged(score(one)), logged(one.total), one.ids.length - 1))))
        : [h("li", { class: "p-none" }, say.noneDone)]));
    },
  };
}
