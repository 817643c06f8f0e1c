/** What a LLaMA of these sizes costs: parameters by part, operations, cache, memory, bytes a step.
 *  The names are those of LlamaConfig; a `window` of 0 is none. */
import { cacheNumbers, countParts, reach, tokenOperations } from "../twin/costs.js";
export { reach };

/** @typedef {{vocab_size: number, d_model: number, n_layers: number, n_heads: number, n_kv_heads: number,
 *   head_dim: number, d_ff: number, max_seq_len: number, window: number, tied: boolean, bias: boolean,
 *   out_bias: boolean, ff_bias: boolean}} Sizes `out_bias`: attention's last matrix has a bias as well
 *  @typedef {{length: number, batch: number, weights: number, cache: number}} Run bytes a number of each
 *  @typedef {Sizes & {length: number, batch: number, weights_dtype: string, cache_dtype: string,
 *   bandwidth: number}} Wishes */

export const BYTES = { float32: 4, bfloat16: 2, int8: 1, int4: 0.5 };
export const PARTS = ["embedding", "attention", "feed-forward", "norms", "head"];

/** Training in two precisions with Adam, in bytes a parameter: ZeRO, 3.1. */
const TRAINING = { weights: 2, gradients: 2, copy: 4, moments: 8 };

const sizes = (vocab_size, d_model, n_layers, n_heads, d_ff, n_kv_heads, max_seq_len, more = {}) => ({
  vocab_size, d_model, n_layers, n_heads, n_kv_heads, head_dim: d_model / n_heads, d_ff, max_seq_len,
  window: 0, tied: false, bias: false, out_bias: more.bias === true, ff_bias: false, ...more });

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
  "qwen2-7b": sizes(152064, 3584, 28, 28, 18944, 4, 131072, { bias: true, out_bias: false }),
  "gemma-7b": sizes(256000, 3072, 28, 16, 24576, 16, 8192, { head_dim: 256, tied: true }),
  stories_llama: sizes(496, 96, 3, 4, 256, 4, 256, { tied: true, bias: true }),
};

/** The sizes of a reader's wishes: what cannot be together gives way here, and is not forgotten there.
 *  @param {Wishes} wished @returns {Wishes} */
export function fitted(wished) {
  const { n_heads, n_kv_heads, max_seq_len, length, bias, out_bias } = wished;
  let shared = Math.min(n_kv_heads, n_heads);
  while (n_heads % shared) shared -= 1;
  return { ...wished, n_kv_heads: shared, length: Math.min(length, max_seq_len), out_bias: bias && out_bias };
}

/** A LLaMA by the parts of any decoder: gated networks, RMSNorm before each and at the end.
 *  @param {Sizes} s */
const partsOf = (s) => ({
  ...s, width: s.d_ff, matrices: 3, n_experts: 1, n_chosen: 1, score: "scaled", positions: 0,
  gain: s.d_model, norms: 2 * s.n_layers + 1,
  attention_biases: (s.bias ? s.head_dim * (s.n_heads + 2 * s.n_kv_heads) : 0)
    + (s.out_bias ? s.d_model : 0),
  ff_biases: s.ff_bias ? 2 * s.d_ff + s.d_model : 0,
});

/** Parameters by part, and in all. @param {Sizes} s @returns {Record<string, number>} */
export function countParameters(s) {
  const { positions, router, ...counts } = countParts(partsOf(s));
  return counts;
}

/** Additions and multiplications of the matrix products of one token, the last of `length`.
 *  @param {Sizes} s @param {number} length */
export const operations = (s, length) => tokenOperations(partsOf(s), length);

/** Keys and values of a batch.
 *  @param {Sizes} s @param {number} length @param {number} batch @param {number} bytes */
export const cacheBytes = (s, length, batch, bytes) =>
  cacheNumbers(s) * reach(s, length) * batch * bytes;

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
