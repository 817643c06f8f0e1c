/** What MaskExplorer knows of masks: its traits, how each is made, its line of Python, why it hides a key. */
import { choice, count, words } from "../kit/kit.js";
import { masks } from "../twin/twin.js";

export const VIEWS = ["mask", "weights", "layers", "reach"];
export const SIDES = ["right", "left"];
const COUNTS = ["window", "dilation", "n_global", "prefix_len", "length", "layers", "token", "source"];
/** How far T tokens let a trait go: no window holds more than T keys, no influence needs more layers. */
export const upTo = (name, T) => (name === "dilation" ? Infinity : T);

export const KINDS = ["causal", "full", "prefix", "sliding_window", "dilated", "global_window", "padding"];
/** The traits that a kind needs. */
export const NEEDS = {
  causal: [], full: [], prefix: ["prefix_len"], sliding_window: ["window"], dilated: ["window", "dilation"],
  global_window: ["window", "n_global"], padding: ["length", "side"],
};

/** The mask of a kind, and the line of Python that makes it; a padding mask is one row for all queries. */
const MAKE = {
  full: ({ T }) => [masks.full(T), `masks.full(${T})`],
  causal: ({ T }) => [masks.causal(T), `masks.causal(${T})`],
  prefix: ({ T, prefix_len: n }) => [masks.prefix(T, n), `masks.prefix(${T}, prefix_len=${n})`],
  sliding_window: ({ T, window: w }) =>
    [masks.slidingWindow(T, w), `masks.sliding_window(${T}, window=${w})`],
  dilated: ({ T, window: w, dilation: d }) =>
    [masks.dilated(T, w, d), `masks.dilated(${T}, window=${w}, dilation=${d})`],
  global_window: ({ T, window: w, n_global: g }) =>
    [masks.globalWindow(T, w, g), `masks.global_window(${T}, window=${w}, n_global=${g})`],
  padding: ({ T, length: n, side }) => [Array(T).fill(masks.padding([n], T, side)[0]),
    `masks.padding([${n}], ${T}${side === "left" ? ', "left"' : ""})[0, 0]`],
};

/** The kinds in force: one, or two that both have to allow a look. @param {any} s @returns {string[]} */
export const inForce = ({ kind, also }) => (also === "none" || also === kind ? [kind] : [kind, also]);

/** The mask before any cell is flipped, and the expression that makes it. @returns {[boolean[][], string]} */
export function unflipped(s) {
  const kinds = inForce(s);
  if (kinds.length === 1 && kinds[0] === "padding") kinds.unshift("full"); // one row, for every query
  const made = kinds.map((kind) => MAKE[kind](s));
  return [made.map(([mask]) => mask).reduce(masks.and), made.map(([, line]) => line).join(" & ")];
}

/** The lines of Python that make a mask, flips and all: few cells one by one, many at once. */
export function lines(expression, flips, mask) {
  const few = flips.map(([i, j]) => `mask[${i}, ${j}] = ${mask[i][j] ? "True" : "False"}`);
  const at = (n) => flips.map((cell) => cell[n]).join(", ");
  const many = [`mask[[${at(0)}], [${at(1)}]] ^= True`];
  return [`mask = ${expression}`, ...(flips.length < 4 ? few : many)].join("\n");
}

/** Which kind hides a key from a query, and how: "later", "far", "between" or "padding". */
export function hiddenBy(s, i, j) {
  for (const kind of inForce(s)) {
    if (MAKE[kind](s)[0][i][j]) continue;
    if (kind === "padding") return "padding";
    if (j > i) return "later";
    return kind === "dilated" && i - j < (s.window - 1) * s.dilation ? "between" : "far";
  }
  return null;
}

/** The traits as they are used. `pad` is the name of a padded place, where the tokens are words. */
export function read(model, pad) {
  const T = count(model, "T");
  const s = { T };
  for (const name of ["kind", "also", "side", "view"]) s[name] = choice(model, name);
  for (const name of COUNTS) s[name] = count(model, name, undefined, upTo(name, T));
  s.flips = flipsOf(model.get("flips"), T);
  const tokens = words(model, "tokens");
  const padded = inForce(s).includes("padding");
  const first = padded && s.side === "left" ? T - s.length : 0;
  const last = padded ? first + s.length : T;
  const nameOf = (i) => (i < first || i >= last ? pad : tokens[i - first] ?? String(i + 1));
  s.tokens = tokens.length ? Array.from({ length: T }, (_, i) => nameOf(i)) : [];
  return s;
}

/** Cells [query, key] within T tokens; one that is there twice is as it was. */
function flipsOf(given, T) {
  const inside = (n) => Number.isInteger(n) && n >= 0 && n < T;
  const times = new Map();
  for (const cell of Array.isArray(given) ? given : []) {
    if (!Array.isArray(cell) || cell.length !== 2 || !cell.every(inside)) continue;
    const at = cell[0] * T + cell[1];
    times.set(at, (times.get(at) ?? 0) + 1);
  }
  return [...times].filter(([, n]) => n % 2).map(([at]) => [Math.floor(at / T), at % T]);
}

/** The open cells [query, key] of a mask. */
export const cells = (mask) =>
  mask.flatMap((row, i) => row.flatMap((open, j) => (open ? [[i, j]] : [])));

/** Which keys are padding. @returns {boolean[]} */
export const paddingOf = (s) => (inForce(s).includes("padding") ? MAKE.padding(s)[0][0].map((real) => !real)
  : Array(s.T).fill(false));
/** The open cells above the diagonal, but those that another mask has open and those of padding, which gives
 *  nothing away: a later token that is seen. */
export const later = (mask, but, pads) => mask.map((row, i) => row.map((open, j) =>
  open && j > i && !but?.[i][j] && !pads?.[j]));
