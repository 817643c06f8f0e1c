/** Mixture of experts: a router chooses, for each token, which few of many networks it visits. */
import { activations, linear, softmaxInPlace, tensor } from "./flat.js";
import { need, projection } from "./layers.js";
import { topk } from "./routing.js";

/** @typedef {import("./layers.js").Weights} Weights */

/**
 * o = Σ_i G(x)_i E_i(x), with G = softmax(topk(x W_G)).
 * @param {Weights} weights
 * @param {string} name
 * @param {number} k
 * @returns {import("./layers.js").Layer}
 */
export function mixture(weights, name, k) {
  const score = projection(weights, `${name}.router.gate`);
  const { data: gateUp, shape: [E, twice, D] } = need(weights, `${name}.experts.gate_up`);
  const { data: down } = need(weights, `${name}.experts.down`);
  const F = twice / 2;

  /** @param {Float32Array} x one token @param {number} e */
  function expert(x, e) {
    const both = linear(x, 1, gateUp.subarray(e * twice * D, (e + 1) * twice * D), null, twice, D);
    const units = both.subarray(0, F).map((gate, i) => activations.swish(gate) * both[F + i]);
    return linear(units, 1, down.subarray(e * D * F, (e + 1) * D * F), null, D, F);
  }
  return (x, T, watch) => {
    const logits = score(x, T, watch);
    const chosen = new Float32Array(T * k);
    const shares = new Float32Array(T * k);
    for (let t = 0; t < T; t++) {
      const row = logits.subarray(t * E, (t + 1) * E);
      const experts = topk(row, k);
      chosen.set(experts, t * k);
      shares.set(experts.map((e) => row[e]), t * k);
      softmaxInPlace(shares, t * k, k);
      experts.forEach((e, i) => { if (watch.skips(`${name}.experts.${e}`)) shares[t * k + i] = 0; });
    }
    for (const [key, value] of Object.entries({ weights: shares, experts: chosen })) {
      watch.note(`${name}.router`, key, tensor(value, [T, k]));
    }
    watch.note(`${name}.router`, "logits", tensor(logits, [T, E]));
    const y = new Float32Array(T * D);
    const said = new Float32Array(T * k * D);
    for (let i = 0; i < T * k; i++) {
      const t = Math.floor(i / k);
      const part = expert(x.subarray(t * D, (t + 1) * D), chosen[i]);
      said.set(part, i * D);
      for (let d = 0; d < D; d++) y[t * D + d] += shares[i] * part[d];
    }
    watch.note(`${name}.experts`, "visits", tensor(said, [T, k, D]));
    watch.note(name, "output", tensor(y, [T, D]));
    return y;
  };
}
