/** What MaskExplorer says: its labels, and what a mask lets through and hides. */
import { listed, percent, plural } from "../kit/kit.js";
import { cells, inForce, later } from "./mask_kinds.js";

const few = (all) => (all.length > 8 ? [...all.slice(0, 7), `${all.length - 7} more`] : all);
export const WORDS = {
  title: "Mask explorer", pad: "pad", kind: "mask", also: "and", none: "nothing else", tokens: "tokens T",
  kinds: {
    causal: "causal", full: "full", prefix: "prefix", sliding_window: "sliding window",
    dilated: "dilated window", global_window: "global + window", padding: "padding",
  },
  sliders: {
    window: "window", dilation: "dilation", n_global: "global tokens", prefix_len: "prefix length",
    length: "real tokens",
  },
  side: "padding on the", sides: { right: "right", left: "left" },
  view: "What is shown", views: { mask: "mask", weights: "weights", layers: "layers", reach: "reach" },
  story: "Who may look at whom", mask: "Mask (press to flip)",
  weights: "Weights under it, from random scores",
  stack: "Who knows the word, layer by layer", reach: "Reach after the layers", undo: "Undo my flips",
  follow: "follows that word", layers: "layers", layer: "layer",
  input: "words", place: "place", outputs: "output", inputs: "input",
  legend: {
    query: "may look", weight: "weight", output: "depends on it", mask: "hidden, or out of reach",
    leak: "a leak",
  },
  hint: "Point at a word, an arc or a cell to read it; press a cell to change the rule.",
  sees: (query, key, may) => `query ${query} ${may ? "sees" : "does not see"} key ${key}`,
  reaches: (output, input, may) =>
    `output ${output} ${may ? "depends" : "does not depend"} on input ${input}`,
  knows: (place, n, input, may) =>
    `${n ? `after layer ${n}, ${place}` : place} ${may ? "knows" : "does not know"} ${input}`,
  notYet: (n) => `layer ${n} is still to come`,
  looks: (query, keys, by) =>
    `“${query}” may look at ${keys.length ? listed(few(keys)) : "nothing: its weights are all zero"}. `
    + (by.length ? `It is seen by ${listed(few(by))}.` : "No other word may look at it."),
  itself: "itself",
  look: (query, key, share) =>
    `“${query}” may look at ${key}, and gives it ${percent(share)} of its attention, by made-up scores.`,
  leak: (query, key, far) =>
    `“${query}” now looks at ${key}, ${plural(far, "word")} ahead: a leak. `
    + (far === 1 ? "It can copy what it should predict." : "It knows a word too early."),
  padding: (query, key) =>
    `“${query}” now looks at ${key}, which is padding: it takes weight and has nothing to say.`,
  hidden: (query, key, why) => `“${query}” may not look at ${key}: ${why}.`,
  why: {
    later: "it comes later", far: "it lies too far back for this mask", padding: "it is padding",
    between: "it falls between two looks of the dilated window", closed: "you closed this cell",
  },
  open: (n, all) => `${n} of ${all} cells ${n === 1 ? "is" : "are"} open.`,
  blind: (names) => (names.length === 1 ? `Query ${names[0]} sees nothing: its weights are all zero.`
    : `${named(names)} see nothing: their weights are all zero.`),
  given: (n, prefix) => `${lets(n)}, as this mask means to: `
    + (prefix ? "the prefix is given from the start." : "right in an encoder."),
  pads: (n) => `${plural(n, "cell")} ${n === 1 ? "lets" : "let"} a query see padding, which takes weight `
    + `and has nothing to say.`,
  noLater: "No query sees a later key.",
  leaks: (n, outputs) => (outputs.length ? `${lets(n)}: later tokens leak into `
    + `output${outputs.length > 1 ? "s" : ""} ${few(outputs).join(", ")}.`
    : `${lets(n)}: a leak, but no layer has used it yet.`),
  reached: (layers, n, T) =>
    `After ${plural(layers, "layer")} the last output depends on ${n} of ${T} inputs, its own among them.`,
  before: (layers, n, T) =>
    `After ${plural(layers, "layer")} the last output before the padding depends on ${n} of ${T} inputs.`,
  flows: (word, layers, n, T) =>
    `After ${plural(layers, "layer")} “${word}” is known at ${n} of ${T} places.`,
};
const named = (names) =>
  (new Set(names).size < names.length ? `${names.length} queries` : `Queries ${listed(few(names))}`);
const lets = (n) => `${plural(n, "cell")} ${n === 1 ? "lets" : "let"} a query see a later key`;

/** What the whole mask comes to, in a few sentences. */
export function sentence({ T, mask, plain, pads, reach, layers, leaks, ...s }, meant, name) {
  const parts = [WORDS.open(cells(mask).length, T * T)];
  const blind = mask.flatMap((row, i) => (row.some(Boolean) ? [] : [name(i)]));
  if (blind.length) parts.push(WORDS.blind(blind));
  const ahead = cells(later(mask));
  const given = ahead.filter(([i, j]) => plain[i][j]).length;
  const bad = cells(leaks).length;
  if (given) parts.push(WORDS.given(given, inForce(s).includes("prefix")));
  const into = later(reach, meant, pads).flatMap((row, i) => (row.some(Boolean) ? [name(i)] : []));
  if (bad) parts.push(WORDS.leaks(bad, into));
  const idle = cells(mask).filter(([i, j]) => pads[j] && !plain[i][j]).length;
  if (idle) parts.push(WORDS.pads(idle));
  if (!ahead.length) parts.push(WORDS.noLater);
  const padded = inForce(s).includes("padding") && s.side === "right" && s.length > 0 && s.length < T;
  const from = reach[padded ? s.length - 1 : T - 1].filter(Boolean).length;
  parts.push((padded ? WORDS.before : WORDS.reached)(layers, from, T));
  return parts.join(" ");
}
