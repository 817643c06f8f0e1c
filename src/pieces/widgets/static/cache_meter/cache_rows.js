/** Five bars on one card: the weights, the cache beside them, and what no longer fits. */
import { h } from "../kit/kit.js";

const CARD = 0.8; // of the picture is the card; in the rest fits what is too much, however much
const share = (x) => `${Math.min(100, Math.max(0, 100 * x))}%`;

/** @typedef {{weights: number, cache: number, memory: number, was: number|null}} Bar in bytes */

/**
 * Where a bar's parts begin and end, as shares of the picture: even up to the card's end, and shortened
 * beyond it, so that more is always longer.
 * @param {Bar} bar
 */
export function placed({ weights, cache, memory, was }) {
  const at = (x) => (x <= memory ? CARD * (x / memory) : 1 - (1 - CARD) * (memory / x));
  const all = weights + cache;
  return { weights: at(Math.min(weights, memory)), inside: at(Math.min(all, memory)), end: at(all),
    card: CARD, was: was === null ? null : at(weights + was) };
}

/**
 * `draw(rows, chosen)`: one row a scheme; hovering a row points at it, a press chooses it.
 * @param {{label: string, schemes: string[], point: (scheme: string|null) => void,
 *   press: (scheme: string) => void}} options
 */
export function cacheRows({ label, schemes, point, press }) {
  const rows = Object.fromEntries(schemes.map((scheme) => {
    const [name, note] = [h("b", {}), h("span", { class: "p-scheme-note" })];
    const [weights, inside, over, was, card, more] = ["weights", "cache", "over", "was", "card", "more"]
      .map((part) => h("i", { class: `p-bar-${part}` }));
    const facts = Array.from({ length: 3 }, () => h("span", { class: "p-scheme-fact" }));
    const node = h("button", { type: "button", class: "p-scheme", "data-scheme": scheme,
      onpointerenter: () => point(scheme), onfocus: () => point(scheme), onblur: () => point(null),
      onclick: () => press(scheme) },
      h("span", { class: "p-scheme-name" }, name, note),
      h("span", { class: "p-scheme-bar" }, weights, inside, over, was, card, more),
      h("span", { class: "p-scheme-facts" }, ...facts));
    return [scheme, { node, name, note, weights, inside, over, was, card, more, facts }];
  }));
  const pane = h("div", { class: "p-schemes", role: "group", "aria-label": label,
    onpointerleave: () => point(null) }, ...Object.values(rows).map(({ node }) => node));
  return {
    pane,
    /** @param {Record<string, {name: string, note: string, bar: Bar, facts: string[], more: string}>} told
     *  @param {string} chosen @param {string} followed */
    draw(told, chosen, followed) {
      for (const [scheme, row] of Object.entries(rows)) {
        const { name, note, bar, facts, more } = told[scheme];
        const at = placed(bar);
        row.name.textContent = name;
        row.note.textContent = note;
        const span = (node, from, to) => {
          node.style.left = share(from);
          node.style.width = share(to - from);
          node.hidden = to <= from;
        };
        span(row.weights, 0, at.weights);
        span(row.inside, at.weights, at.inside);
        span(row.over, at.card, at.end);
        row.card.style.left = share(at.card);
        row.was.hidden = at.was === null;
        row.was.style.left = share(at.was ?? 0);
        row.more.textContent = more;
        row.facts.forEach((fact, n) => { fact.textContent = facts[n]; });
        row.node.setAttribute("aria-pressed", String(scheme === chosen));
        row.node.classList.toggle("p-on", scheme === followed);
        row.node.classList.toggle("p-bursts", at.end > at.card);
      }
    },
  };
}
