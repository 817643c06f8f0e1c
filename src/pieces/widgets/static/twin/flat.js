/**
 * Arithmetic on flat arrays, row by row: what the twins of the trained models compute with.
 * Numbers are kept as float32, like PyTorch's; sums run in float64.
 *
 * @typedef {{data: Float32Array, shape: number[], strides: number[], offset: number}} Tensor
 */

/**
 * A tensor over these numbers, laid out row by row.
 * @param {Float32Array} data
 * @param {number[]} shape
 * @returns {Tensor}
 */
export function tensor(data, shape) {
  const strides = new Array(shape.length).fill(1);
  for (let axis = shape.length - 2; axis >= 0; axis--) strides[axis] = strides[axis + 1] * shape[axis + 1];
  return { data, shape, strides, offset: 0 };
}

/**
 * y = x Wᵀ + b: x [T, n], W [m, n], b [m] → y [T, m]. Two rows of x meet four of W at a time, so that each
 * number that is read is used more than once.
 * @param {Float32Array} x @param {number} T @param {Float32Array} W @param {Float32Array|null} b @param
 *   {number} m
 * @param {number} n @returns {Float32Array}
 */
export function linear(x, T, W, b, m, n) {
  const y = new Float32Array(T * m);
  const whole = m - (m % 4);
  for (let o = 0; o < whole; o += 4) {
    let t = 0;
    for (; t + 2 <= T; t += 2) twoByFour(x, t * n, W, o * n, n, y, t * m + o, m);
    if (t < T) oneByFour(x, t * n, W, o * n, n, y, t * m + o);
  }
  for (let t = 0; t < T; t++) {
    for (let o = whole; o < m; o++) y[t * m + o] = dot(x, t * n, W, o * n, n);
    if (b) for (let o = 0; o < m; o++) y[t * m + o] += b[o];
  }
  return y;
}

function twoByFour(x, a, W, w, n, y, at, m) {
  const a2 = a + n;
  const w1 = w + n;
  const w2 = w1 + n;
  const w3 = w2 + n;
  let p0 = 0, p1 = 0, p2 = 0, p3 = 0, q0 = 0, q1 = 0, q2 = 0, q3 = 0;
  for (let i = 0; i < n; i++) {
    const p = x[a + i];
    const q = x[a2 + i];
    const u0 = W[w + i], u1 = W[w1 + i], u2 = W[w2 + i], u3 = W[w3 + i];
    p0 += p * u0; p1 += p * u1; p2 += p * u2; p3 += p * u3;
    q0 += q * u0; q1 += q * u1; q2 += q * u2; q3 += q * u3;
  }
  y[at] = p0; y[at + 1] = p1; y[at + 2] = p2; y[at + 3] = p3;
  y[at + m] = q0; y[at + m + 1] = q1; y[at + m + 2] = q2; y[at + m + 3] = q3;
}

function oneByFour(x, a, W, w, n, y, at) {
  const w1 = w + n;
  const w2 = w1 + n;
  const w3 = w2 + n;
  let p0 = 0, p1 = 0, p2 = 0, p3 = 0;
  for (let i = 0; i < n; i++) {
    const p = x[a + i];
    p0 += p * W[w + i]; p1 += p * W[w1 + i]; p2 += p * W[w2 + i]; p3 += p * W[w3 + i];
  }
  y[at] = p0; y[at + 1] = p1; y[at + 2] = p2; y[at + 3] = p3;
}

/**
 * Σ x_i y_i over n numbers from these places on.
 * @param {Float32Array} x
 * @param {number} a
 * @param {Float32Array} y
 * @param {number} b
 * @param {number} n
 */
export function dot(x, a, y, b, n) {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += x[a + i] * y[b + i];
  return sum;
}

/** @param {Float32Array} x @param {Float32Array} y */
export const plus = (x, y) => x.map((value, i) => value + y[i]);

/**
 * γ (x − μ) / √(σ² + ε) + β, for each row.
 * @param {Float32Array} x
 * @param {Float32Array} gain
 * @param {Float32Array|null} shift
 * @param {number} eps
 */
export function layerNorm(x, gain, shift, eps) {
  const n = gain.length;
  const y = new Float32Array(x.length);
  for (let a = 0; a < x.length; a += n) {
    let mean = 0;
    for (let i = 0; i < n; i++) mean += x[a + i] / n;
    let variance = 0;
    for (let i = 0; i < n; i++) variance += (x[a + i] - mean) ** 2 / n;
    const size = Math.sqrt(variance + eps);
    for (let i = 0; i < n; i++) y[a + i] = (gain[i] * (x[a + i] - mean)) / size + (shift ? shift[i] : 0);
  }
  return y;
}

/**
 * γ x / √(mean of x² + ε), for each row.
 * @param {Float32Array} x
 * @param {Float32Array} gain
 * @param {number} eps
 */
export function rmsNorm(x, gain, eps) {
  const n = gain.length;
  const y = new Float32Array(x.length);
  for (let a = 0; a < x.length; a += n) {
    const size = Math.sqrt(dot(x, a, x, a, n) / n + eps);
    for (let i = 0; i < n; i++) y[a + i] = (gain[i] * x[a + i]) / size;
  }
  return y;
}

/** Softmax of n numbers from `a` on, in place. @param {Float32Array} x @param {number} a @param {number} n */
export function softmaxInPlace(x, a, n) {
  let top = -Infinity;
  for (let i = a; i < a + n; i++) if (x[i] > top) top = x[i];
  let sum = 0;
  for (let i = a; i < a + n; i++) sum += x[i] = Math.exp(x[i] - top);
  for (let i = a; i < a + n; i++) x[i] /= sum;
}

/**
 * Φ(x), the chance that a standard normal number is smaller (Numerical Recipes' erfc, within 1.2e-7).
 * @param {number} x
 */
export function normalBelow(x) {
  const z = Math.abs(x) / Math.SQRT2;
  const t = 1 / (1 + z / 2);
  const terms = [1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587,
    -0.82215223, 0.17087277];
  const series = terms.reduceRight((sum, term) => (sum + term) * t, 0);
  const tail = (t * Math.exp(-z * z - 1.26551223 + series)) / 2;
  return x > 0 ? 1 - tail : tail;
}

export const sigmoid = (x) => 1 / (1 + Math.exp(-x));
/** The activations of `pieces.feedforward`. @type {Record<string, (x: number) => number>} */
export const activations = {
  relu: (x) => (x > 0 ? x : 0),
  sigmoid,
  swish: (x) => x * sigmoid(x),
  gelu: (x) => x * normalBelow(x),
  gelu_tanh: (x) => (x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)))) / 2,
  identity: (x) => x,
};

/** `pieces.feedforward.two_thirds`: 2 dFf / 3, rounded down, then up to a multiple.
 *  @param {number} dFf @param {number} multipleOf */
export const twoThirds = (dFf, multipleOf = 1) =>
  Math.max(1, Math.ceil(Math.floor((2 * dFf) / 3) / multipleOf)) * multipleOf;

/**
 * cos and sin of the T positions from `start` on: [T, K / 2] each. Angles are rounded to float32 as PyTorch
 * rounds them: at position 100 that moves a score by more than all other rounding does.
 * @param {number} start @param {number} T @param {number} K @param {number} base
 */
export function rotation(start, T, K, base) {
  const half = K / 2;
  const cos = new Float32Array(T * half);
  const sin = new Float32Array(T * half);
  for (let i = 0; i < half; i++) {
    const frequency = Math.fround(1 / Math.fround(base ** Math.fround((2 * i) / K)));
    for (let t = 0; t < T; t++) {
      const angle = Math.fround((start + t) * frequency);
      cos[t * half + i] = Math.cos(angle);
      sin[t * half + i] = Math.sin(angle);
    }
  }
  return { cos, sin };
}

/**
 * Turn each head of x [T, heads K] in place: dimension i with i + K/2.
 * @param {Float32Array} x
 * @param {number} heads
 * @param {number} K
 * @param {{cos: Float32Array, sin: Float32Array}} turn
 */
export function rotate(x, heads, K, { cos, sin }) {
  const half = K / 2;
  for (let at = 0, row = 0; at < x.length; at += heads * K, row += half) {
    for (let h = 0; h < heads; h++) {
      for (let i = 0; i < half; i++) {
        const a = at + h * K + i;
        const b = a + half;
        const c = cos[row + i];
        const s = sin[row + i];
        const first = x[a];
        x[a] = first * c - x[b] * s;
        x[b] = x[b] * c + first * s;
      }
    }
  }
}

/**
 * PE[p, 2i] = sin(p / base^(2i/D)), PE[p, 2i+1] = cos of the same: added to x [T, D] in place.
 * @param {Float32Array} x
 * @param {number} D
 * @param {number} start
 * @param {number} base
 */
export function addSinusoids(x, D, start, base = 10000) {
  for (let at = 0; at < x.length; at++) {
    const i = at % D;
    const angle = (start + (at - i) / D) / base ** ((i - (i % 2)) / D);
    x[at] += Math.fround(i % 2 ? Math.cos(angle) : Math.sin(angle));
  }
}
