/** The next word: the model's bars, the true probability on each, and the ghost of what was. */
import { h, percent } from "../kit/kit.js";
import { keyed } from "../kit/keyed.js";
import { WORDS } from "./words.js";

/** @typedef {{id: number, word: string, p: number, was: number|null, truth: number|null, chosen: boolean}}
 *  Row */

/** The likeliest words now, those that led before, and the one whose votes are asked for.
 *  @param {Float32Array} now @param {Float32Array|null} before @param {Float64Array|null} truth
 *  @param {string[]} vocabulary @param {number} rows @param {number|null} asked @returns {Row[]} */
export function nextRows(now, before, truth, vocabulary, rows, asked) {
  const most = (id) => Math.max(now[id], before?.[id] ?? 0);
  const first = /** @type {number[]} */ ([]);
  for (let id = 0; id < now.length; id++) { // a few of many: no need to sort them all
    if (first.length === rows && most(id) <= most(first[rows - 1])) continue;
    first.splice(first.findLastIndex((one) => most(one) >= most(id)) + 1, 0, id);
    first.length = Math.min(first.length, rows);
  }
  if (asked !== null && !first.includes(asked)) first[rows - 1] = asked;
  return first.sort((a, b) => now[b] - now[a]).map((id) => ({ id, word: vocabulary[id], p: now[id],
    was: before ? before[id] : null, truth: truth ? truth[id] : null, chosen: id === asked }));
}

/** @param {{press: (id: number) => void}} options */
export function nextWords({ press }) {
  const title = h("div", { class: "w-next-title" });
  const key = h("div", { class: "w-next-key", "aria-hidden": "true" }, h("span", {}, WORDS.heads.model),
    h("span", {}, WORDS.heads.truth));
  const list = h("div", { class: "w-next-list", role: "group" });
  const rows = keyed(list, {
    key: ({ id }) => id, moves: true,
    make: ({ id }) => h("button", { type: "button", class: "w-next-row", onclick: () => press(id) },
      h("span", { class: "w-next-track" }, h("i", {}), h("s", {}), h("u", {})),
      h("span", { class: "w-next-word" }), h("span", { class: "w-next-p" }),
        h("span", { class: "w-next-true" })),
    /** @param {HTMLElement} node @param {Row & {votes: boolean}} row */
    update(node, { word, p, was, truth, chosen, votes }) {
      const [track, name, share, fact] = /** @type {any} */ (node.children);
      name.textContent = word;
      const [bar, ghost, mark] = track.children;
      bar.style.width = `${(100 * p).toFixed(2)}%`;
      ghost.hidden = was === null;
      if (was !== null) ghost.style.width = `${(100 * was).toFixed(2)}%`;
      mark.hidden = !(truth > 0.001);
      if (truth > 0.001) mark.style.left = `${(100 * truth).toFixed(2)}%`;
      share.textContent = percent(p);
      fact.textContent = truth === null ? "" : percent(truth);
      node.setAttribute("aria-label", WORDS.row(word, p, truth, votes ? chosen : null));
      node.setAttribute("aria-pressed", String(chosen));
    },
  });
  return {
    box: h("div", { class: "w-next" }, h("div", { class: "w-next-head" }, title, key), list),
    /** @param {string} word @param {Row[]} found @param {boolean} votes whether the parts' bars are votes */
    draw(word, found, votes) {
      title.textContent = WORDS.next(word);
      key.classList.toggle("w-untrue", found[0]?.truth === null);
      rows.draw(found.map((row) => ({ ...row, votes })));
    },
    /** The node of a word, from which it flies to the text. @param {number} id */
    node: (id) => rows.node(id),
  };
}
