/** The trained variants: a row each, a dot for each seed, and a sentence about the one that stands. */
import { h, setText } from "../kit/kit.js";
import { signature } from "./bench.js";

const mean = (list) => list.reduce((sum, x) => sum + x, 0) / list.length;
const spread = (list) => Math.max(...list) - Math.min(...list);

export function trainedBoard(view, words, { take }) {
  const list = h("div", { class: "p-bench-variants" });
  const sentence = h("p", { class: "p-bench-trained", role: "status" });
  const bound = h("p", { class: "p-bench-small" });
  const pane = h("figure", { class: "p-pane p-bench-race" }, h("figcaption", {}, words.trained), sentence,
    list, bound);
  let rows = [];
  view.table(words.trained, () => rows.length && { head: words.trainedHead,
    rows: rows.map(({ name, above }) => [words.variant(name), words.mean(mean(above)),
      above.map(words.mean).join(", ")]) });
  let shown = "";
  function build(measured) {
    rows = [...measured.variants].sort((a, b) => mean(a.above) - mean(b.above));
    const most = Math.max(...rows.flatMap(({ above }) => above), 1e-9);
    list.replaceChildren(...rows.map(({ name, swap, above }) => h("button", { type: "button",
      class: "p-bench-variant", "data-name": name,
      "aria-label": words.row(words.variant(name), mean(above), above), onclick: () => take(swap) },
    h("span", {}, words.variant(name)),
    h("span", { class: "p-bench-track" },
      ...above.map((x) => h("i", { style: `left: ${(100 * x) / most}%` }))),
    h("b", {}, words.mean(mean(above))))));
  }
  /** The variant's own words: how far it ends, and whether that differs from the baseline. */
  function told(one, baseline) {
    const { beside } = words;
    const first = words.is(mean(one.above), one.above, one.rate);
    if (one === baseline || !baseline) return first + beside.same;
    const more = mean(one.above) - mean(baseline.above);
    const most = Math.max(spread(one.above), spread(baseline.above));
    if (Math.abs(more) <= most) return first + beside.none(most);
    return first + (more < 0 ? beside.near(-more) : beside.far(more));
  }
  return {
    pane,
    /** @param {{base: Object, steps: number, variants: any[]}} measured @param {Object} s what is built
     *  @param {(swap: Object) => string} built the signature of a variant @returns {number[]|null} */
    draw(measured, s, built) {
      const key = JSON.stringify(measured);
      if (key !== shown) { shown = key; build(measured); }
      const own = signature(s);
      const one = rows.find(({ swap }) => built(swap) === own);
      const baseline = rows.find(({ swap }) => !Object.keys(swap).length);
      for (const node of list.children) {
        node.setAttribute("aria-pressed", String(node.getAttribute("data-name") === one?.name));
      }
      const sees = s.mask === "full" || s.mask === "prefix";
      const next = one ? told(one, baseline) : words.unmeasured + (sees ? words.cheats : "");
      setText(sentence, next);
      bound.textContent = words.bound(measured.steps);
      return one ? one.above : null;
    },
  };
}
