/** Many random draws of one query and its keys, N(0, 1): their scores at every size from 1 to 1024. */
import { once } from "../twin/memo.js";
import { gaussian } from "../twin/twin.js";

export const SIZES = Array.from({ length: 11 }, (_, n) => 2 ** n);
export const DRAWS = 80;
export const HIDDEN = 16; // the hidden size of the additive score, and of the projections of the bilinear one

/** The random weights of the learned scores, rows of 1024 numbers: W for keys, U for queries, v. */
export const learned = once(() => ({
  W: Array.from({ length: HIDDEN }, (_, i) => gaussian(1e6 + i, 1024)),
  U: Array.from({ length: HIDDEN }, (_, i) => gaussian(2e6 + i, 1024)),
  v: gaussian(3e6, HIDDEN).map((x) => x / Math.sqrt(HIDDEN)),
}));

/** Σ a_i b_i over the first 1, 2, 4, … numbers: one pass for all sizes. */
function running(a, b) {
  const sums = new Float64Array(SIZES.length);
  let [sum, at] = [0, 0];
  for (let n = 0; n < SIZES.length; n++) {
    for (; at < SIZES[n]; at++) sum += a[at] * b[at];
    sums[n] = sum;
  }
  return sums;
}
const through = (rows, x) => rows.map((row) => running(row, x).map((sum, n) => sum / Math.sqrt(SIZES[n])));
const vector = (draw, n) => gaussian(5e6 + 13 * draw + n, 1024); // 0 is the query, from 1 the keys

const kept = new Map();
/** What is made of one draw's key once, however often it is asked for. */
function of(draw, j, moved) {
  const name = `${draw} ${j} ${moved}`;
  if (!kept.has(name)) {
    const key = vector(draw, j + 1);
    kept.set(name, moved ? through(learned().W, key) : running(query(draw), key));
  }
  return kept.get(name);
}
let last = { draw: -1, query: null };
const query = (draw) => (last.draw === draw ? last : (last = { draw, query: vector(draw, 0) })).query;
const moves = new Map();
const movedQuery = (draw) => {
  if (!moves.has(draw)) moves.set(draw, through(learned().U, query(draw)));
  return moves.get(draw);
};
const SCORE = {
  dot: (draw, j) => of(draw, j, false),
  scaled_dot: (draw, j) => of(draw, j, false).map((sum, n) => sum / Math.sqrt(SIZES[n])),
  bilinear: (draw, j) => projected(draw, j, (key, query) => key * query),
  additive: (draw, j) => projected(draw, j, (key, query, i) => learned().v[i] * Math.tanh(key + query)),
};
/** The sum over the hidden numbers of a key and a query, at each size. */
function projected(draw, j, term) {
  const [key, query] = [of(draw, j, true), movedQuery(draw)];
  return Float64Array.from(SIZES, (_, n) =>
    key.reduce((sum, row, i) => sum + term(row[n], query[i][n], i), 0));
}

/** @type {Record<string, Float64Array[][]>} */
const scored = {};
/** The scores of one key in one draw, at every size: no control changes them. */
function scoresOf(kind, draw, j) {
  const draws = (scored[kind] ??= Array.from({ length: DRAWS }, () => []));
  return (draws[draw][j] ??= SCORE[kind](draw, j));
}

/** The largest weight among `keys` keys in each draw: DRAWS lists of one number a size.
 *  @param {string} kind @param {number} keys @param {number} temperature @returns {Float64Array[]} */
function largestWeights(kind, keys, temperature) {
  return Array.from({ length: DRAWS }, (_, draw) => {
    const scores = Array.from({ length: keys }, (_key, j) => scoresOf(kind, draw, j));
    return Float64Array.from(SIZES, (_size, n) => {
      const top = scores.reduce((most, one) => Math.max(most, one[n]), -Infinity);
      return 1 / scores.reduce((sum, one) => sum + Math.exp((one[n] - top) / temperature), 0);
    });
  });
}

/** @type {Map<string, Float64Array[]>} */
const spreads = new Map();
/** The spread of the largest weights: computed once for each setting. “Draw again” draws other vectors.
 *  @param {string} kind @param {number} keys @param {number} temperature */
export function spreadOf(kind, keys, temperature) {
  const setting = JSON.stringify([kind, keys, temperature]);
  if (!spreads.has(setting)) {
    if (spreads.size > 200) spreads.clear();
    spreads.set(setting, spread(largestWeights(kind, keys, temperature)));
  }
  return spreads.get(setting);
}

/** The runs at a tenth, a half and nine tenths of all draws, size by size. @param {Float64Array[]} runs */
const spread = (runs) => [0.1, 0.5, 0.9].map((share) => Float64Array.from(SIZES, (_, n) => {
  const sorted = runs.map((run) => run[n]).sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const low = sorted[Math.floor(at)];
  return low + (at - Math.floor(at)) * (sorted[Math.ceil(at)] - low);
}));
