/** What a LLaMA of these sizes costs: parameters by part, operations, cache, memory, bytes a step.
 *  The names are those of LlamaConfig; a `window` of 0 is none. */

/** @typedef {{vocab_size: number, d_model: number, n_layers: number, n_heads: number, n_kv_heads: number,
 *   head_dim: number, d_ff: number, max_seq_len: number, window: number, tied: boolean, bias: boolean,
 *   ff_bias: boolean}} Sizes
 *  @typedef {{length: number, batch: number, weights: number, cache: number}} Run bytes a number of each */

export const BYTES = { float32: 4, bfloat16: 2, int8: 1, int4: 0.5 };
export const PARTS = ["embedding", "attention", "feed-forward", "norms", "head"];

/** Training in two precisions with Adam, in bytes a parameter: ZeRO, 3.1. */
export const TRAINING = { weights: 2, gradients: 2, copy: 4, moments: 8 };

const sizes = (vocab_size, d_model, n_layers, n_heads, d_ff, n_kv_heads, max_seq_len, more = {}) => ({
  vocab_size, d_model, n_layers, n_heads, n_kv_heads, head_dim: d_model / n_heads, d_ff, max_seq_len,
  window: 0, tied: false, bias: false, ff_bias: false, ...more });

/** @type {Record<string, Sizes>} */
export const PRESETS = {
  "llama-7b": sizes(32000, 4096, 32, 32, 11008, 32, 2048),
  "llama-13b": sizes(32000, 5120, 40, 40, 13824, 40, 2048),
  "llama-33b": sizes(32000, 6656, 60, 52, 17920, 52, 2048),
  "llama-65b": sizes(32000, 8192, 80, 64, 22016, 64, 2048),
  "llama-2-7b": sizes(32000, 4096, 32, 32, 11008, 32, 4096),
  "llama-2-13b": sizes(32000, 5120, 40, 40, 13824, 40, 4096),
  "llama-2-70b": sizes(32000, 8192, 80, 64, 28672, 8, 4096),
  "llama-3-8b": sizes(128256, 4096, 32, 32, 14336, 8, 8192),
  "mistral-7b-v0.1": sizes(32000, 4096, 32, 32, 14336, 8, 32768, { window: 4096 }),
  stories_llama: sizes(496, 96, 3, 4, 256, 4, 256, { tied: true, bias: true }),
};

/** The numbers of one layer's attention, without its biases. @param {Sizes} s */
const attentionMatrices = (s) => 2 * s.d_model * s.head_dim * (s.n_heads + s.n_kv_heads);

/** Parameters by part, and in all. @param {Sizes} s @returns {Record<string, number>} */
export function countParameters(s) {
  const { vocab_size: V, d_model: D, n_layers: L, d_ff: F } = s;
  const biases = s.bias ? s.head_dim * (s.n_heads + 2 * s.n_kv_heads) + D : 0;
  const parts = {
    embedding: V * D,
    attention: L * (attentionMatrices(s) + biases),
    "feed-forward": L * (3 * D * F + (s.ff_bias ? 2 * F + D : 0)),
    norms: (2 * L + 1) * D,
    head: s.tied ? 0 : V * D,
  };
  return { ...parts, total: PARTS.reduce((sum, name) => sum + parts[name], 0) };
}

/** How many keys a token looks at, itself among them. @param {Sizes} s @param {number} length */
export const reach = (s, length) => (s.window ? Math.min(s.window, length) : length);

/** Additions and multiplications of the matrix products of one token, the last of `length`.
 *  @param {Sizes} s @param {number} length */
export function operations(s, length) {
  const numbers = s.n_layers * (attentionMatrices(s) + 3 * s.d_model * s.d_ff) + s.vocab_size * s.d_model;
  return 2 * numbers + 4 * s.n_layers * s.n_heads * s.head_dim * reach(s, length);
}

/** Keys and values of a batch.
 *  @param {Sizes} s @param {number} length @param {number} batch @param {number} bytes */
export const cacheBytes = (s, length, batch, bytes) =>
  2 * s.n_layers * s.n_kv_heads * s.head_dim * reach(s, length) * batch * bytes;

/** What one step reads: every weight that takes part in a product, norms and biases, and the cache.
 *  Of an embedding that is not the head it reads a row, which is left out.
 *  @param {Sizes} s @param {Run} run */
export function bytesRead(s, { length, batch, weights, cache }) {
  const { total, embedding } = countParameters(s);
  return (total - (s.tied ? 0 : embedding)) * weights + cacheBytes(s, length, batch, cache);
}

/** Bytes by part: to write, and to train with Adam. @param {Sizes} s @param {Run} run */
export function memory(s, { length, batch, weights, cache }) {
  const { total } = countParameters(s);
  const training = Object.fromEntries(Object.entries(TRAINING).map(([name, bytes]) => [name, bytes * total]));
  return {
    inference: { weights: total * weights, cache: cacheBytes(s, length, batch, cache) },
    training: { ...training, inputs: 2 * batch * length * s.d_model * s.n_layers },
  };
}
