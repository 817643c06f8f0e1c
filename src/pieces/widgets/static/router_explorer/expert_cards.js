/** A card for each expert of a layer: its score for one word, load and words, and a button that shuts it. */
import { chance, format, h } from "../kit/kit.js";

/** Experts have no role of their own in the book: four colours return, and a number always stands beside. */
const ROLES = ["query", "key", "value", "weight"];
/** @param {number} e */
export const roleOf = (e) => ROLES[e % ROLES.length];

/** Words that are listed once each, in order, with how often they came. @param {string[]} list */
function counted(list) {
  const times = new Map();
  for (const word of list) times.set(word, (times.get(word) ?? 0) + 1);
  return [...times].map(([word, n]) => (n > 1 ? `${word} ×${n}` : word));
}

/**
 * `draw({ layer, words, t, closed, may, capacity })`: `layer` as `routing.js` tells it, `t` its word,
 * `closed` the experts shut here, `may` whether one more may be.
 * @param {{say: Record<string, any>, point: (e: number|null) => void, turn: (e: number) => void}} options
 */
export function expertCards({ say, point, turn }) {
  const box = h("div", { class: "p-experts", role: "group", "aria-label": say.cards });
  /** @type {any[]} */
  const cards = [];
  function make(e) {
    const [name, score, share, first, later] = ["b", "span", "span", "span", "span"].map((tag) => h(tag, {}));
    const [fill, over, limit] = [h("i", {}), h("i", { class: "p-beyond" }), h("s", { hidden: true })];
    const press = h("button", { type: "button", class: "p-button", onclick: () => turn(e) });
    const card = h("div", { class: "p-expert", "data-role": roleOf(e), "data-expert": e,
      onpointerenter: (event) => { if (event.pointerType === "mouse") point(e); }, onpointerleave: () =>
        point(null) },
    h("div", { class: "p-expert-head" }, name, press), h("div", { class: "p-expert-score" }, score),
    h("div", { class: "p-expert-load" }, h("span", { class: "p-expert-bar" }, fill, over, limit), share),
    h("p", { class: "p-expert-words" }, first, later));
    return { card, name, score, share, first, later, fill, over, limit, press };
  }
  return {
    box,
    draw({ layer, words, t, closed, may, capacity }) {
      const E = layer.load.length;
      while (cards.length < E) { cards.push(make(cards.length)); box.append(cards.at(-1).card); }
      while (cards.length > E) cards.pop().card.remove();
      const visits = layer.experts.length * layer.experts[0].length;
      const most = Math.max(0.5, ...layer.load);
      cards.forEach((one, e) => {
        const shut = closed.includes(e);
        const came = (choice) => words.filter((_, n) => layer.experts[n][choice] === e
          && layer.room[n][choice]);
        const place = layer.experts[t].indexOf(e);
        const kept = layer.experts.flatMap((row, n) => row.filter((x, c) => x === e
          && layer.room[n][c])).length / visits;
        one.card.classList.toggle("p-shut", shut);
        one.card.classList.toggle("p-visited", place >= 0);
        one.name.textContent = say.expert(e + 1);
        one.press.textContent = shut ? say.open : say.shut;
        one.press.setAttribute("aria-label", (shut ? say.opens : say.shuts)(e + 1));
        one.press.disabled = !shut && !may;
        one.press.title = one.press.disabled ? say.keep(layer.experts[0].length) : "";
        one.score.textContent = shut ? say.closed : say.score(format(layer.logits[t][e]),
          place < 0 ? "" : layer.room[t][place] ? chance(layer.weights[t][place]) : say.full);
        one.share.textContent = say.load(layer.load[e]);
        one.fill.style.width = `${(100 * kept) / most}%`;
        one.over.style.width = `${(100 * (layer.load[e] - kept)) / most}%`;
        one.limit.hidden = !Number.isFinite(capacity);
        one.limit.style.left = `${Math.min(100, (100 * capacity) / visits / most)}%`;
        one.first.textContent = counted(came(0)).join("  ");
        one.later.textContent = counted(layer.experts[0].slice(1).flatMap((_, c) => came(c + 1))).join("  ");
      });
    },
    /** @param {number|null} e */
    light(e) { cards.forEach((one, n) => one.card.classList.toggle("p-on", n === e)); },
  };
}
