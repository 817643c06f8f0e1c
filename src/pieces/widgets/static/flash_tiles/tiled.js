/** The softmax tile by tile: what is carried along each row, and what is moved for it. */
import { inner } from "../twin/twin.js";

/** @typedef {{m: number, l: number, o: number[]}} Kept of one query: largest score, sum, partial output
 *  @typedef {{i: number[], j: number[], first: boolean, last: boolean}} Tile its queries and keys; whether it
 *   is the first or the last of its row of tiles
 *  @typedef {{Q: number[][], K: number[][], V: number[][], rows: number, columns: number,
 *   causal: boolean}} Given */

const range = (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, n) => from + n);

/** Whether query i may attend to key j; the last query stands where the last key stands.
 *  @param {Given} g @param {number} i @param {number} j */
export const seen = (g, i, j) => !g.causal || j <= i + g.K.length - g.Q.length;

/** q · k / √K @param {Given} g @param {number} i @param {number} j */
export const score = (g, i, j) => inner(g.Q[i], g.K[j]) / Math.sqrt(g.Q[i].length);

/** The tiles in the order in which they are done; what a mask hides whole is left out.
 *  @param {Given} g @returns {Tile[]} */
export function tiles(g) {
  const [T, S] = [g.Q.length, g.K.length];
  const found = [];
  for (let top = 0; top < T; top += g.rows) {
    const row = [];
    for (let left = 0; left < S; left += g.columns) {
      const [i, j] = [range(top, Math.min(T, top + g.rows)), range(left, Math.min(S, left + g.columns))];
      if (i.some((a) => j.some((b) => seen(g, a, b)))) row.push({ i, j });
    }
    found.push(...row.map((tile, n) => ({ ...tile, first: n === 0, last: n === row.length - 1 })));
  }
  return found;
}

/** A row before its first tile. @param {Given} g @returns {Kept} */
export const empty = (g) => ({ m: -Infinity, l: 0, o: g.V[0].map(() => 0) });

/** One more tile for one query. @param {Given} g @param {Kept} was @param {number} i @param {number[]} js */
export function carried(g, was, i, js) {
  const open = js.filter((j) => seen(g, i, j));
  const scores = open.map((j) => score(g, i, j));
  const m = Math.max(was.m, ...scores);
  const level = m === -Infinity ? 0 : m;
  const shrink = Math.exp(was.m - level);
  const raised = scores.map((s) => Math.exp(s - level));
  const l = was.l * shrink + raised.reduce((a, b) => a + b, 0);
  const o = was.o.map((x, k) => x * shrink + inner(raised, open.map((j) => g.V[j][k])));
  return { m, l, o, shrink, raised, scores, open };
}

/** @param {Kept} kept */
export const finished = ({ l, o }) => o.map((x) => (l ? x / l : 0));

/**
 * Everything after `step` tiles, or after one step more, when all rows are finished: what each query of the
 * block keeps, before and after the tile just done, the finished rows, and the numbers moved.
 * @param {Given} g @param {number} step
 */
export function after(g, step) {
  const all = tiles(g);
  const [T, S, K] = [g.Q.length, g.K.length, g.Q[0].length];
  /** @type {(Kept|null)[]} */
  const before = Array(T).fill(null);
  /** @type {(ReturnType<typeof carried>|null)[]} */
  const now = Array(T).fill(null);
  /** @type {(number[]|null)[]} */
  const output = Array(T).fill(null);
  let moved = 0;
  all.slice(0, step).forEach((tile) => {
    if (tile.first) moved += tile.i.length * K; // the block of queries
    moved += 2 * tile.j.length * K; // keys and values
    for (const i of tile.i) {
      before[i] = tile.first ? empty(g) : /** @type {Kept} */ (now[i]);
      now[i] = carried(g, before[i], i, tile.j);
      if (tile.last) output[i] = finished(now[i]);
    }
    if (tile.last) moved += tile.i.length * K; // the finished rows are written
  });
  // A matrix of scores is written, read for the softmax, written as weights, and read for the average.
  return { all, tile: all[step - 1] ?? null, end: step > all.length, before, now, output, moved,
    matrix: 4 * T * S + 2 * T * K + 2 * S * K, held: [Math.min(g.rows, T) * Math.min(g.columns, S), T * S] };
}
