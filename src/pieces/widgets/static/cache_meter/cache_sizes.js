/** What keys and values take, by five ways to keep them, and what a step reads and computes with them. */

/** @typedef {{n_layers: number, n_heads: number, n_kv_heads: number, head_dim: number, window: number,
 *   latent: number, carried: number, context: number, batch: number, bytes: number, weights: number,
 *   active: number, memory: number, bandwidth: number}} Sizes bytes a number; GB
 *  @typedef {{token: number, cache: number, longest: number, speed: number, operations: number,
 *   step: number}} Cost `step` in seconds */

export const BYTES = { float32: 4, float16: 2, int8: 1, int4: 0.5 };
const GIGA = 1e9;

/** How many numbers a layer keeps of a token. @param {string} scheme @param {Sizes} s */
export function kept(scheme, s) {
  if (scheme === "latent") return s.latent + s.carried;
  const heads = scheme === "full" ? s.n_heads : scheme === "single" ? 1 : s.n_kv_heads;
  return 2 * heads * s.head_dim;
}

/** How many tokens are kept of a text. @param {string} scheme @param {Sizes} s */
export const held = (scheme, s) => (scheme === "window" ? Math.min(s.window, s.context) : s.context);

/** @param {string} scheme @param {Sizes} s @returns {Cost} */
export function cost(scheme, s) {
  const token = s.n_layers * kept(scheme, s) * s.bytes;
  const cache = token * held(scheme, s) * s.batch;
  const room = (s.memory - s.weights) * GIGA;
  const fitting = Math.max(0, Math.floor(room / (token * s.batch)));
  const step = (s.active * GIGA + cache) / (s.bandwidth * GIGA);
  // A query meets each key and each value once; latents serve as both, the keys a little wider.
  const width = scheme === "latent" ? 2 * s.latent + s.carried : 2 * s.head_dim;
  return { token, cache, longest: scheme === "window" && fitting >= s.window ? Infinity : fitting,
    speed: s.batch / step, step, operations: 2 * s.n_layers * s.n_heads * width * held(scheme, s) };
}

const model = (n_layers, n_heads, n_kv_heads, weights, more = {}) => ({ n_layers, n_heads, n_kv_heads,
  head_dim: 128, window: 4096, latent: 512, carried: 64, weights, active: weights, ...more });

/** Published models; the weights with two bytes each. @type {Record<string, Record<string, number>>} */
export const PRESETS = {
  "llama-2-70b": model(80, 64, 8, 138),
  "llama-2-7b": model(32, 32, 32, 13.5),
  "llama-3-8b": model(32, 32, 8, 16),
  "mistral-7b": model(32, 32, 8, 14.5),
  "qwen2-7b": model(28, 28, 4, 15.2),
  "deepseek-v2": model(60, 128, 128, 472, { active: 42 }),
};
