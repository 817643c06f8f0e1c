/**
 * A text as a model reads it, a column a word. What stood there before stays: only new words are computed,
 * behind the keys and values of the old ones, which is what a cache is.
 *
 * @typedef {import("../twin/model.js").TrainedModel} Model
 * @typedef {import("../twin/inside.js").Values} Values
 * @typedef {{id: number, p: number}} Guess the likeliest word and its probability
 * @typedef {Object} Column
 * @property {number} id the word
 * @property {number} t its place, from 0
 * @property {(name: string) => Float32Array} at an inner value of this word; weights are [H, t + 1]
 * @property {Float32Array} probabilities of the word behind it
 * @property {Guess} guess
 * @property {number[]} sizes of the stream at each strip: root mean square
 * @property {Guess[]} lens what would be said at each strip
 * @property {Values} values of the run that computed it; it stands at `row` of them
 * @property {number} row
 */
import { inside, lens } from "../twin/inside.js";
import { probabilities } from "../twin/sampling.js";
import { argmax } from "../twin/tensor.js";

/** The strips of the stream, from the words up: behind each part that wrote to it. @param {Model} model */
export function stripsOf(model) {
  const fed = [...model.weights.keys()].some((name) => name.includes(".feed_forward."));
  const layer = (l) => [`layer.${l + 1}.attention`, ...(fed ? [`layer.${l + 1}.feed_forward`] : [])];
  return ["embedding", ...Array.from({ length: model.layers }, (_, l) => layer(l)).flat()];
}

/** Root mean square. @param {Float32Array} x */
const sizeOf = (x) => Math.sqrt(x.reduce((sum, one) => sum + one * one, 0) / x.length);

/** @param {Float32Array} row logits @returns {Guess} */
function best(row) {
  const id = argmax(row);
  return { id, p: probabilities(row)[id] };
}

/** The columns of words that were computed together. @param {Model} model @param {string[]} strips
 *  @param {number[]} ids @param {number} begin @returns {Column[]} */
function columnsOf(model, strips, ids, begin, { values, probabilities: shares }, off) {
  const T = ids.length;
  const seen = strips.map((name) => lens(model, values.get(`${name}.stream`), off));
  return ids.map((id, row) => {
    const slice = ({ data, shape }) => {
      const width = data.length / shape[0];
      return data.subarray(row * width, (row + 1) * width);
    };
    const t = begin + row;
    /** @type {Map<string, Float32Array>} */
    const cut = new Map();
    const at = (name) => {
      if (!cut.has(name)) cut.set(name, name.endsWith(".weights")
        ? weightsOf(values.get(name), row, T, t) : slice(values.get(name)));
      return cut.get(name);
    };
    return { id, t, row, values, at, probabilities: slice(shares), guess: best(slice(values.get("logits"))),
      sizes: strips.map((name) => sizeOf(at(`${name}.stream`))),
      lens: seen.map((logits) => best(slice(logits))) };
  });
}

/** [H, t + 1] of the weights [H, T, S]. */
function weightsOf({ data, shape: [H, , S] }, row, T, t) {
  const own = new Float32Array(H * (t + 1));
  for (let n = 0; n < H; n++) own.set(data.subarray((n * T + row) * S, (n * T + row) * S + t + 1), n
    * (t + 1));
  return own;
}

/** Reads texts one after another, each from where it departs from the last. @param {Model} model */
export function reader(model) {
  const strips = stripsOf(model);
  let last = { off: "", ids: /** @type {number[]} */ ([]), columns: /** @type {Column[]} */ ([]),
    state: null };
  /** @param {number[]} ids @param {string[]} off @returns {{columns: Column[], fresh: number}} `fresh`: how
   *  many had to be computed */
  return (ids, off) => {
    const key = off.join();
    if (last.off !== key) last = { off: key, ids: [], columns: [], state: null };
    let same = 0;
    while (same < ids.length && same < last.ids.length && ids[same] === last.ids[same]) same++;
    if (same === ids.length) {
      last = { ...last, ids, columns: last.columns.slice(0, same) };
      return { columns: last.columns, fresh: 0 };
    }
    if (last.state) model.rewind(last.state, same);
    const found = inside(model, ids.slice(same), { off, state: same ? last.state : undefined });
    const fresh = columnsOf(model, strips, ids.slice(same), same, found, off);
    last = { off: key, ids, columns: [...last.columns.slice(0, same), ...fresh], state: found.state };
    return { columns: last.columns, fresh: fresh.length };
  };
}

/** What the text itself costs: mean −ln p of each of its words but the first, in nats; NaN for one word.
 *  @param {Column[]} columns */
export function costOf(columns) {
  const nats = columns.slice(1).map(({ id }, t) => -Math.log(Math.max(columns[t].probabilities[id], 1e-30)));
  return nats.reduce((sum, one) => sum + one, 0) / nats.length;
}

/** Votes by part, a sublayer's own as the sum of what stands in it. @param {Map<string, number>} counted */
export function sumsOf(counted) {
  const sums = new Map(counted);
  for (const [name, vote] of counted) {
    const whole = name.replace(/\.head\.\d+$|\.attention\.bias$/, ".attention")
      .replace(/\.expert\.\d+$/, ".feed_forward");
    if (whole !== name) sums.set(whole, (sums.get(whole) ?? 0) + vote);
  }
  return sums;
}

/** The layer that says most for a word, from 1. @param {Map<string, number>} sums @param {number} layers */
export function loudest(sums, layers) {
  const by = new Float64Array(layers + 1);
  for (const [name, vote] of sums) {
    if (/\.(attention|feed_forward)$/.test(name)) by[Number(name.split(".")[1])] += vote;
  }
  return 1 + argmax(by.slice(1));
}
