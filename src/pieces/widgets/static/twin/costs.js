/** What a decoder of given parts costs: parameters by part, operations of a token, numbers in its cache. */

/** @typedef {{vocab_size: number, d_model: number, n_layers: number, n_heads: number, n_kv_heads: number,
 *   head_dim: number, width: number, matrices: number, n_experts: number, n_chosen: number, score: string,
 *   positions: number, gain: number, norms: number, attention_biases: number, ff_biases: number,
 *   tied: boolean, window: number}} Parts `width` and `matrices` of one feed-forward network; `gain`:
 *   the numbers of one norm, of which there are `norms` in all; `positions`: numbers of a table; biases of
 *   one layer's attention, and of one network; a `window` of 0 is none */

export const PARTS = ["embedding", "positions", "attention", "feed-forward", "router", "norms", "head"];

/** The parameters of a learned score between queries and keys of K numbers: W, or W, U and v.
 *  @param {string} score @param {number} K */
export const scoreParameters = (score, K) => ({ bilinear: K * K, additive: 2 * K * K + K })[score] ?? 0;

/** Operations of one head's query against S keys, all of which are in the cache as they came.
 *  @param {string} score @param {number} K @param {number} S */
export const scoreOperations = (score, K, S) => 2 * K * S
  + ({ bilinear: 2 * K * K, additive: 2 * K * K * (S + 1) }[score] ?? 0);

/** The numbers of one layer's four projections. @param {Parts} p */
export const projections = (p) => 2 * p.d_model * p.head_dim * (p.n_heads + p.n_kv_heads);
/** The numbers of one feed-forward network's matrices. @param {Parts} p */
export const network = (p) => p.matrices * p.d_model * p.width;
/** What scores the experts, where there are several. @param {Parts} p */
export const router = (p) => (p.n_experts > 1 ? p.d_model * p.n_experts : 0);

/** Parameters by part, and in all. @param {Parts} p @returns {Record<string, number>} */
export function countParts(p) {
  const { vocab_size: V, d_model: D, n_layers: L } = p;
  const attention = projections(p) + scoreParameters(p.score, p.head_dim) + p.attention_biases;
  const parts = {
    embedding: V * D,
    positions: p.positions,
    attention: L * attention,
    "feed-forward": L * p.n_experts * (network(p) + p.ff_biases),
    router: L * router(p),
    norms: p.norms * p.gain,
    head: p.tied ? 0 : V * D,
  };
  return { ...parts, total: PARTS.reduce((sum, name) => sum + parts[name], 0) };
}

/** How many keys the last token of a text looks at, itself among them.
 *  @param {{window: number}} p @param {number} length */
export const reach = (p, length) => (p.window ? Math.min(p.window, length) : length);

/** Additions and multiplications of the matrix products of one token, the last of `length`, by part.
 *  @param {Parts} p @param {number} length @returns {Record<string, number>} */
export function operationsByPart(p, length) {
  const S = reach(p, length);
  const heads = p.n_heads * (scoreOperations(p.score, p.head_dim, S) + 2 * p.head_dim * S);
  return {
    attention: p.n_layers * (2 * projections(p) + heads),
    "feed-forward": p.n_layers * 2 * p.n_chosen * network(p),
    router: p.n_layers * routing(p),
    head: 2 * p.vocab_size * p.d_model,
  };
}

/** Operations to score the experts, and to add up what the chosen ones say. @param {Parts} p */
export const routing = (p) => (p.n_experts > 1 ? 2 * (router(p) + p.n_chosen * p.d_model) : 0);

/** All of them. @param {Parts} p @param {number} length */
export const tokenOperations = (p, length) =>
  Object.values(operationsByPart(p, length)).reduce((sum, n) => sum + n, 0);

/** The numbers that one token leaves in the cache: a key and a value of each key-value head and layer.
 *  @param {{n_layers: number, n_kv_heads: number, head_dim: number}} p */
export const cacheNumbers = (p) => 2 * p.n_layers * p.n_kv_heads * p.head_dim;
