/**
 * The activations of `pieces.feedforward` with their slopes, Φ beside them, and the sizes of the networks.
 * tests/widgets/activations/test_activations.py holds each against torch and its automatic derivative.
 *
 * @typedef {{value: (x: number, beta: number) => number, slope: (x: number, beta: number) => number}} Bend
 */
import { activations, normalBelow, sigmoid } from "../twin/flat.js";

/** The standard normal density. @param {number} x */
const density = (x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

/** d/dx of x σ(β x). */
function swishSlope(x, beta) {
  const open = sigmoid(beta * x);
  return open * (1 + beta * x * (1 - open));
}

/** d/dx of x (1 + tanh u) / 2 with u = √(2/π) (x + 0.044715 x³). */
function geluTanhSlope(x) {
  const root = Math.sqrt(2 / Math.PI);
  const bent = Math.tanh(root * (x + 0.044715 * x ** 3));
  return (1 + bent) / 2 + (x / 2) * (1 - bent * bent) * root * (1 + 3 * 0.044715 * x * x);
}

/** At 0, where ReLU has no slope, PyTorch takes 0. @type {Record<string, Bend>} */
export const bends = {
  relu: { value: activations.relu, slope: (x) => (x > 0 ? 1 : 0) },
  gelu: { value: activations.gelu, slope: (x) => normalBelow(x) + x * density(x) },
  gelu_tanh: { value: activations.gelu_tanh, slope: geluTanhSlope },
  swish: { value: (x, beta) => x * sigmoid(beta * x), slope: swishSlope },
  cdf: { value: normalBelow, slope: density },
};

/** The gates of the gated networks, σ(g) u. @type {Record<string, (g: number) => number>} */
export const gates = {
  reglu: activations.relu, geglu: activations.gelu, swiglu: activations.swish, glu: sigmoid,
  bilinear: activations.identity,
};
