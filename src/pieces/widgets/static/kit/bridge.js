/** Two columns of words and the ink between them: which words on the left each one on the right looked at. */
import { chips } from "./chips.js";
import { chance, h } from "./dom.js";
import { oncePerFrame } from "./pulse.js";
import { createSelection } from "./selection.js";

/** @typedef {{words: string[], gloss: string}} Group words that are read as one, and what they mean
 *  @typedef {{groups: Group[], rows: string[], values: {data: Float32Array, shape: number[]}}} Drawn
 *   `values` [T, S]: row t is of the word on the right, column s of the word on the left */

const SHOWN = 0.005; // a smaller weight is 0.00 in words
const FAINT = 0.05; // the ink of the words that are not chosen

/**
 * `draw({ groups, rows, values })`. The word that is pointed at, or chosen, is a row of the selection.
 * @param {Object} frame
 * @param {{caption: string, left: string, right: string, lang?: string, digits?: number,
 *   selection?: ReturnType<typeof createSelection>}} options `lang`: the language of the left side
 */
export function bridge(frame, { caption, left, right, lang, digits = 2, selection = createSelection() }) {
  const targets = chips({ label: right, selection, axis: "row" });
  const sources = h("div", { class: "p-sources", role: "group", "aria-label": left, lang });
  const svg = h("svg", { class: "p-inks", "data-role": "weight", "aria-hidden": "true" });
  const stage = h("div", { class: "p-bridge" }, sources, targets.box, svg);
  const pane = h("figure", { class: "p-pane p-pane-bridge" }, h("figcaption", {}, caption), stage);
  /** @type {Drawn|null} */
  let data = null;
  let told = "";
  /** @type {{word: HTMLElement, weight: HTMLElement}[]} */
  let cells = [];
  /** @type {{ends: [number, number][], starts: [number, number][]}|null} */
  let places = null;
  const drawer = oncePerFrame(frame.guarded(paint));

  /** The words on the left, each with room for its weight; what a group means stands beside all of it. */
  function lay(groups) {
    cells = [];
    sources.replaceChildren(...groups.flatMap(({ words, gloss }) => {
      const first = cells.length + 1;
      const nodes = words.flatMap((word, n) => {
        const style = `grid-row:${first + n}`;
        const node = h("span", { class: "p-chip", style }, word);
        const weight = h("span", { class: "p-drawn", style });
        cells.push({ word: node, weight });
        return [node, weight];
      });
      const style = `grid-row:${first} / span ${words.length}`;
      return [h("span", { class: "p-gloss", lang: "en", style }, gloss), ...nodes];
    }));
  }
  function arrange() {
    if (!data || !stage.clientWidth) return;
    const whole = stage.getBoundingClientRect();
    const at = (node, side) => {
      const box = node.getBoundingClientRect();
      const place = [box[side] - whole.left, (box.top + box.bottom) / 2 - whole.top];
      return /** @type {[number, number]} */ (place);
    };
    places = {
      ends: cells.map(({ weight }) => at(weight, "right")),
      starts: data.rows.map((_, t) => at(targets.node(t), "left")),
    };
    frame.paintAll();
    svg.setAttribute("viewBox", `0 0 ${stage.clientWidth} ${stage.clientHeight}`);
    paint();
  }
  /** One stroke, as wide as its weight. */
  function stroke(t, s, weight, lit) {
    const [[x, y], [toX, toY]] = [places.starts[t], places.ends[s]];
    const n = (number) => number.toFixed(1);
    const middle = n((x + toX) / 2);
    const faint = 0.12 + 0.6 * weight * (selection.now.row === null ? 1 : 0.3);
    return h("path", {
      class: lit ? "p-ink p-ink-on" : "p-ink", "data-row": t, "data-column": s,
      d: `M${n(x)} ${n(y)}C${middle} ${n(y)} ${middle} ${n(toY)} ${n(toX)} ${n(toY)}`,
      "stroke-width": (0.8 + 7.2 * weight).toFixed(2), style: lit ? null : `opacity:${faint.toFixed(2)}`,
    });
  }
  function paint() {
    if (!data || !places) return;
    const S = cells.length;
    const on = selection.now.row !== null && selection.now.row < data.rows.length ? selection.now.row : null;
    const weight = (t, s) => data.values.data[t * S + s];
    const strokes = data.rows.flatMap((_, t) => cells.flatMap((_, s) =>
      (weight(t, s) >= (t === on ? SHOWN : FAINT) ? [{ t, s, lit: t === on }] : [])));
    strokes.sort((a, b) => Number(a.lit) - Number(b.lit)); // the chosen word's ink lies over the others'
    svg.replaceChildren(...strokes.map(({ t, s, lit }) => stroke(t, s, weight(t, s), lit)));
    cells.forEach((cell, s) => {
      const seen = on === null ? 0 : weight(on, s);
      cell.word.dataset.role = seen >= SHOWN ? "weight" : "";
      cell.word.style.setProperty("--seen", seen >= SHOWN ? `${Math.round(8 + 32 * seen)}%` : "0%");
      cell.word.classList.toggle("p-on", selection.now.column === s);
      cell.weight.textContent = seen >= SHOWN ? chance(seen, digits) : "";
    });
  }
  frame.onWidth(stage, arrange);
  frame.onDispose(selection.subscribe(() => drawer.ask()));
  frame.onDispose(() => { drawer.cancel(); targets.stop(); });
  return {
    pane, selection,
    /** @param {Drawn} next */
    draw(next) {
      data = next;
      const key = JSON.stringify(next.groups);
      if (key !== told) lay(next.groups);
      told = key;
      targets.draw(next.rows.map((text) => ({ text })));
      arrange();
      drawer.cancel(); // what was followed is drawn with it
    },
  };
}
