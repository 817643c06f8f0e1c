/**
 * What a model makes of a text, with some heads off and with all of them on; and what its heads seem to do.
 */
import { tensor } from "./flat.js";
import { once, textReader } from "./memo.js";
import { argmax } from "./tensor.js";

/** @typedef {import("./model.js").TrainedModel} TrainedModel */
/** @typedef {{data: Float32Array, shape: number[]}} Weights of the heads of a layer, [H, T, S] */
/** @typedef {import("./memo.js").Text & {maps?: Weights[], plain?: import("./model.js").Result,
 *   now?: import("./model.js").Result}} Reading `maps` by layer; `plain`: all heads on */

/** Reads a text of at most `most` words; what was computed stays until the text or the heads change.
 *  @param {TrainedModel} model @param {number} most */
export function reader(model, most) {
  const told = textReader(model, most);
  const plainly = once(/** @param {number[]} ids */ (ids) => model.run(ids, { keep: ["weights"] }));
  return once(/** @param {string} typed @param {[number, number][]} off @returns {Reading} */
    (typed, off) => {
      const read = told(typed);
      if (!read.ids.length) return read;
      const plain = plainly(read.ids);
      const now = off.length ? model.run(read.ids, { off, keep: ["weights"] }) : plain;
      const maps = Array.from({ length: model.layers },
        (_, l) => now.inner[`stack.blocks.${l}.attention.core`].weights);
      return { ...read, plain, now, maps };
    });
}

/**
 * The weights [T, S] of one head of a layer, or of the average of all where `head` is null.
 * @param {Weights} weights
 * @param {number|null} head
 */
export function mapOf({ data, shape: [H, T, S] }, head) {
  const each = T * S;
  if (head !== null) return tensor(data.subarray(head * each, (head + 1) * each), [T, S]);
  const mean = new Float32Array(each);
  for (let i = 0; i < data.length; i++) mean[i % each] += data[i] / H;
  return tensor(mean, [T, S]);
}

/**
 * The words that are likely now, or were with all heads on: [word, now, before].
 * @param {Float32Array} now
 * @param {Float32Array} before
 * @param {string[]} vocabulary
 * @param {number} rows
 */
export function likeliest(now, before, vocabulary, rows) {
  const most = (i) => Math.max(now[i], before[i]);
  const order = [...now.keys()].sort((a, b) => most(b) - most(a)).slice(0,
    rows).sort((a, b) => now[b] - now[a]);
  return order.map((i) => /** @type {[string, number, number]} */ ([vocabulary[i], now[i], before[i]]));
}

/** What each head does for the word behind token t: how much the likeliest word loses without it.
 *  @param {TrainedModel} model @param {Reading} reading @param {number} t */
export function costs(model, { ids, plain }, t) {
  const V = model.vocabulary.length;
  const at = (result, word) => result.probabilities.data[t * V + word];
  const before = plain.probabilities.data.subarray(t * V, (t + 1) * V);
  const best = argmax(before);
  const without = (l, n) => before[best] - at(model.run(ids, { off: [[l, n]] }), best);
  const each = Array.from({ length: model.layers },
    (_, l) => Array.from({ length: model.heads }, (_, n) => without(l, n)));
  return { best, p: before[best], costs: each };
}

/**
 * How much a head looks like one of those that have a name (Olsson et al. 2022): the share of its weight
 * that goes to
 * the previous word, itself, the first word, what followed an earlier copy of this word (induction), such a
 * copy.
 * The mean over the words that have such a place, 0 where fewer than three have.
 * @param {Weights} weights @param {number} head @param {number[]} ids @returns {Record<string, number>}
 */
export function scoresOf({ data, shape: [, T] }, head, ids) {
  const at = (t, s) => data[(head * T + t) * T + s];
  const sum = (t, places) => places.reduce((all, s) => all + at(t, s), 0);
  const mean = (list) => (list.length < 3 ? 0 : list.reduce((all, x) => all + x, 0) / list.length);
  const copies = (t) => ids.flatMap((id, s) => (s < t && id === ids[t] ? [s] : []));
  const later = ids.map((_, t) => t).filter((t) => t > 1);
  const repeated = later.filter((t) => copies(t).length);
  return {
    previous: mean(later.map((t) => at(t, t - 1))),
    itself: mean(later.map((t) => at(t, t))),
    first: mean(later.map((t) => at(t, 0))),
    induction: mean(repeated.map((t) => sum(t, copies(t).map((s) => s + 1).filter((s) => s < t)))),
    copy: mean(repeated.map((t) => sum(t, copies(t)))),
  };
}
