/** A page of the gallery: one primitive, one frame for each of its states. */
import { h } from "../src/pieces/widgets/static/kit/dom.js";
import { frame } from "../src/pieces/widgets/static/kit/kit.js";

/** @param {[string, (view: any) => void][]} states a title, and what puts the picture into the frame */
export const page = (states) => ({
  render({ el }) {
    const views = states.map(([title, put]) => {
      const place = h("section", { class: "g-state" });
      el.append(place);
      const view = frame(place, { title, name: "gallery" });
      view.sentence.remove();
      put(view);
      view.measure();
      if (!view.controls.children.length) view.controls.remove();
      return view;
    });
    return () => views.forEach((view) => view.dispose());
  },
});

/** Numbers that look like chance and are the same each time. @param {number} seed @param {number} n */
export function chance(seed, n) {
  let state = seed * 2654435761 >>> 0;
  return Float32Array.from({ length: n }, () => {
    let sum = 0;
    for (let k = 0; k < 12; k++) { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; sum += state / 2 ** 32; }
    return sum - 6;
  });
}

/** Rows of weights under a causal mask. @param {number} T @param {number} seed @param {number} sharp */
export function causalWeights(T, seed, sharp = 1.5) {
  const scores = chance(seed, T * T);
  return Array.from({ length: T }, (_, i) => {
    const powers = Array.from({ length: T }, (_, j) => (j <= i ? Math.exp(sharp * scores[i * T + j]) : 0));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((x) => x / sum);
  });
}

export const STORY = ["Lily", "had", "a", "blue", "book", "and", "a", "bear"];
