/**
 * What a mixture of experts does with a text: who visits whom, with some experts shut and with little room.
 *
 * @typedef {import("../twin/model.js").TrainedModel} TrainedModel
 * @typedef {{weights: number[][], experts: number[][], logits: number[][], room: boolean[][], load: number[],
 *   balance: number}} Layer by word: weights and experts of its k choices, all logits, if each found room;
 *   `load` is the share of all choices by expert
 * @typedef {{layers: Layer[], probabilities: import("../twin/flat.js").Tensor, capacity: number}} Journey
 */
import { once, textReader } from "../twin/memo.js";
import { capacityOf, loadBalancingLoss, withinCapacity } from "../twin/routing.js";

/** One run; `closed` are [layer, expert] from 0, `factor` 0 is no limit.
 *  @param {TrainedModel} model @param {number[]} ids @param {number[][]} closed @param {number} factor
 *  @returns {Journey} */
function travel(model, ids, closed, factor) {
  const { n_experts: E, k } = model.config;
  const T = ids.length;
  const capacity = factor ? capacityOf(factor, T, k, E) : Infinity;
  /** @type {any[]} */
  const seen = Array.from({ length: model.layers }, () => ({}));
  const rows = (data, n) => Array.from({ length: T }, (_, t) => Array.from(data.subarray(t * n, (t
    + 1) * n)));
  /** @type {import("../twin/trace.js").Edit} */
  const edit = (name, key, { data }) => {
    const found = name.match(/^stack\.blocks\.(\d+)\.feed_forward\.router(\.gate)?$/);
    if (!found) return;
    const l = Number(found[1]);
    if (found[2]) {
      const shut = closed.filter(([layer]) => layer === l).map(([, e]) => e);
      for (let i = 0; i < data.length; i++) if (shut.includes(i % E)) data[i] = -Infinity;
      return;
    }
    seen[l][key] = data;
    if (key !== "experts") return; // the weights were told just before
    seen[l].room = withinCapacity(rows(data, k), E, capacity);
    seen[l].room.flat().forEach((has, i) => { if (!has) seen[l].weights[i] = 0; });
  };
  const { probabilities } = model.run(ids, { edit });
  const layers = seen.map(({ room, ...data }) => {
    const [weights, experts, logits] = [rows(data.weights, k), rows(data.experts, k), rows(data.logits, E)];
    const load = Array.from({ length: E }, (_, e) => experts.flat().filter((one) =>
      one === e).length / (T * k));
    return { weights, experts, logits, room, load, balance: loadBalancingLoss(logits, experts) };
  });
  return { layers, probabilities, capacity };
}

/** Reads a text of at most `most` words; what was computed stays until something changes.
 *  @param {TrainedModel} model @param {number} most */
export function routes(model, most) {
  const told = textReader(model, most);
  const freely = once(/** @param {number[]} ids */ (ids) => travel(model, ids, [], 0));
  return once(/** @param {string} typed @param {number[][]} closed @param {number} factor
    @returns {import("../twin/memo.js").Text & {plain?: Journey, now?: Journey}} */
    (typed, closed, factor) => {
      const read = told(typed);
      if (!read.ids.length) return read;
      const plain = freely(read.ids);
      return { ...read, plain,
        now: closed.length || factor ? travel(model, read.ids, closed, factor) : plain };
    });
}
