/** Vectors in the two directions in which they are spread most, and which of them are alike. */
import { cosine, inner, norm } from "../twin/twin.js";

const SWEEPS = 30;

/** Eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's rotations. @param {number[][]} given */
export function eigen(given) {
  const n = given.length;
  const a = given.map((row) => Float64Array.from(row));
  const v = given.map((_, i) => { const row = new Float64Array(n); row[i] = 1; return row; });
  const total = given.flat().reduce((sum, x) => sum + x * x, 0);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let off = 0;
    for (let p = 0; p < n; p++) for (let q = 0; q < p; q++) off += a[p][q] * a[p][q];
    if (off <= 1e-22 * total) break;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) rotate(a, v, p, q);
  }
  const order = a.map((_, i) => i).sort((i, j) => a[j][j] - a[i][i]);
  return { values: order.map((i) => a[i][i]), vectors: order.map((i) => Array.from(v[i])) };
}

/** Turn rows and columns p and q so that a[p][q] is 0; rows of v are the vectors. */
function rotate(a, v, p, q) {
  if (Math.abs(a[p][q]) < 1e-300) return;
  const theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const [c, s] = [1 / Math.sqrt(t * t + 1), t / Math.sqrt(t * t + 1)];
  for (const m of [a, v]) {
    const [x, y] = [m[p], m[q]];
    for (let k = 0; k < x.length; k++) [x[k], y[k]] = [c * x[k] - s * y[k], s * x[k] + c * y[k]];
  }
  for (const row of a) [row[p], row[q]] = [c * row[p] - s * row[q], s * row[p] + c * row[q]];
}

/** Principal directions of some vectors; each points where its largest number is positive.
 *  @param {number[][]} vectors */
export function directions(vectors) {
  const [n, D] = [vectors.length, vectors[0].length];
  const mean = Array.from({ length: D }, (_, j) => vectors.reduce((all, row) => all + row[j], 0) / n);
  const centred = vectors.map((row) => row.map((x, j) => x - mean[j]));
  const spread = Array.from({ length: D }, () => new Array(D).fill(0));
  for (const row of centred) {
    for (let i = 0; i < D; i++) for (let j = 0; j <= i; j++) spread[i][j] += row[i] * row[j];
  }
  for (let i = 0; i < D; i++) for (let j = 0; j < i; j++) spread[j][i] = spread[i][j];
  const { values, vectors: found } = eigen(spread);
  const axes = found.slice(0, 2).map((axis) => {
    const most = axis.reduce((best, x) => (Math.abs(x) > Math.abs(best) ? x : best), 0);
    return axis.map((x) => (most < 0 ? -x : x));
  });
  const all = values.reduce((sum, x) => sum + x, 0);
  return { mean, axes, kept: (values[0] + values[1]) / all };
}

/** A vector at length 1; a zero vector stays. @param {number[]} vector */
export function unit(vector) {
  const length = norm(vector);
  return length > 0 ? vector.map((x) => x / length) : vector;
}

/** Where a vector stands in the picture. */
export const placed = (vector, { mean, axes }) =>
  axes.map((axis) => inner(axis, vector.map((x, j) => x - mean[j])));

/** The most alike of some vectors: [number, cosine], nearest first. @param {Set<number>} without */
export const nearest = (vectors, vector, most, without = new Set()) => vectors
  .map((row, n) => /** @type {[number, number]} */ ([n, cosine(row, vector)]))
  .filter(([n]) => !without.has(n)).sort((a, b) => b[1] - a[1]).slice(0, most);

/** Those that stand nearest in the picture. @param {number[][]} places @param {number[]} at */
export const besides = (places, [x, y], most, without = new Set()) => places
  .map((place, n) => /** @type {[number, number]} */ ([n, Math.hypot(place[0] - x, place[1] - y)]))
  .filter(([n]) => !without.has(n)).sort((a, b) => a[1] - b[1]).slice(0, most).map(([n]) => n);
