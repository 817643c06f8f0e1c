/**
 * Words with a number below each: the more of it, the more colour. One of them can be chosen, all
 * of them be held.
 */
import { chips } from "../kit/chips.js";
import { format, h } from "../kit/kit.js";

/** A value in few characters: no more than one decimal, and none from ten on. @param {number} value */
export const short = (value) => value.toFixed(Math.abs(value) < 9.95 ? 1 : 0).replace(/^-0\.0$/,
  "0.0").replace("-", "−");

/**
 * `draw({ words, values, top, held })`: `top` is the size that has all the colour there is; `held` is the
 * number that
 * stands at every word instead, and then the word's own keeps a stripe of its colour; null where nothing is
 * held.
 * @param {Object} frame
 * @param {{caption: string, say: (word: string, value: string) => string, head: (held: boolean) => string[],
 *   selection: ReturnType<typeof import("../kit/selection.js").createSelection>}} options
 */
export function unitWords(frame, { caption, say, head, selection }) {
  const row = chips({ label: caption, selection });
  const label = h("figcaption", {}, caption);
  const pane = h("figure", { class: "p-pane p-unit-words" }, label, row.box);
  let drawn = null;
  frame.onDispose(row.stop);
  frame.table(caption, () => drawn && { head: head(drawn.held !== null), rows: drawn.words.map((word, t) =>
    [word, format(drawn.values[t], 3), ...(drawn.held === null ? [] : [format(drawn.held, 3)])]) });
  return {
    pane,
    name(text) { label.textContent = text; },
    draw(next) {
      drawn = next;
      const share = (value) => `${Math.round(48 * Math.min(1, Math.abs(value) / next.top))}%`;
      const role = (value) => (value < 0 ? "key" : "output");
      const stands = Array.from(next.values, (value) => next.held ?? value);
      const texts = stands.map(short);
      row.draw(next.words.map((text, t) => ({ text, label: say(text, texts[t]) })));
      next.words.forEach((_, t) => {
        const node = row.node(t);
        node.dataset.value = texts[t];
        node.dataset.role = role(stands[t]);
        node.style.setProperty("--seen", share(stands[t]));
        if (next.held === null) delete node.dataset.was; else node.dataset.was = role(next.values[t]);
        node.style.setProperty("--was", share(next.values[t]));
      });
    },
  };
}
