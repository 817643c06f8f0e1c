/** What comes next: the likeliest words with their bars, and the choices that a reader has made. */
import { chance, h } from "../kit/kit.js";
import { keyed } from "../kit/keyed.js";

/** @typedef {{word: string, p: number, rest: [string, number][]|null, taken: boolean, top: boolean}} Row
 *   `rest`: the words, with their probabilities, that have no row of their own */

/**
 * @param {Object} view
 * @param {{say: Record<string, any>, take: (word: string) => void}} options
 */
export function nextWords(view, { say, take }) {
  const list = h("div", { class: "p-next-list" });
  const pane = h("figure", { class: "p-pane p-next" }, h("figcaption", {}, say.next), list);
  const parts = new WeakMap();
  /** @type {Row[]} */
  let shown = [];
  const rows = keyed(list, {
    key: ({ rest }, n) => (rest ? "others" : n),
    make({ rest }) {
      const [bar, number] = [h("i", {}), h("b", {})];
      const name = !rest ? h("span", { class: "p-next-word" }) : h("select", { class: "p-next-word",
        onchange: ({ target }) => target.value && take(target.value) });
      const inside = [name, h("span", { class: "p-next-track", "data-role": "output" }, bar), number];
      const node = rest ? h("div", { class: "p-next-row p-next-rest" }, ...inside)
        : h("button", { type: "button", class: "p-next-row", onclick: () => take(node.dataset.word) },
          ...inside);
      parts.set(node, { name, bar, number });
      return node;
    },
    update(node, { word, p, rest, taken, top }) {
      const { name, bar, number } = parts.get(node);
      if (rest) name.replaceChildren(h("option", { value: "" }, word), ...rest.map(([other, q]) =>
        h("option", { value: other }, `${other} ${chance(q, 4)}`)));
      else name.textContent = word;
      bar.style.width = `${100 * p}%`;
      number.textContent = chance(p, 4);
      node.classList.toggle("p-taken", taken);
      if (rest) return name.setAttribute("aria-label", say.takeOther(rest.length));
      node.dataset.word = word;
      node.classList.toggle("p-yours", taken && !top);
      node.setAttribute("aria-pressed", String(taken));
      node.setAttribute("aria-label", say.take(word, chance(p, 4), top));
    },
  });
  view.table(say.nextTable, () => shown.length && { head: say.nextHeads,
    rows: shown.map(({ word, p }) => [word, chance(p, 4)]) });
  return {
    pane,
    /** @param {Row[]} next */
    draw(next) {
      shown = next;
      pane.hidden = !next.length;
      rows.draw(next);
    },
  };
}

/** What the reader chose, each to be taken back; what does not fit is marked and says why.
 *  @param {{say: Record<string, any>, back: (place: number|null) => void}} options */
export function yourChoices({ say, back }) {
  const list = h("span", { class: "p-yours-list" });
  const head = h("span", { class: "p-yours-head" });
  let [made, sentence] = ["", ""]; // the choices, and the sentence for which they were made
  const note = h("span", { class: "p-yours-note" });
  const all = h("button", { type: "button", class: "p-button p-offer", onclick: () => back(null) }, say.all);
  const box = h("div", { class: "p-yours-box", role: "group", "aria-label": say.yours },
    head, list, all, note);
  const rows = keyed(list, {
    key: ({ place }) => place,
    make: ({ place }) => h("button", { type: "button", class: "p-button p-offer p-choice",
      "data-place": place, onclick: () => back(place) }),
    update(node, { place, word, why }) {
      node.textContent = say.choice(place, word);
      node.classList.toggle("p-stale", Boolean(why));
      node.setAttribute("aria-label", say.back(place, word));
      node.title = why || say.back(place, word);
    },
  });
  return {
    box,
    /** @param {{place: number, word: string, why: string}[]} choices @param {string} also
     *  @param {string|null} chinese the sentence that is read, null where there is none */
    draw(choices, also, chinese) {
      const now = choices.map(({ place, word }) => `${place} ${word}`).join("\n");
      if (now !== made && chinese !== null) [made, sentence] = [now, chinese];
      head.textContent = chinese === sentence ? say.yours : say.still;
      box.hidden = !choices.length;
      rows.draw(choices);
      all.hidden = choices.length < 2;
      note.textContent = also || [...new Set(choices.map(({ why }) => why))].join(" ").trim();
    },
  };
}
