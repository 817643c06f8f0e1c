/**
 * The twin of `pieces.models.decoder_only`: GPT-2, LLaMA, the attention-only model, and Mixtral with its
 * experts.
 */
import { plus, rotation, tensor } from "./flat.js";
import { attention, emptyCache, feedForward, need, norm, reader, residual } from "./layers.js";
import { mixture } from "./experts.js";

/** @typedef {import("./layers.js").Cache} Cache */
/** @typedef {import("./trace.js").Watcher} Watcher */
/** @typedef {{caches: Cache[], length: number}} Remembered */

/** Which norm and activation a kind has; positions and the feed-forward network show in its weights. */
const KINDS = {
  llama: { norm: "rms", activation: "swish" },
  mixtral: { norm: "rms", activation: "swish" },
  attention_only: { norm: "rms", activation: "swish" },
  gpt2: { norm: "layer", activation: "gelu_tanh" },
};

/** The rows of a table. @param {import("./flat.js").Tensor} table @param {number[]} ids */
export function lookUp({ data, shape: [V, D] }, ids, scale = 1) {
  const x = new Float32Array(ids.length * D);
  ids.forEach((id, t) => {
    if (!(Number.isInteger(id) && id >= 0 && id < V)) throw new RangeError(
      `ids: ${id} is no token; there are ${V}.`);
    for (let d = 0; d < D; d++) x[t * D + d] = Math.fround(scale) * data[id * D + d];
  });
  return x;
}

/** @param {import("./safetensors.js").Packed} packed */
export function decoderOnly({ kind, config, tensors: weights }) {
  const { n_layers: layers, n_heads: heads, n_kv_heads: kvHeads = null, norm_eps: eps } = config;
  const style = { pre: true, kind: KINDS[kind].norm, eps };
  if (config.rope_scaling) throw new RangeError(
    "rope_scaling: the page computes plain rotary positions only.");
  const table = need(weights, "embedding.weight");
  const D = table.shape[1];
  const places = weights.get("position.weight");
  const K = need(weights, "stack.blocks.0.attention.query.weight").shape[0] / heads;
  const read = reader(weights, table);
  const enter = norm(weights, "embedding_norm", style.kind, eps);
  const leave = norm(weights, "stack.final_norm", style.kind, eps);
  const blocks = Array.from({ length: layers }, (_, l) => block(`stack.blocks.${l}`));

  /** Attention, then what there is of a feed-forward network. @param {string} name */
  function block(name) {
    const sizes = { heads, kvHeads: kvHeads ?? heads, causal: true, window: config.window };
    const attend = attention(weights, `${name}.attention`, sizes);
    const first = residual(weights, `${name}.attention_residual`, style);
    const second = residual(weights, `${name}.feed_forward_residual`, style);
    const feed = weights.has(`${name}.feed_forward.router.gate.weight`)
      ? mixture(weights, `${name}.feed_forward`, config.k)
      : weights.has(`${name}.feed_forward.up.weight`)
        ? feedForward(weights, `${name}.feed_forward`, config.activation ?? KINDS[kind].activation) : null;
    /** @param {Float32Array} x @param {number} T @param {Watcher} watch @param {object} options */
    return (x, T, watch, options) => {
      let y = first(x, T, watch, (z) => attend(z, T, watch, /** @type {any} */ (options)));
      if (feed) y = second(y, T, watch, (z) => feed(z, T, watch));
      watch.note(name, "output", tensor(y, [T, D]));
      return y;
    };
  }

  return {
    /** How many tokens it can read, Infinity where nothing limits it. */
    longest: places ? places.shape[0] : Infinity,
    /** @returns {Remembered} */
    start: () => ({ caches: blocks.map(emptyCache), length: 0 }),
    /** Forget all but the first words. @param {Remembered} memory @param {number} length */
    rewind(memory, length) {
      memory.length = length;
      for (const cache of memory.caches) cache.length = length;
    },
    /** The logits of these tokens, which follow on those remembered: [T, V], or [1, V] of the `last` only.
     *  @param {Remembered} memory @param {number[]} ids @param {Watcher} watch @param {{last?: boolean}=}
     * options */
    logits(memory, ids, watch, { last = false } = {}) {
      const T = ids.length;
      /** @type {Float32Array} */
      let x = lookUp(table, ids);
      watch.note("embedding", "output", tensor(x, [T, D]));
      if (places && !watch.skips("position")) x = plus(x, lookUp(places,
        ids.map((_, t) => memory.length + t)));
      x = enter(x, T, watch);
      const turn = !config.rope_base || watch.skips("position") ? null
        : rotation(memory.length, T, K, config.rope_base);
      blocks.forEach((each, l) => { x = each(x, T, watch, { cache: memory.caches[l], turn }); });
      memory.length += T;
      x = leave(x, T, watch);
      watch.note("stack", "output", tensor(x, [T, D]));
      return read(last ? x.slice((T - 1) * D) : x, last ? 1 : T, watch);
    },
  };
}
