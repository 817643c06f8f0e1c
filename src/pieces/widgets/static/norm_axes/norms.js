/** The norms of `pieces.norms` on a table of tokens, and which numbers each of them averages together. */

/** @typedef {"batch"|"layer"|"rms"|"text"} Kind
 *  @typedef {{T: number, D: number, texts: number}} Sizes T tokens in all, in texts of one length */

const upTo = (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, n) => from + n);

/** The rows and columns whose numbers are averaged together with cell [i, j].
 *  @param {Kind} kind @param {Sizes} sizes @param {number} i @param {number} j */
export function averaged(kind, { T, D, texts }, i, j) {
  const long = T / texts;
  const first = Math.floor(i / long) * long;
  const rows = { batch: upTo(0, T), text: upTo(first, first + long) }[kind] ?? [i];
  return { rows, columns: kind === "batch" ? [j] : upTo(0, D) };
}

/** Those numbers, row by row. */
export const picked = (X, { rows, columns }) => rows.flatMap((i) => columns.map((j) => X[i][j]));

/** Mean, mean of the squares, and variance (divided by n). @param {number[]} numbers */
export function statistics(numbers) {
  const mean = (list) => list.reduce((sum, x) => sum + x, 0) / list.length;
  const centre = mean(numbers);
  const variance = mean(numbers.map((x) => (x - centre) ** 2));
  return { mean: centre, square: mean(numbers.map((x) => x * x)), variance };
}

/** γ (x − μ) / √(σ² + ε) + β; RMSNorm takes no mean away, and has no β.
 *  @param {number[][]} X @param {Kind} kind
 *  @param {{texts?: number, eps: number, gain?: number[], shift?: number[]}} settings */
export function normalised(X, kind, { texts = 1, eps, gain = [], shift = [] }) {
  const sizes = { T: X.length, D: X[0].length, texts };
  return X.map((row, i) => row.map((x, j) => {
    const { mean, square, variance } = statistics(picked(X, averaged(kind, sizes, i, j)));
    const gamma = gain[j] ?? 1;
    if (kind === "rms") return (gamma * x) / Math.sqrt(square + eps);
    return (gamma * (x - mean)) / Math.sqrt(variance + eps) + (shift[j] ?? 0);
  }));
}
