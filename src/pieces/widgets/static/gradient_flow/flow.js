/** A stack of random layers: a signal forward, a gradient back, and how large both are. */
import { gaussian } from "../twin/twin.js";

const WIDTH = 64;
const EPS = 1e-6; // below the root, as in the package
const [INPUT, LOSS] = [998, 999]; // draws beside those of the layers

/** @typedef {{depth: number, gain: number, skip: boolean, norm: string, sublayer: string,
 *    seed: number}} Stack */

const drawn = new Map();
/** Draws of their own for each layer of each seed, made once. */
function draws(seed, layer, count) {
  const key = `${seed} ${layer}`;
  if (!drawn.has(key)) drawn.set(key, Float64Array.from(gaussian(seed * 1000 + layer, count)));
  return drawn.get(key);
}

/** The root of the mean square; of a vector that is nearly 0 as well. */
export function size(x) {
  let most = 0;
  for (const value of x) most = Math.max(most, Math.abs(value));
  if (!(most > 0)) return 0;
  let sum = 0;
  for (const value of x) sum += (value / most) ** 2;
  return most * Math.sqrt(sum / x.length);
}

/** A vector of size 1. */
function begun(seed, which) {
  const x = draws(seed, which, WIDTH);
  const all = size(x);
  return x.map((value) => value / all);
}

/** W x, or of the transpose Wᵀ x; W has entries of variance 1/64. */
function times(W, x, across) {
  const y = new Float64Array(WIDTH);
  for (let i = 0; i < WIDTH; i++) {
    for (let j = 0; j < WIDTH; j++) {
      if (across) y[j] += W[i * WIDTH + j] * x[i]; else y[i] += W[i * WIDTH + j] * x[j];
    }
  }
  return y.map((value) => value / Math.sqrt(WIDTH));
}

/** f(x) and its derivative's transpose, both by the gain. @param {Stack} s @param {number} layer */
function sublayer(s, layer) {
  if (s.sublayer === "opposed") {
    return { f: (x) => x.map((v) => -s.gain * v), back: (d) => d.map((v) => -s.gain * v) };
  }
  const W = draws(s.seed, layer, WIDTH * WIDTH);
  if (s.sublayer === "linear") {
    return { f: (x) => times(W, x, false).map((v) => s.gain * v),
      back: (d) => times(W, d, true).map((v) => s.gain * v) };
  }
  const by = s.gain * Math.SQRT2; // half of the numbers are cut off: √2 keeps the size
  return { f: (x) => times(W, x.map((v) => Math.max(0, v)), false).map((v) => by * v),
    back: (d, x) => times(W, d, true).map((v, j) => (x[j] > 0 ? by * v : 0)) };
}

/** RMSNorm without a gain, and its derivative's transpose at x. */
const root = (x) => Math.sqrt(x.reduce((sum, v) => sum + v * v, 0) / WIDTH + EPS);
const normed = (x) => { const by = root(x); return x.map((v) => v / by); };
function normedBack(d, x) {
  const by = root(x);
  const along = d.reduce((sum, v, i) => sum + v * x[i], 0) / (WIDTH * by * by);
  return d.map((v, i) => (v - along * x[i]) / by);
}

const plus = (a, b) => a.map((v, i) => v + b[i]);

/** The sizes of signal and gradient at the input and after each layer. @param {Stack} s */
export function flow(s) {
  const layers = Array.from({ length: s.depth }, (_, n) => sublayer(s, n + 1));
  const [ins, sums] = [[begun(s.seed, INPUT)], []];
  layers.forEach(({ f }) => {
    const x = ins[ins.length - 1];
    const y = f(s.norm === "pre" ? normed(x) : x);
    const sum = s.skip ? plus(x, y) : y;
    sums.push(sum);
    ins.push(s.norm === "post" ? normed(sum) : sum);
  });
  const slopes = [begun(s.seed, LOSS)];
  for (let n = s.depth - 1; n >= 0; n--) {
    const d = s.norm === "post" ? normedBack(slopes[0], sums[n]) : slopes[0];
    const x = ins[n];
    const through = s.norm === "pre" ? normedBack(layers[n].back(d, normed(x)), x)
      : layers[n].back(d, x);
    slopes.unshift(s.skip ? plus(d, through) : through);
  }
  return { forward: ins.map(size), backward: slopes.map(size) };
}

/** What signal and gradient are on average over random weights, as formulas, or null.
 *  @param {Stack} s @param {number} at
 *  @returns {{how: string[], value: number}[]|null} that of the signal, that of the gradient */
export function laws(s, at) {
  const [g, ahead] = [String(Number(s.gain.toFixed(2))), s.depth - at];
  const [one, none] = [{ how: ["1"], value: 1 }, { how: ["0"], value: 0 }];
  const power = (base, value, n) => (n === 0 ? one : { how: [base, String(n)], value: value ** n });
  if (s.norm === "none") {
    const each = s.sublayer !== "opposed"
      ? (s.skip ? [`√(1 + ${g}²)`, Math.sqrt(1 + s.gain ** 2)] : [g, s.gain])
      : (s.skip ? [`|1 − ${g}|`, Math.abs(1 - s.gain)] : [g, s.gain]);
    return [power(...each, at), power(...each, ahead)];
  }
  if (s.sublayer === "opposed") return null; // a norm bends it: there is no law as short
  if (!s.skip && s.gain === 0) return [at ? none : one, ahead ? none : one]; // no norm makes 1 of 0
  if (s.norm === "post") return [one, one];
  const grown = (n) => 1 + n * s.gain ** 2;
  const sum = (n) => `1 + ${n} · ${g}²`;
  if (s.skip) {
    return [at === 0 ? one : { how: [`√(${sum(at)})`], value: Math.sqrt(grown(at)) },
      ahead === 0 ? one : {
        how: [at === 0 ? `√(${sum(s.depth)})` : `√((${sum(s.depth)}) / (${sum(at)}))`],
        value: Math.sqrt(grown(s.depth) / grown(at)) }];
  }
  const small = { how: [g], value: s.gain };
  return [at === 0 ? one : small, at === 0 ? small : one];
}
