/**
 * The twin of `pieces.inside`: everything that happens inside a decoder-only model while it reads.
 *
 *   const { values, state } = inside(model, ids, { off: ["layer.2.head.4"] });
 *   values.get("layer.2.weights")                      // [H, T, S]
 *   inside(model, [next], { state })                   // reads on: the new words only
 *   lens(model, values.get("layer.1.attention.stream"), off)
 *   votes(model, values, token, t, off)                // who speaks for this word, and how loudly
 *
 * @typedef {import("./flat.js").Tensor} Tensor
 * @typedef {Map<string, Tensor>} Values
 * @typedef {import("./model.js").TrainedModel} Model
 * @typedef {import("./model.js").State} State
 */
import { dot, layerNorm, linear, rmsNorm, tensor } from "./flat.js";
import { parts, pulledOut } from "./switches.js";

const KEEP = ["embedding", "embedding_norm", "stack.final_norm", "weights", "routing",
  "stack.blocks.*.attention_residual.norm", "stack.blocks.*.feed_forward_residual.norm",
  "stack.blocks.*.attention.core", "stack.blocks.*.attention", "stack.blocks.*.attention_residual",
  "stack.blocks.*.feed_forward.gate", "stack.blocks.*.feed_forward.up",
  "stack.blocks.*.feed_forward.dropout", "stack.blocks.*.feed_forward.experts",
  "stack.blocks.*.feed_forward", "stack.blocks.*.feed_forward_residual"];
/** Where each value of a layer stands among the inner values of a run. @type {[string, string, string][]} */
const OF_LAYER = [
  ["attention.normed", "attention_residual.norm", "output"], ["queries", "attention.core", "queries"],
  ["keys", "attention.core", "keys"], ["values", "attention.core", "values"],
  ["weights", "attention.core", "weights"], ["heads", "attention.core", "output"],
  ["attention", "attention", "output"], ["attention.stream", "attention_residual", "output"],
  ["feed_forward.normed", "feed_forward_residual.norm", "output"],
  ["gate", "feed_forward.gate", "output"], ["up", "feed_forward.up", "output"],
  ["units", "feed_forward.dropout", "output"], ["router", "feed_forward.router", "logits"],
  ["experts", "feed_forward.router", "experts"], ["shares", "feed_forward.router", "weights"],
  ["visits", "feed_forward.experts", "visits"], ["feed_forward", "feed_forward", "output"],
  ["feed_forward.stream", "feed_forward_residual", "output"],
];

/** Every inner value of these words, which follow on those that `state` remembers, by name.
 *  @param {Model} model @param {number[]} ids @param {{off?: string[], state?: State}} options
 *  @returns {{values: Values, state: State, probabilities: Tensor}} */
export function inside(model, ids, { off = [], state } = {}) {
  const pulled = pulledOut(off, parts(model));
  const begin = state?.memory.length ?? 0;
  const run = model.run(ids, { state, keep: KEEP, pulled });
  const at = (name, key = "output") => run.inner[name]?.[key];
  /** @type {Values} */
  const values = new Map([["embedding", at("embedding")]]);
  const places = model.weights.get("position.weight");
  if (places) values.set("positions", added(places, begin, ids.length, off));
  values.set("embedding.stream", at("embedding_norm"));
  for (let l = 0; l < model.layers; l++) {
    for (const [name, module, key] of OF_LAYER) {
      const value = at(`stack.blocks.${l}.${module}`, key);
      if (value) values.set(`layer.${l + 1}.${name}`, name === "heads" ? byToken(value) : value);
    }
  }
  values.set("norm", at("stack.final_norm")).set("logits", run.logits);
  return { values, state: run.state, probabilities: run.probabilities };
}

/** The rows of the positions. @param {Tensor} table @param {number} begin @param {number} T */
function added({ data, shape: [, D] }, begin, T, off) {
  const rows = off.includes("positions") ? new Float32Array(T * D)
    : data.slice(begin * D, (begin + T) * D);
  return tensor(rows, [T, D]);
}

/** [H, T, K] → [T, H, K]. @param {Tensor} z */
function byToken({ data, shape: [H, T, K] }) {
  const turned = new Float32Array(data.length);
  for (let h = 0; h < H; h++) for (let t = 0; t < T; t++) {
    turned.set(data.subarray((h * T + t) * K, (h * T + t + 1) * K), (t * H + h) * K);
  }
  return tensor(turned, [T, H, K]);
}

/** Scores of the queries against all keys so far, −∞ for what is not seen: [H, T, S].
 *  @param {Tensor} queries @param {Tensor} keys @param {number=} window */
export function scores({ data: q, shape: [T, H, K] }, { data: k, shape: [S, G] }, window = Infinity) {
  const found = new Float32Array(H * T * S).fill(-Infinity);
  for (let h = 0; h < H; h++) for (let t = 0; t < T; t++) {
    const last = S - T + t;
    for (let s = Math.max(0, last - window + 1); s <= last; s++) {
      found[(h * T + t) * S + s] = dot(q, (t * H + h) * K, k, (s * G + Math.floor((h * G) / H)) * K, K)
        / Math.sqrt(K);
    }
  }
  return tensor(found, [H, T, S]);
}

/** What the stream is compared with, a row for each word. @param {Model} model */
export const table = (model) => model.weights.get("head.weight") ?? model.weights.get("embedding.weight");

/** The logits if the model stopped here: the stream [T, D], through the final norm, against all words.
 *  @param {Model} model @param {Tensor} stream @param {string[]=} off */
export function lens(model, { data, shape: [T, D] }, off = []) {
  const [gain, shift] = ["weight", "bias"].map((part) =>
    model.weights.get(`stack.final_norm.${part}`)?.data ?? null);
  const eps = model.config.norm_eps;
  const normed = off.includes("norm") ? data
    : model.kind === "gpt2" ? layerNorm(data, gain, shift, eps) : rmsNorm(data, gain, eps);
  const words = table(model);
  return tensor(linear(normed, T, words.data, null, words.shape[0], D), [T, words.shape[0]]);
}

/** What a part's output is multiplied with to give its vote for a word, [D]: the word's row, weighed by the
 *  final norm, over the size of the stream where it ends. @param {Model} model @param {Float32Array} x
 *  @param {number} token @param {string[]=} off */
export function reading(model, x, token, off = []) {
  const D = x.length;
  const row = Float64Array.from(table(model).data.subarray(token * D, (token + 1) * D));
  if (off.includes("norm")) return row;
  const gain = model.weights.get("stack.final_norm.weight").data;
  const weighed = row.map((e, d) => e * gain[d]);
  const mean = (list) => list.reduce((sum, one) => sum + one, 0) / D;
  const [middle, tilt] = model.kind === "gpt2" ? [mean(x), mean(weighed)] : [0, 0];
  let square = 0;
  for (const one of x) square += (one - middle) ** 2 / D;
  const size = Math.sqrt(square + model.config.norm_eps);
  return weighed.map((one) => (one - tilt) / size);
}

/** The logit of a word behind word t, as an exact sum over the parts that wrote for it.
 *  @param {Model} model @param {Values} values @param {number} token @param {number} t @param {string[]=} off
 *  @returns {Map<string, number>} */
export function votes(model, values, token, t, off = []) {
  const row = (name) => {
    const { data, shape } = values.get(name);
    const width = data.length / shape[0];
    return data.subarray(t * width, (t + 1) * width);
  };
  const last = [...values.keys()].filter((name) => name.endsWith(".stream")).at(-1);
  const out = reading(model, row(last), token, off);
  let found = new Map();
  for (const name of ["embedding", "positions"]) {
    if (values.has(name)) found.set(name, product(row(name), 0, out));
  }
  for (const name of [...values.keys()].filter((one) => /\.(attention|feed_forward)$/.test(one))) {
    if (off.includes(`${name}.path`)) found = new Map();
    if (off.includes(name)) continue;
    for (const [part, vote] of said(model, name, row, values, out)) found.set(part, vote);
  }
  const shift = model.weights.get("stack.final_norm.bias");
  if (shift && !off.includes("norm")) {
    found.set("norm.shift", product(shift.data, 0, reading(model, shift.data, token, ["norm"])));
  }
  return found;
}

/** Σ x_i out_i from a place on. @param {Float32Array} x @param {number} from @param {Float64Array} out */
function product(x, from, out) {
  let sum = 0;
  for (let d = 0; d < out.length; d++) sum += x[from + d] * out[d];
  return sum;
}

/** The votes inside a sublayer, by head or by expert where it has them. @param {Model} model
 *  @param {string} name @param {(name: string) => Float32Array} row @param {Values} values
 *  @param {Float64Array} out @returns {[string, number][]} */
function said(model, name, row, values, out) {
  const layer = name.slice(0, name.lastIndexOf("."));
  if (name.endsWith(".attention")) return spoken(model, layer, row(`${layer}.heads`), out);
  if (!values.has(`${layer}.experts`)) return [[name, product(row(name), 0, out)]];
  const [visits, shares] = [row(`${layer}.visits`), row(`${layer}.shares`)];
  return [...row(`${layer}.experts`)].map((e, i) =>
    [`${layer}.expert.${e + 1}`, shares[i] * product(visits, i * out.length, out)]);
}

/** The votes of the heads of a layer, and of the bias behind them. @returns {[string, number][]} */
function spoken(model, layer, heads, out) {
  const name = `stack.blocks.${Number(layer.split(".")[1]) - 1}.attention.output`;
  const { data: W, shape: [D, width] } = model.weights.get(`${name}.weight`);
  const K = width / model.heads;
  const back = new Float64Array(width); // what each number of the heads counts for this word
  for (let d = 0; d < D; d++) for (let c = 0; c < width; c++) back[c] += W[d * width + c] * out[d];
  const found = Array.from({ length: model.heads }, (_, n) => /** @type {[string, number]} */ (
    [`${layer}.head.${n + 1}`, product(heads, n * K, back.subarray(n * K, (n + 1) * K))]));
  const bias = model.weights.get(`${name}.bias`);
  return bias ? [...found, [`${layer}.attention.bias`, product(bias.data, 0, out)]] : found;
}
