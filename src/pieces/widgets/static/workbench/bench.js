/** The workbench's parts: what a reader wishes, what of it can be together, and what that costs. */
import { twoThirds } from "../twin/flat.js";

/** @typedef {{vocab_size: number, d_model: number, n_layers: number, n_heads: number, n_kv_heads: number,
 *   head_dim: number, d_ff: number, length: number, window: number, prefix_len: number, n_experts: number,
 *   n_chosen: number, score: string, mask: string, position: string, norm: string, place: string,
 *   activation: string, bias: boolean, tied: boolean}} Wish */

export const SIZES = ["n_layers", "d_model", "n_heads", "n_kv_heads", "head_dim", "d_ff", "n_experts",
  "n_chosen", "vocab_size", "length", "window", "prefix_len"];
export const KINDS = ["score", "mask", "position", "norm", "place", "activation"];
export const SWITCHES = ["bias", "tied"];
/** The functions of `pieces.feedforward` by activation; a gated network has a third matrix. */
export const BENDS = { relu: "relu", gelu: "gelu", swish: "swish", reglu: "relu", glu: "sigmoid",
  swiglu: "swish", geglu: "gelu", bilinear: "identity" };
const PLAIN = ["relu", "gelu", "swish"];
export const gated = (s) => !PLAIN.includes(s.activation);

/** A gated network has the width at which three matrices have the parameters of two. */
export const widthOf = (s) => (gated(s) ? twoThirds(s.d_ff) : s.d_ff);

/** The parts that are built: what cannot be together gives way here, and is not forgotten there.
 *  @param {Wish} wish @returns {Wish} */
export function fitted(wish) {
  let shared = Math.min(wish.n_kv_heads, wish.n_heads);
  while (wish.n_heads % shared) shared -= 1;
  const even = wish.position === "rope" ? Math.max(2, wish.head_dim - (wish.head_dim % 2)) : wish.head_dim;
  return {
    ...wish, n_kv_heads: shared, head_dim: even,
    n_chosen: Math.min(wish.n_chosen, wish.n_experts),
    prefix_len: Math.min(wish.prefix_len, wish.length),
    place: wish.norm === "none" ? "bare" : wish.place,
  };
}

/** Norms in a block: one at each sublayer, or two around it. */
const around = { bare: 0, pre: 2, post: 2, deep: 2, sandwich: 4 };
/** Whether nothing has normalised the stream at the top of the stack, so that one more norm must. */
export const open = (s) => s.place === "pre" || s.place === "sandwich";
export const normsOf = (s) => around[s.place] * s.n_layers + (open(s) ? 1 : 0);
export const gainOf = (s) => ({ none: 0, rms: s.d_model, layer: 2 * s.d_model })[s.norm];
const POSITIONS = { learned: (s) => s.length * s.d_model, t5: (s) => 32 * s.n_heads };

/** These parts as `twin/costs` counts them. @param {Wish} s @returns {import("../twin/costs.js").Parts} */
export function partsOf(s) {
  const width = widthOf(s);
  const matrices = gated(s) ? 3 : 2;
  const { d_model: D, head_dim: K, n_heads: H, n_kv_heads: G } = s;
  return {
    vocab_size: s.vocab_size, d_model: D, n_layers: s.n_layers, n_heads: H, n_kv_heads: G, head_dim: K,
    width, matrices, n_experts: s.n_experts, n_chosen: s.n_chosen, score: s.score, tied: s.tied,
    positions: POSITIONS[s.position]?.(s) ?? 0, gain: gainOf(s), norms: normsOf(s),
    attention_biases: s.bias ? K * (H + 2 * G) + D : 0,
    ff_biases: s.bias ? (matrices - 1) * width + D : 0,
    window: s.mask === "window" ? s.window : 0,
  };
}

const preset = (vocab_size, d_model, n_layers, n_heads, n_kv_heads, d_ff, length, more) => ({
  vocab_size, d_model, n_layers, n_heads, n_kv_heads, head_dim: d_model / n_heads, d_ff, length,
  score: "scaled", mask: "causal", position: "rope", norm: "rms", place: "pre", activation: "swiglu",
  n_experts: 1, n_chosen: 1, bias: false, tied: false, ...more });

/** Known models by their parts and sizes; a gated network's `d_ff` is that of two matrices. */
export const PRESETS = {
  baseline: preset(496, 64, 2, 4, 4, 256, 128, { tied: true }),
  "gpt2": preset(50257, 768, 12, 12, 12, 3072, 1024,
    { position: "learned", norm: "layer", activation: "gelu", bias: true, tied: true }),
  "llama-7b": preset(32000, 4096, 32, 32, 32, 16512, 2048, {}),
  "mistral-7b-v0.1": preset(32000, 4096, 32, 32, 8, 21504, 32768, { mask: "window", window: 4096 }),
  "mixtral-8x7b": preset(32000, 4096, 32, 32, 8, 21504, 32768, { n_experts: 8, n_chosen: 2 }),
};

/** Whether two benches build the same model: sizes of what is not there do not count. */
const idle = (s) => ({ ...s, window: s.mask === "window" ? s.window : 0,
  prefix_len: s.mask === "prefix" ? s.prefix_len : 0, n_chosen: s.n_experts > 1 ? s.n_chosen : 1 });
export const signature = (s) => {
  const own = idle(s);
  return JSON.stringify([...SIZES, ...KINDS, ...SWITCHES].map((name) => own[name] ?? 0));
};
