/** How large the signal is on its way up an untrained stack, and the gradient on its way down. */
import { BENDS, gated, open, widthOf } from "./bench.js";
import { activations, normalBelow, sigmoid } from "../twin/flat.js";
import { alibiSlopes, sinusoidal, t5Bucket } from "../twin/position_twin.js";
import { attend, mixed } from "./mixing.js";
import { Tape } from "./tape.js";
import { uniform } from "../twin/twin.js";

const MOST = { d_model: 64, n_layers: 12, n_heads: 4, head_dim: 16, n_experts: 4, length: 8 };
const bell = (x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
const SLOPES = {
  relu: (x) => (x > 0 ? 1 : 0), identity: () => 1,
  sigmoid: (x) => sigmoid(x) * (1 - sigmoid(x)),
  swish: (x) => sigmoid(x) * (1 + x * (1 - sigmoid(x))),
  gelu: (x) => normalBelow(x) + x * bell(x),
};

/** The same parts in a size that is looked at while a control moves; small models are looked at themselves.
 *  @param {import("./bench.js").Wish} s */
export function inSmall(s) {
  const least = (name) => Math.min(s[name], MOST[name]);
  const [d_model, n_heads] = [least("d_model"), least("n_heads")];
  const shared = s.n_kv_heads === s.n_heads ? n_heads : s.n_kv_heads === 1 ? 1 : Math.min(s.n_kv_heads, 2);
  const [n_experts, length] = [least("n_experts"), least("length")];
  const rope = s.position === "rope";
  const d_ff = Math.max(1, Math.min(Math.round((s.d_ff / s.d_model) * d_model), 8 * MOST.d_model));
  return { ...s, d_model, n_heads, d_ff, n_experts, length, n_layers: least("n_layers"),
    n_kv_heads: n_heads % shared ? 1 : shared,
    head_dim: rope ? 2 * Math.floor(least("head_dim") / 2) : least("head_dim"),
    n_chosen: Math.min(s.n_chosen, n_experts), prefix_len: Math.min(s.prefix_len, length - 1) };
}
/** Whether that is the model itself, read on its first words. */
export const itself = (s, small) => ["d_model", "n_layers", "n_heads", "n_kv_heads", "head_dim", "d_ff",
  "n_experts", "n_chosen"].every((name) => s[name] === small[name]);

/** First weights as torch draws them: U(±1/√n), or DeepNorm's N(0, gain² 2 / (n + m)), biases 0 there. */
export function firstWeights(s, seed) {
  const next = uniform(seed);
  const drawn = (size, one) => {
    const all = new Float64Array(size);
    for (let i = 0; i < size; i++) all[i] = one();
    return all;
  };
  const normal = (size, std) => drawn(size, () =>
    std * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()));
  const flat = (size, n) => drawn(size, () => (2 * next() - 1) / Math.sqrt(n));
  const beta = s.place === "deep" ? (8 * s.n_layers) ** -0.25 : null;
  const linear = (m, n, gain, biased = s.bias) => ({
    W: beta === null ? flat(m * n, n) : normal(m * n, gain * Math.sqrt(2 / (m + n))),
    b: !biased ? null : beta === null ? flat(m, n) : new Float64Array(m),
  });
  const { d_model: D, n_heads: H, n_kv_heads: G, head_dim: K } = s;
  const F = widthOf(s);
  const expert = () => ({ up: linear(F, D, beta), down: linear(D, F, beta),
    ...(gated(s) && { gate: linear(F, D, beta) }) });
  const layer = () => ({
    query: linear(H * K, D, 1), key: linear(G * K, D, 1), value: linear(G * K, D, beta),
    output: linear(D, H * K, beta),
    learned: { W: flat(K * K, K), U: flat(K * K, K), v: flat(K, K) },
    experts: Array.from({ length: s.n_experts }, expert), router: linear(s.n_experts, D, beta, false),
  });
  return { embedded: normal(s.length * D, 1), table: normal(s.length * D, 0.02),
    buckets: normal(32 * H, 0.02), asked: normal(s.length * D, 1),
    layers: Array.from({ length: s.n_layers }, layer) };
}

const MASKS = {
  causal: () => (i, j) => j <= i, full: () => () => true,
  window: (s) => (i, j) => j <= i && j > i - s.window,
  prefix: (s) => (i, j) => j <= i || j < s.prefix_len,
};
const BIASES = {
  alibi: (s) => { const slopes = alibiSlopes(s.n_heads); return (n, i, j) => -slopes[n] * Math.abs(i - j); },
  t5: (s, w) => (n, i, j) => w.buckets[n
    + s.n_heads * t5Bucket(j - i, 32, 128, s.mask === "full" || s.mask === "prefix")],
};

/** What the first block is handed: words of size 1, and what is added to them. */
function start(s, w) {
  if (s.position === "learned") return w.embedded.map((x, i) => x + w.table[i]);
  if (s.position !== "sinusoidal") return w.embedded;
  const code = sinusoidal(Array.from({ length: s.length }, (_, t) => t), s.d_model, 10000).flat();
  return w.embedded.map((x, i) => x + code[i]);
}

/** One residual connection on the tape. */
function connected(tape, s, x, sublayer) {
  const norm = (y) => tape.norm(y, s.norm);
  if (s.place === "bare") return tape.add(x, sublayer(x));
  if (s.place === "pre") return tape.add(x, sublayer(norm(x)));
  if (s.place === "sandwich") return tape.add(x, norm(sublayer(norm(x))));
  return norm(tape.add(x, sublayer(x), s.place === "deep" ? (2 * s.n_layers) ** 0.25 : 1));
}

const rms = (list) => Math.sqrt(list.reduce((sum, x) => sum + x * x, 0) / list.length);

/** The size of the stream below the first sublayer and behind each, two in a layer, and of the gradient
 *  there: `asked`, of size 1, is what it is behind the stack.
 *  @returns {{forward: number[], backward: number[]}} */
export function sizesAlong(s, w) {
  const tape = new Tape();
  const sees = MASKS[s.mask](s);
  const bias = BIASES[s.position]?.(s, w) ?? (() => 0);
  const by = (x, { W, b }) => tape.linear(x, W, b);
  const how = { H: s.n_heads, G: s.n_kv_heads, K: s.head_dim, score: s.score, sees, bias };
  const turn = (x) => (s.position === "rope" ? tape.rotate(x, s.head_dim) : x);
  /** @type {[(x: number) => number, (x: number) => number]} */
  const bent = [activations[BENDS[s.activation]], SLOPES[BENDS[s.activation]]];
  const network = (x, { up, gate, down }) => by(gate
    ? tape.times(tape.bend(by(x, gate), bent), by(x, up)) : tape.bend(by(x, up), bent), down);
  const stream = [tape.node(start(s, w), s.length)];
  for (const layer of w.layers) {
    const attention = (x) => by(attend(tape, turn(by(x, layer.query)), turn(by(x, layer.key)),
      by(x, layer.value), { ...how, learned: layer.learned }), layer.output);
    const feed = (x) => (s.n_experts === 1 ? network(x, layer.experts[0])
      : mixed(tape, by(x, layer.router), layer.experts.map((one) => network(x, one)), s.n_chosen));
    stream.push(connected(tape, s, stream[stream.length - 1], attention));
    stream.push(connected(tape, s, stream[stream.length - 1], feed));
  }
  const last = stream[stream.length - 1];
  tape.run(open(s) ? tape.norm(last, s.norm) : last, w.asked);
  return { forward: stream.map(({ v }) => rms(v)), backward: stream.map(({ g }) => rms(g)) };
}

let [known, found] = ["", null];
/** The same of a model of these parts, of one draw of its first weights; the last one is kept. */
export function looked(s, seed = 1) {
  const small = inSmall(s);
  const key = JSON.stringify([small, seed]);
  if (key !== known) [known, found] = [key, sizesAlong(small, firstWeights(small, seed))];
  return { ...found, small, own: itself(s, small) };
}
