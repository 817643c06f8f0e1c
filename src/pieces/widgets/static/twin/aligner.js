/** The twin of `pieces.models.aligner`: one GRU in both directions reads, another writes and looks back. */
import { dot, linear, sigmoid, softmaxInPlace, tensor } from "./flat.js";
import { need, projection } from "./layers.js";
import { lookUp } from "./decoder.js";

/** @typedef {import("./trace.js").Watcher} Watcher */
/** @typedef {import("./layers.js").Weights} Weights */
/** @typedef {{annotations: Float32Array, keys: Float32Array, state: Float32Array, length: number}} Remembered
 *   what was read, [S, D], and its side of the score, [S, score_dim]; the writer's state, [D] */

/**
 * One step of a gated recurrent unit (Cho et al. 2014), its gates in torch's order: reset, update, new.
 * @param {Weights} weights @param {string} name @param {string=} suffix
 * @returns {(x: Float32Array, state: Float32Array) => Float32Array}
 */
function gru(weights, name, suffix = "") {
  const [W, U, b, c] = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
    .map((part) => need(weights, `${name}.${part}${suffix}`).data);
  return (x, state) => {
    const D = state.length;
    const fromX = linear(x, 1, W, b, 3 * D, x.length);
    const fromState = linear(state, 1, U, c, 3 * D, D);
    return state.map((old, d) => {
      const [reset, update] = [d, D + d].map((i) => sigmoid(fromX[i] + fromState[i]));
      const fresh = Math.tanh(fromX[2 * D + d] + reset * fromState[2 * D + d]);
      return (1 - update) * fresh + update * old;
    });
  };
}

const joined = (a, b) => Float32Array.of(...a, ...b);

/** @param {import("./safetensors.js").Packed} packed */
export function aligner({ config, tensors: weights }) {
  const { d_model: D, score_dim: K } = config;
  const [half, table] = [D / 2, need(weights, "embedding.weight")];
  const [onward, backward] = ["_l0", "_l0_reverse"].map((way) => gru(weights, "reader", way));
  const write = gru(weights, "writer");
  const [start, mix, head] = ["start", "mix", "head"].map((name) => projection(weights, name));
  const [W, U, v] = ["W", "U", "v"].map((part) => need(weights, `core.score.${part}.weight`).data);

  /** One vector for each token. @param {number[]} ids @param {Watcher} watch */
  function embedded(ids, watch) {
    const x = lookUp(table, ids);
    watch.note("embedding", "output", tensor(x, [ids.length, D]));
    return ids.map((_, t) => x.subarray(t * D, (t + 1) * D));
  }

  /** softmax of v · tanh(W h + U s) over what was read, [S].
   *  @param {Remembered} memory */
  function weigh({ keys, state }) {
    const q = linear(state, 1, U, null, K, D);
    const A = new Float32Array(keys.length / K);
    for (let s = 0; s < A.length; s++) {
      A[s] = dot(v, 0, q.map((x, k) => Math.tanh(x + keys[s * K + k])), 0, K);
    }
    softmaxInPlace(A, 0, A.length);
    return A;
  }

  /** The average of what was read, by these weights. @param {Float32Array} A @param {Float32Array} h */
  function average(A, h) {
    const sums = new Float64Array(D);
    A.forEach((a, s) => { for (let d = 0; d < D; d++) sums[d] += a * h[s * D + d]; });
    return Float32Array.from(sums);
  }

  return {
    longest: Infinity,
    /** Read the source. @param {number[]} source @param {Watcher} watch @returns {Remembered} */
    start(source, watch) {
      const x = embedded(source, watch);
      const S = x.length;
      const annotations = new Float32Array(S * D);
      /** @type {Float32Array[]} */
      let [there, back] = [new Float32Array(half), new Float32Array(half)];
      for (let s = 0; s < S; s++) {
        there = onward(x[s], there);
        back = backward(x[S - 1 - s], back);
        annotations.set(there, s * D);
        annotations.set(back, (S - 1 - s) * D + half);
      }
      const state = start(annotations.slice(half, D), 1, watch).map(Math.tanh);
      return { annotations, keys: linear(annotations, S, W, null, K, D), state, length: 0 };
    },
    /** The logits of these target tokens, which follow on those remembered.
     *  @param {Remembered} memory @param {number[]} ids @param {Watcher} watch
     *  @param {{last?: boolean}=} options */
    logits(memory, ids, watch, { last = false } = {}) {
      const S = memory.annotations.length / D;
      const rows = embedded(ids, watch).map((word) => {
        const A = weigh(memory);
        const context = average(A, memory.annotations);
        memory.state = write(joined(word, context), memory.state);
        return { A, context, hidden: mix(joined(memory.state, context), 1, watch).map(Math.tanh) };
      });
      memory.length += ids.length;
      const numbers = (part) => Float32Array.from(rows.flatMap((row) => [...row[part]]));
      const all = (part, size) => tensor(numbers(part), [1, ids.length, size]);
      watch.note("core", "weights", all("A", S));
      watch.note("core", "output", all("context", D));
      const y = all("hidden", D).data;
      const T = last ? 1 : ids.length;
      return tensor(head(last ? y.slice(-D) : y, T, watch), [T, config.vocab_size]);
    },
  };
}
