/** The next word: a button for each candidate, with its bar; and the line on which a number draws one. */
import { chance, h } from "../kit/kit.js";
import { keyed } from "../kit/keyed.js";

/** @typedef {import("./next_word.js").Candidate} Candidate */
/** @typedef {{name: string, one: Candidate, rest: boolean, drawn: boolean,
 *   how: string}} Row */

const NICE = [0.02, 0.05, 0.1, 0.2, 0.5, 1];
const LETTER = 7.5; // px

/** A share in percent, as short as it can be said. @param {number} p */
export function percents(p) {
  if (p === 0 || p === 1) return String(100 * p);
  if (p < 0.0005) return "<0.1";
  if (p > 0.995) return ">99";
  return p < 0.0995 ? (100 * p).toFixed(1) : String(Math.round(100 * p));
}

/** Tell which child of a list is pointed at or in focus, null where none is.
 *  @param {Element} list @param {(n: number|null) => void} tell */
function pointed(list, tell) {
  const at = ({ target }) => tell([...list.children].findIndex((child) => child.contains(target)));
  for (const event of ["pointerover", "focusin"]) list.addEventListener(event, at);
  for (const event of ["pointerleave", "focusout"]) list.addEventListener(event, () => tell(null));
}

/** Light the n-th child of a list. @param {Element} list @param {number|null} lit */
const light = (list, lit) =>
  [...list.children].forEach((child, n) => child.toggleAttribute("data-lit-now", n === lit));

/** What stands behind a name: the model's, as set or the rule that cuts it, the true one.
 *  @param {Candidate} one @param {(p: number) => string} print */
const textsOf = ({ own, set, truth, cut }, print) =>
  [print(own), cut || print(set), truth === null ? "?" : print(truth)];

/**
 * @param {Object} view
 * @param {{say: Record<string, any>, take: (name: string) => void}} options `say`: `next`, `heads`,
 *   `scale`, `key`, `take`
 */
export function choices(view, { say, take }) {
  const caption = h("figcaption", {}, say.next(""));
  const scale = h("span", { class: "p-choice-scale" });
  const head = h("div", { class: "p-choice p-choice-head", "aria-hidden": "true" },
    h("span", {}, say.heads[0]), scale, ...say.heads.slice(1).map((word) => h("span", {}, word)));
  const list = h("div", { class: "p-choice-list" });
  const legend = h("ul", { class: "p-legend" }, ...say.key.map(([kind, word]) =>
    h("li", {}, h("i", { class: `p-key-${kind}` }), word)));
  const pane = h("figure", { class: "p-pane p-choices" }, caption, head, list, legend);
  const parts = new WeakMap();
  let most = 1;
  let shown = /** @type {Row[]} */ ([]);

  function make(row) {
    const [own, set, truth] = [h("s", {}), h("i", { "data-role": "output" }), h("u", {})];
    const name = h("span", { class: "p-choice-name" });
    const numbers = say.heads.slice(1).map(() => h("b", {}));
    const inside = [name, h("span", { class: "p-choice-track" }, own, set, truth), ...numbers];
    const node = row.rest ? h("div", { class: "p-choice p-choice-rest" }, ...inside)
      : h("button", { type: "button", class: "p-choice", onclick: () => take(node.dataset.word) }, ...inside);
    parts.set(node, { name, own, set, truth, numbers });
    return node;
  }
  function update(node, { name, one, rest, drawn, how }) {
    const at = parts.get(node);
    const wide = (p) => `${Math.min(100, (100 * p) / most)}%`;
    at.name.textContent = name;
    at.own.style.width = wide(one.own);
    at.set.style.width = wide(one.set);
    at.truth.hidden = !one.truth;
    at.truth.style.left = wide(one.truth ?? 0);
    const texts = textsOf(one, percents);
    at.numbers.forEach((number, n) => { number.textContent = texts[n]; });
    node.classList.toggle("p-cut", Boolean(one.cut));
    node.classList.toggle("p-drawn", drawn);
    if (rest) return;
    node.dataset.word = name;
    node.setAttribute("aria-label", say.take(name, one, drawn, how));
  }
  const rows = keyed(list, { key: (_, n) => n, make, update });
  view.table(say.next(""), () => shown.length && { head: say.heads,
    rows: shown.map(({ name, one }) => [name, ...textsOf(one, (p) => chance(p, 4))]) });
  return {
    pane, light: (n) => light(list, n), pointed: (tell) => pointed(list, tell),
    /** @param {string} word @param {Row[]} next */
    draw(word, next) {
      shown = next;
      caption.textContent = say.next(word);
      const largest = (key) => Math.max(...next.map(({ rest, one }) => (rest ? 0 : one[key] ?? 0)));
      // With room to grow when a control is moved.
      const room = Math.min(1, 1.5 * Math.max(largest("own"), largest("truth")));
      most = NICE.find((n) => n >= Math.max(room, largest("set"))) ?? 1;
      scale.textContent = say.scale(100 * most);
      rows.draw(next);
    },
  };
}

/** The line from 0 to 1 on which the candidates lie side by side, each as long as its probability.
 *  @param {Object} view @param {Record<string, any>} say */
export function drawLine(view, say) {
  const caption = h("figcaption", {});
  const line = h("div", { class: "p-line-parts", role: "img" });
  const mark = h("span", { class: "p-line-mark" });
  const pane = h("figure", { class: "p-pane p-draw-line" }, caption,
    h("div", { class: "p-line-box" }, line, mark));
  const parts = keyed(line, {
    key: (_, n) => n,
    make: () => h("span", {}),
    update(node, { name, from, to, drawn }) {
      node.style.left = `${100 * from}%`;
      node.style.width = `${100 * (to - from)}%`;
      node.textContent = (to - from) * width > LETTER * name.length + 6 ? name : "";
      node.dataset.word = name;
      node.dataset.drawn = String(drawn);
    },
  });
  let width = 300;
  let again = () => {};
  view.onWidth(line, (found) => { width = found; again(); });
  /** @param {Row[]} rows @param {number|null} number @param {string} word */
  function draw(rows, number, word) {
    again = () => draw(rows, number, word);
    caption.textContent = number === null ? say.greedy(word) : say.falls(number, word);
    line.setAttribute("aria-label", caption.textContent);
    let sum = 0;
    parts.draw(rows.map(({ name, one, drawn }) => ({ name, drawn, from: sum, to: (sum += one.set) })));
    mark.hidden = number === null;
    mark.style.left = `${100 * (number ?? 0)}%`;
  }
  return { pane, draw, light: (n) => light(line, n), pointed: (tell) => pointed(line, tell) };
}
