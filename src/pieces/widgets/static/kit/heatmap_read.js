/** Reading a heat map without seeing it: where a key leads, and a row in a few numbers. */
import { extent } from "../twin/tensor.js";

const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
  PageUp: [-10, 0], PageDown: [10, 0] };

/** The cell a key leads to, or null. The first arrow shows where one stands; Shift makes ten steps of one.
 *  @param {KeyboardEvent} event @param {{i: number, j: number}|null} from @param {{T: number, S: number}}
 * grid */
export function moved(event, from, { T, S }) {
  const at = from ?? { i: 0, j: 0 };
  if (event.key === "Home") return { i: at.i, j: 0 };
  if (event.key === "End") return { i: at.i, j: S - 1 };
  const [di, dj] = (MOVES[event.key] ?? []).map((step) =>
    step * (event.shiftKey && event.key.startsWith("Arrow") ? 10 : 1));
  if (di === undefined) return null;
  const within = (n, most) => Math.min(most - 1, Math.max(0, n));
  return from ? { i: within(at.i + di, T), j: within(at.j + dj, S) } : at;
}

/** The numbers of the cells that are not masked. */
export function seen(grid, open) {
  const numbers = new Float64Array(grid.T * grid.S);
  let n = 0;
  for (let i = 0; i < grid.T; i++) {
    for (let j = 0; j < grid.S; j++) if (open(i, j)) numbers[n++] = grid.at(i, j);
  }
  return numbers.subarray(0, n);
}

/** Smallest, mean, largest and where, and how many are no numbers: one line for a row of a large map. */
export function rowInShort(grid, open, i, nameOf, write) {
  const row = seen({ T: 1, S: grid.S, at: (_, j) => grid.at(i, j) }, (_, j) => open(i, j));
  const { low, high, finite, nan, infinite } = extent(row);
  if (!finite) return ["–", "–", "–", "–", String(nan + infinite)];
  let sum = 0;
  let place = -1;
  for (let j = 0; j < grid.S; j++) {
    const x = grid.at(i, j);
    if (!open(i, j) || !Number.isFinite(x)) continue;
    sum += x;
    if (place < 0 && x === high) place = j;
  }
  return [write(low, 3), write(sum / finite, 3), write(high, 3), nameOf(place), String(nan + infinite)];
}
