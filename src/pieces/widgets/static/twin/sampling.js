/**
 * The twin of `pieces.sampling`: how the next token is chosen from its logits.
 * Probabilities are rounded to float32 where PyTorch's are, so that the same tokens stay at a boundary.
 * @typedef {{temperature?: number, topK?: number|null, topP?: number|null}} Settings
 */
import { argmax } from "./tensor.js";

/** @param {ArrayLike<number>} logits @param {number} temperature above 0 */
export function tempered(logits, temperature) {
  if (!(temperature > 0)) throw new RangeError(
    `temperature = ${temperature}: must be above 0; 0 is greedy choice.`);
  return Float32Array.from(logits, (x) => x / Math.fround(temperature));
}

/** exp(x_i) / Σ exp(x_j); what is −∞ gets 0. @param {ArrayLike<number>} logits */
export function probabilities(logits) {
  const powers = new Float64Array(logits.length);
  let top = -Infinity;
  for (let i = 0; i < logits.length; i++) if (logits[i] > top) top = logits[i];
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += powers[i] = Math.exp(logits[i] - top);
  const shares = new Float32Array(logits.length);
  for (let i = 0; i < logits.length; i++) shares[i] = powers[i] / sum;
  return shares;
}

/**
 * The k largest stay, and what ties with the last of them; the others become −∞.
 * @param {ArrayLike<number>} logits
 * @param {number} k
 */
export function topK(logits, k) {
  if (!(Number.isInteger(k) && k >= 1)) throw new RangeError(`k = ${k}: must be a whole number from 1.`);
  const least = Float32Array.from(logits).sort()[Math.max(0, logits.length - k)];
  return Float32Array.from(logits, (x) => (x < least ? -Infinity : x));
}

/**
 * The fewest tokens whose probability is p or more stay; the others become −∞.
 * @param {ArrayLike<number>} logits
 * @param {number} p
 */
export function topP(logits, p) {
  if (!(p > 0 && p <= 1)) throw new RangeError(`p = ${p}: must be above 0 and at most 1.`);
  const kept = Float32Array.from(logits);
  const order = [...kept.keys()].sort((a, b) => logits[b] - logits[a] || a - b);
  const shares = probabilities(order.map((i) => logits[i]));
  let sum = 0;
  order.forEach((i, n) => {
    sum += shares[n];
    if (Math.fround(Math.fround(sum) - shares[n]) >= Math.fround(p)) kept[i] = -Infinity;
  });
  return kept;
}

/** What a draw is made from: temperature first, then top-k, then top-p; at temperature 0 all on the
 * likeliest.
 *  @param {ArrayLike<number>} logits @param {Settings} settings */
export function distribution(logits, { temperature = 1, topK: k = null, topP: p = null } = {}) {
  if (temperature === 0) {
    const only = new Float32Array(logits.length);
    only[argmax(logits)] = 1;
    return only;
  }
  let left = tempered(logits, temperature);
  if (k !== null) left = topK(left, k);
  if (p !== null) left = topP(left, p);
  return probabilities(left);
}

/** One token: the likeliest at temperature 0, else a draw. @param {ArrayLike<number>} logits @param
 * {Settings & {random?: () => number}} settings `random` gives
 *  numbers uniform in [0, 1), such as `uniform(seed)` of twin.js */
export function choose(logits, { random = Math.random, ...settings } = {}) {
  if ((settings.temperature ?? 1) === 0) return argmax(logits);
  const shares = distribution(logits, settings);
  let left = random() * shares.reduce((sum, p) => sum + p, 0);
  let last = 0;
  for (let i = 0; i < shares.length; i++) {
    if (shares[i] === 0) continue;
    last = i;
    left -= shares[i];
    if (left < 0) return i;
  }
  return last;
}
