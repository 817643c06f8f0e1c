/**
 * The layers of the trained models, each built from the weights of its name, each a function of x [T, D].
 *
 * @typedef {import("./flat.js").Tensor} Tensor
 * @typedef {import("./trace.js").Watcher} Watcher
 * @typedef {Map<string, Tensor>} Weights
 * @typedef {(x: Float32Array, T: number, watch: Watcher) => Float32Array} Layer
 * @typedef {{k: Float32Array, v: Float32Array, length: number}} Cache keys and values [length, G K] of one
 *   layer
 * @typedef {{cos: Float32Array, sin: Float32Array}|null} Turn
 */
import { activations, dot, layerNorm, linear, plus, rmsNorm, rotate, softmaxInPlace,
  tensor } from "./flat.js";

/** @param {Weights} weights @param {string} name */
export function need(weights, name) {
  const found = weights.get(name);
  if (!found) throw new RangeError(`${name}: the file has no such weights.`);
  return found;
}

/** x Wᵀ + b. @param {Weights} weights @param {string} name @returns {Layer} */
export function projection(weights, name) {
  const { data, shape: [m, n] } = need(weights, `${name}.weight`);
  const bias = weights.get(`${name}.bias`)?.data ?? null;
  return (x, T, watch) => {
    const y = linear(x, T, data, bias, m, n);
    watch.note(name, "output", tensor(y, [T, m]));
    return y;
  };
}

/**
 * What turns the stream into logits: the head, or the table of the embedding read backwards.
 * @param {Weights} weights
 * @param {Tensor} table
 */
export function reader(weights, { data, shape: [V, D] }) {
  const head = weights.has("head.weight") ? projection(weights, "head") : null;
  /** @param {Float32Array} x @param {number} T @param {Watcher} watch */
  return (x, T, watch) => tensor(head ? head(x, T, watch) : linear(x, T, data, null, V, D), [T, V]);
}

/**
 * LayerNorm or RMSNorm; without weights of this name, x as it is.
 * @param {Weights} weights
 * @param {string} name
 * @param {"layer"|"rms"} kind
 * @param {number} eps
 * @returns {Layer}
 */
export function norm(weights, name, kind, eps) {
  const gain = weights.get(`${name}.weight`)?.data;
  const shift = weights.get(`${name}.bias`)?.data ?? null;
  return (x, T, watch) => {
    const y = !gain || watch.skips(name) ? x : kind === "rms" ? rmsNorm(x, gain, eps)
      : layerNorm(x, gain, shift, eps);
    watch.note(name, "output", tensor(y, [T, x.length / T]));
    return y;
  };
}

/** @returns {Cache} */
export const emptyCache = () => ({ k: new Float32Array(0), v: new Float32Array(0), length: 0 });

/**
 * `old` with `added` behind its first `used` numbers; the room doubles when it is used up.
 * @param {Float32Array} old
 * @param {number} used
 * @param {Float32Array} added
 */
function grown(old, used, added) {
  let room = old;
  if (used + added.length > old.length) {
    room = new Float32Array(2 * (used + added.length));
    room.set(old.subarray(0, used));
  }
  room.set(added, used);
  return room;
}

/**
 * Several heads side by side. Keys and values go into the cache; of a context, those of the first call stay.
 * @param {Weights} weights @param {string} name
 * @param {{heads: number, kvHeads: number, causal: boolean, window?: number|null}} sizes
 */
export function attention(weights, name, { heads, kvHeads, causal, window = null }) {
  const [query, key, value, output] = ["query", "key", "value",
    "output"].map((part) => projection(weights, `${name}.${part}`));
  const K = need(weights, `${name}.query.weight`).shape[0] / heads;
  const width = kvHeads * K;

  /**
   * Softmax of the scaled scores over the keys that each query sees: [H, T, S].
   * @param {Float32Array} q
   * @param {number} T
   * @param {Cache} cache
   */
  function weigh(q, T, { k, length: S }) {
    const A = new Float32Array(heads * T * S);
    const root = Math.sqrt(K);
    for (let h = 0; h < heads; h++) {
      const group = Math.floor((h * kvHeads) / heads) * K;
      for (let t = 0; t < T; t++) {
        const to = causal ? S - T + t + 1 : S;
        const from = window ? Math.max(0, to - window) : 0;
        const row = (h * T + t) * S;
        for (let s = from; s < to; s++) A[row + s] = dot(q, (t * heads + h) * K, k, s * width + group,
          K) / root;
        softmaxInPlace(A, row + from, to - from);
      }
    }
    return A;
  }

  /**
   * The weighted average of the values, [H, T, K].
   * @param {Float32Array} A
   * @param {number} T
   * @param {Cache} cache
   */
  function mixed(A, T, { v, length: S }) {
    const out = new Float32Array(heads * T * K);
    for (let at = 0; at < heads * T; at++) {
      const group = Math.floor((Math.floor(at / T) * kvHeads) / heads) * K;
      const sums = new Float64Array(K);
      for (let s = 0; s < S; s++) {
        const a = A[at * S + s];
        if (a !== 0) for (let d = 0, from = s * width + group; d < K; d++) sums[d] += a * v[from + d];
      }
      out.set(sums, at * K);
    }
    return out;
  }

  /** [H, T, K] → [T, H K]. @param {Float32Array} z @param {number} T */
  function merged(z, T) {
    const x = new Float32Array(z.length);
    for (let h = 0; h < heads; h++) {
      for (let t = 0; t < T; t++) x.set(z.subarray((h * T + t) * K, (h * T + t + 1) * K),
        (t * heads + h) * K);
    }
    return x;
  }

  /**
   * @param {Float32Array} x
   * @param {number} T
   * @param {Watcher} watch
   * @param {{cache: Cache, turn?: Turn, context?: Float32Array|null}} options
   */
  return function attend(x, T, watch, { cache, turn = null, context = null }) {
    const q = query(x, T, watch);
    if (!context || !cache.length) {
      const S = context ? context.length / need(weights, `${name}.key.weight`).shape[1] : T;
      const [k, v] = [key, value].map((project) => project(context ?? x, S, watch));
      if (turn) rotate(k, kvHeads, K, turn);
      cache.k = grown(cache.k, cache.length * width, k);
      cache.v = grown(cache.v, cache.length * width, v);
      cache.length += S;
    }
    if (turn) rotate(q, heads, K, turn);
    const A = weigh(q, T, cache);
    watch.note(`${name}.core`, "queries", tensor(q, [T, heads, K]));
    const stored = context ? 0 : cache.length - T; // of its own text, what this call added
    for (const [part, all] of Object.entries({ keys: cache.k, values: cache.v })) {
      const added = all.subarray(stored * width, cache.length * width);
      watch.note(`${name}.core`, part, tensor(added, [cache.length - stored, kvHeads, K]));
    }
    watch.note(`${name}.core`, "weights", tensor(A, [heads, T, cache.length]));
    const z = mixed(A, T, cache);
    watch.note(`${name}.core`, "output", tensor(z, [heads, T, K]));
    const y = output(merged(z, T), T, watch);
    watch.note(name, "output", tensor(y, [T, y.length / T]));
    return y;
  };
}

/**
 * Widen, bend, narrow; with a gate where there are weights for one.
 * @param {Weights} weights
 * @param {string} name
 * @param {string} activation
 * @returns {Layer}
 */
export function feedForward(weights, name, activation) {
  const bend = activations[activation];
  if (!bend) throw new RangeError(`activation: ${activation} is none of `
    + `${Object.keys(activations).join(", ")}.`);
  const [up, down] = ["up", "down"].map((part) => projection(weights, `${name}.${part}`));
  const gate = weights.has(`${name}.gate.weight`) ? projection(weights, `${name}.gate`) : null;
  return (x, T, watch) => {
    const open = gate ? gate(x, T, watch).map(bend) : null;
    const wide = up(x, T, watch);
    const units = open ? wide.map((u, i) => open[i] * u) : wide.map(bend);
    watch.note(`${name}.dropout`, "output", tensor(units, [T, units.length / T]));
    const y = down(units, T, watch);
    watch.note(name, "output", tensor(y, [T, y.length / T]));
    return y;
  };
}

/**
 * What a layer adds to the stream: the norm before it (`pre`), or behind the sum.
 * @param {Weights} weights
 * @param {string} name
 * @param {{pre: boolean, kind: "layer"|"rms", eps: number}} style
 */
export function residual(weights, name, { pre, kind, eps }) {
  const normed = norm(weights, `${name}.norm`, kind, eps);
  /**
   * @param {Float32Array} x
   * @param {number} T
   * @param {Watcher} watch
   * @param {(x: Float32Array) => Float32Array} layer
   */
  return (x, T, watch, layer) => {
    const past = (written) => (watch.skips(name) ? written : plus(x, written));
    const y = pre ? past(layer(normed(x, T, watch))) : normed(past(layer(x)), T, watch);
    watch.note(name, "output", tensor(y, [T, y.length / T]));
    return y;
  };
}
