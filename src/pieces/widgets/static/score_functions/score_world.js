/** The vectors behind ScoreFunctions, and its four scores: arithmetic only, nothing is drawn here. */
import { learned } from "./draws.js";
import { gaussian, inner, scores, uniform } from "../twin/twin.js";

/**
 * The vectors and weights, 1024 numbers each, of which the first K are used: a new K is no new draw.
 * @param {(n: number) => string} nameOf what a key is called that the story does not name
 */
export function makeWorld(nameOf) {
  const kept = new Map();
  const once = (name, key, make) => {
    if (kept.get(name)?.key !== key) kept.set(name, { key, value: make() });
    return kept.get(name).value;
  };
  const make = (s, i) => {
    const { at = [], ...told } = s.told[i] ?? {};
    const value = Math.round(1 + 29 * uniform(s.seed * 100 + 60 + i)());
    const vector = gaussian(s.seed * 100 + i, 1024).map((x, c) => at[c] ?? x);
    return { name: nameOf(i + 1), value, ...told, vector };
  };
  const whole = (s) => once("keys", JSON.stringify([s.seed, s.n, s.told]),
    () => Array.from({ length: s.n }, (_, i) => make(s, i)));
  const rest = (s) => once("query", s.seed, () => gaussian(s.seed * 100 + 50, 1024));
  const layers = (K) => once(`layers of ${K}`, K, () => {
    const cut = (rows) => rows.map((row) => row.slice(0, K).map((x) => x / Math.sqrt(K)));
    return { W: cut(learned().W), U: cut(learned().U), v: learned().v };
  });
  return {
    whole, layers,
    keys: (s, K = s.K) => whole(s).map(({ vector }) => vector.slice(0, K)),
    query: (s, K = s.K, x = s.x, y = s.y) => [x, y, ...rest(s).slice(2, K)].slice(0, K),
  };
}

const through = (rows, x) => rows.map((row) => inner(row, x));

/** How much the bilinear scores of random vectors spread: ‖Wᵀ U‖, as the root of Σ (W Wᵀ)_ij (U Uᵀ)_ij. */
export const bilinearSpread = ({ W, U }) => Math.sqrt(W.reduce((sum, w, i) => sum
  + W.reduce((part, other, j) => part + inner(w, other) * inner(U[i], U[j]), 0), 0));
export const SCORE = {
  dot: (q, k) => scores.dot(q, k),
  scaled_dot: (q, k) => scores.scaledDot(q, k),
  additive: (q, k, layers) => scores.additive(q, k, layers),
  /** kᵀ (Wᵀ U) q = (W k)·(U q): the matrix that two projections make, without ever writing it down. */
  bilinear: (q, k, { W, U }) => scores.dot(through(U, q), k.map((key) => through(W, key))),
};

