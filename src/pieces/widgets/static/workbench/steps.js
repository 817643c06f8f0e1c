/** Step by step through the model: the shape of what is there, its parameters, and its operations a token. */
import { gainOf, normsOf, partsOf } from "./bench.js";
import { countParts, network, reach, router, routing, scoreOperations, scoreParameters,
} from "../twin/costs.js";

/** @typedef {{name: string, part: string, shape: number[], parameters: number, operations: number}} Step
 *  with the parameters of all layers together */

/** @param {import("./bench.js").Wish} s @returns {Step[]} */
export function steps(s) {
  const p = partsOf(s);
  const { n_layers: L, n_heads: H, n_kv_heads: G, head_dim: K, d_model: D, length: T } = s;
  const S = reach(p, T);
  const biases = s.bias ? { query: H * K, keys: 2 * G * K, output: D } : { query: 0, keys: 0, output: 0 };
  const counts = countParts(p);
  const step = (name, part, shape, parameters = 0, operations = 0) =>
    ({ name, part, shape, parameters, operations });
  const several = p.n_experts > 1;
  const first = network(p) * (p.matrices - 1) / p.matrices;
  const firstBiases = s.bias ? (p.matrices - 1) * p.width : 0;
  return [
    step("embedding", "embedding", [T, D], counts.embedding),
    ...(s.position === "none" ? [] : [step("positions", "positions",
      { rope: [H, T, K], alibi: [H, T, T], t5: [H, T, T] }[s.position] ?? [T, D], counts.positions)]),
    ...(s.norm === "none" ? [] : [step("norms", "norms", [T, D], normsOf(s) * gainOf(s))]),
    step("queries", "attention", [H, T, K], L * (D * H * K + biases.query), L * 2 * D * H * K),
    step("keys", "attention", [G, T, K], L * (2 * D * G * K + biases.keys), L * 4 * D * G * K),
    step("scores", "attention", [H, T, T], L * scoreParameters(p.score, K),
      L * H * scoreOperations(p.score, K, S)),
    step("averages", "attention", [H, T, K], 0, L * 2 * H * K * S),
    step("mixed", "attention", [T, D], L * (D * H * K + biases.output), L * 2 * D * H * K),
    ...(several ? [step("router", "router", [T, p.n_experts], L * router(p), L * routing(p))] : []),
    step("hidden", "feed-forward", several ? [p.n_chosen, T, p.width] : [T, p.width],
      L * p.n_experts * (first + firstBiases), L * 2 * p.n_chosen * first),
    step("narrowed", "feed-forward", several ? [p.n_chosen, T, D] : [T, D],
      L * p.n_experts * (network(p) - first + (s.bias ? D : 0)), L * 2 * p.n_chosen * (network(p) - first)),
    step("logits", "head", [T, p.vocab_size], counts.head, 2 * p.vocab_size * D),
  ];
}
