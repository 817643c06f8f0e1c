/** What may come next: the candidates, what the settings leave of them, the draw, the distance. */
import { distribution, probabilities, tempered, topK, topP } from "../twin/sampling.js";
import { uniform } from "../twin/twin.js";
import { argmax } from "../twin/tensor.js";

/** @typedef {{temperature: number, k: number|null, p: number|null}} Rules */
/** @typedef {{id: number, own: number, set: number, truth: number|null, cut: string}} Candidate
 *   `own` is the model's probability, `set` what it is drawn with; `cut` is the rule that took it out */

/** Which rule took each word out, "" for those that stay.
 *  @param {Float32Array} logits @param {Rules} rules */
function cuts(logits, { temperature, k, p }) {
  if (temperature === 0) {
    const best = argmax(logits);
    return Array.from(logits, (_, i) => (i === best ? "" : "greedy"));
  }
  const warm = tempered(logits, temperature);
  const first = k === null ? warm : topK(warm, k);
  const second = p === null ? first : topP(first, p);
  const gone = (left, i) => left[i] === -Infinity;
  return Array.from(logits, (_, i) => (gone(first, i) ? "top-k" : gone(second, i) ? "top-p" : ""));
}

/**
 * All words, the likeliest first: temperature and cuts never change that order.
 * @param {Float32Array} logits @param {Rules} rules @param {Float64Array|null} truth @returns {Candidate[]}
 */
export function candidates(logits, rules, truth) {
  const own = probabilities(logits);
  const { temperature, k: topK_, p: topP_ } = rules;
  const set = distribution(logits, { temperature, topK: topK_, topP: topP_ });
  const cut = cuts(logits, rules);
  const order = [...logits.keys()].sort((a, b) => logits[b] - logits[a] || a - b);
  return order.map((id) =>
    ({ id, own: own[id], set: set[id], truth: truth ? truth[id] : null, cut: cut[id] }));
}

/** The n-th random number of a seed, from 0: each place in the text has its own.
 *  @param {number} seed @param {number} n */
export function needle(seed, n) {
  const next = uniform(seed);
  for (let i = 0; i < n; i++) next();
  return next();
}

/** Where a number from 0 to 1 falls, when the candidates lie side by side from 0 on.
 *  @param {Candidate[]} list @param {number} number */
export function drawn(list, number) {
  let left = number * list.reduce((sum, { set }) => sum + set, 0);
  let last = list[0];
  for (const one of list) {
    if (one.set === 0) continue;
    last = one;
    left -= one.set;
    if (left < 0) break;
  }
  return last;
}

/**
 * How far the model, and what is drawn, are from the truth: total variation ½ Σ |p − q|; of the model also
 * Σ p ln(p / q) in nats.
 * @param {Candidate[]} list
 */
export function distances(list) {
  if (list[0].truth === null) return null;
  const apart = (key) => list.reduce((sum, one) => sum + Math.abs(one[key] - one.truth), 0) / 2;
  const nats = list.reduce((sum, { truth, own }) => sum + (truth > 0 ? truth * Math.log(truth / own) : 0), 0);
  return { model: apart("own"), set: apart("set"), nats };
}
