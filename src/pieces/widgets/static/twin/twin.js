/**
 * The JavaScript twin of the package `pieces`: the same names, plain arrays, no dependency.
 * A matrix is an array of rows. A mask is a matrix of booleans, true = may attend.
 * tests/widgets/twin/test_twin.py holds every function here against its torch original.
 *
 * @typedef {number[][]} Matrix
 * @typedef {boolean[][]} Mask
 */

/** A matrix of `rows` × `columns` whose cells are `cell(i, j)`. */
export const matrix = (rows, columns, cell) =>
  Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j) => cell(i, j)));

/** @param {Matrix} a @returns {Matrix} */
export const transpose = (a) => (a.length ? a[0].map((_, j) => a.map((row) => row[j])) : []);

/** Σ a_i b_i */
export function inner(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** a [n, m] times b [m, p]; m is at least 1, since rows that are not there do not say how wide they are.
 *  @param {Matrix} a @param {Matrix} b @returns {Matrix} */
export function matmul(a, b) {
  if (a.length && !b.length) throw new RangeError(
    "matmul: b has no rows, so the width of a b is unknown. Give at least one.");
  const columns = transpose(b);
  return a.map((row) => columns.map((column) => inner(row, column)));
}

/** a divided by its largest |a_i|, and that: what can be squared whatever its size. A zero vector stays. */
function scaled(a) {
  const most = a.reduce((top, x) => Math.max(top, Math.abs(x)), 0);
  return [most > 0 ? a.map((x) => x / most) : a, most];
}

/** |a| */
export function norm(a) {
  const [unit, most] = scaled(a);
  return most * Math.sqrt(inner(unit, unit));
}

/** Cosine similarity: a·b / (|a| |b|), 0 where a vector is zero. */
export function cosine(a, b) {
  const [[x], [y]] = [scaled(a), scaled(b)];
  return inner(x, y) / (Math.sqrt(inner(x, x)) * Math.sqrt(inner(y, y)) || 1);
}

/** exp(x_i) / Σ_j exp(x_j) over one row; entries of −∞ get 0, a row of −∞ only gives zeros. */
export function softmax(row) {
  const top = Math.max(...row);
  if (top === -Infinity) return row.map(() => 0);
  const powers = row.map((x) => Math.exp(x - top));
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((p) => p / total);
}

/** Softmax of each row over the keys it may see; a fully masked row gives zeros.
 *  @param {Matrix} scores @param {Mask=} mask @returns {Matrix} */
export const maskedSoftmax = (scores, mask) =>
  scores.map((row, i) => softmax(mask ? row.map((x, j) => (mask[i][j] ? x : -Infinity)) : row));

/** −Σ p ln p, in nats: ln n for n equal weights, 0 for a single one. */
export const entropy = (weights) =>
  weights.reduce((sum, p) => (p > 0 ? sum - p * Math.log(p) : sum), 0);

/** The Frobenius norm of the softmax Jacobian diag(p) − p pᵀ. */
export function jacobianNorm(weights) {
  let sum = 0;
  weights.forEach((p, i) =>
    weights.forEach((r, j) => (sum += ((i === j ? p : 0) - p * r) ** 2)),
  );
  return Math.sqrt(sum);
}

/** Score functions: one query against the rows of `keys`. */
export const scores = {
  dot: (query, keys) => keys.map((key) => inner(key, query)),
  scaledDot: (query, keys) => keys.map((key) => inner(key, query) / Math.sqrt(query.length)),
  /** vᵀ tanh(W k + U q); W [hidden, key size], U [hidden, query size], v [hidden]. */
  additive(query, keys, { W, U, v }) {
    const moved = U.map((row) => inner(row, query));
    return keys.map((key) => v.reduce((sum, vi, i) => sum + vi * Math.tanh(inner(W[i], key) + moved[i]), 0));
  },
  /** kᵀ W q; W [key size, query size]. */
  bilinear(query, keys, { W }) {
    const turned = W.map((row) => inner(row, query));
    return keys.map((key) => inner(key, turned));
  },
};

/** Eq. (5.5): softmax(Q Kᵀ / √d_k) V, with every step on the way.
 *  @param {Matrix} Q @param {Matrix} K @param {Matrix} V @param {{mask?: Mask, bias?: Matrix}} options
 *  @returns {{scores: Matrix, scaled: Matrix, weights: Matrix, output: Matrix}} */
export function attention(Q, K, V, { mask, bias } = {}) {
  if (!K.length || K.length !== V.length) {
    throw new RangeError(`attention: ${K.length} keys and ${V.length} values. Give one value for each `
      + `key, and at least one.`);
  }
  const raw = matmul(Q, transpose(K));
  const root = Math.sqrt(Q[0].length);
  const scaled = raw.map((row, i) => row.map((x, j) => x / root + (bias ? bias[i][j] : 0)));
  const weights = maskedSoftmax(scaled, mask);
  return { scores: raw, scaled, weights, output: matmul(weights, V) };
}

/** Self-attention of one head: X [T, D] and three weight matrices [D, K]. */
export function selfAttention(X, { Wq, Wk, Wv, mask }) {
  const [Q, K, V] = [Wq, Wk, Wv].map((W) => matmul(X, W));
  return { Q, K, V, ...attention(Q, K, V, { mask }) };
}

/** Masks [T, S], true = may attend, aligned so that the last query sees the last key. */
const aligned = (T, S, rule) => matrix(T, S, (i, j) => rule(i + S - T, j));
export const masks = {
  full: (T, S = T) => matrix(T, S, () => true),
  causal: (T, S = T) => aligned(T, S, (i, j) => j <= i),
  slidingWindow: (T, window, S = T) => aligned(T, S, (i, j) => j <= i && i - j < window),
  dilated: (T, window, dilation, S = T) =>
    aligned(T, S, (i, j) => j <= i && (i - j) % dilation === 0 && i - j < window * dilation),
  globalWindow: (T, window, nGlobal, S = T) =>
    aligned(T, S, (i, j) => j <= i && (i - j < window || j < nGlobal)),
  prefix: (T, prefixLen, S = T) => aligned(T, S, (i, j) => j <= i || j < prefixLen),
  /** One row of keys for each length, true = a real token. */
  padding: (lengths, S, side = "right") =>
    lengths.map((n) => Array.from({ length: S }, (_, j) => (side === "right" ? j < n : j >= S - n))),
  and: (a, b) => a.map((row, i) => row.map((x, j) => x && b[i][j])),
  /** Which inputs reach which outputs after `layers` layers with residual connections. */
  reach: (mask, layers) => masks.reaches(mask, layers)[layers],
  /** The same after 0, 1, … `layers` layers: each is one step from the one before. */
  reaches(mask, layers) {
    const visible = mask.map((row, i) => row.flatMap((x, j) => (x || i === j ? [j] : [])));
    const all = [matrix(mask.length, mask.length, (i, j) => i === j)];
    for (let n = 0, grown = true; n < layers; n++) {
      const before = all[n];
      all.push(!grown ? before
        : before.map((row, i) => row.map((x, j) => x || visible[i].some((m) => before[m][j]))));
      grown = all[n + 1].some((row, i) => row.some((x, j) => x !== before[i][j]));
    }
    return all;
  },
};

/** Numbers that look random and are the same on every machine: uniform in [0, 1). */
export function uniform(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** `count` draws from the standard normal distribution (Box–Muller). */
export function gaussian(seed, count) {
  const next = uniform(seed);
  const draws = new Array(count);
  for (let i = 0; i < count; i += 2) {
    const radius = Math.sqrt(-2 * Math.log(1 - next()));
    const angle = 2 * Math.PI * next();
    draws[i] = radius * Math.cos(angle);
    if (i + 1 < count) draws[i + 1] = radius * Math.sin(angle);
  }
  return draws;
}
