/** Names beside their dots: each at the nearest place where it covers no other name and no told dot. */
import { clamp } from "../kit/kit.js";

const [WIDTH, TALL, GAP, DOT] = [0.62, 1.1, 5, 6]; // of a letter, of its line; px to a dot, a dot's own
const WAYS = [0, 8, 12, 4, 2, 14, 6, 10, 1, 15, 7, 9, 3, 13, 5, 11].map((n) =>
  [Math.cos(n * Math.PI / 8), -Math.sin(n * Math.PI / 8)]);
const RINGS = [0, 8, 18, 30, 44, 60, 80, 104, 132, 164];

/** @typedef {{x: number, y: number, w: number, h: number}} Box its middle, its width and its height */

const meet = (/** @type {Box} */ a, /** @type {Box} */ b) =>
  2 * Math.abs(a.x - b.x) < a.w + b.w && 2 * Math.abs(a.y - b.y) < a.h + b.h;
const wide = (name, letter) =>
  letter * [...name].reduce((sum, sign) => sum + (sign > "\u2e80" ? 1.05 : WIDTH), 0);

/**
 * Where each name stands, the first one first: the middle of its box.
 * @param {{name: string, at: number[]}[]} names @param {number} letter its size
 * @param {number[]} size of the picture
 */
export function besideDots(names, letter, [width, height]) {
  const dots = names.map(({ at: [x, y] }) => ({ x, y, w: DOT, h: DOT }));
  /** @type {Box[]} */
  const placed = [];
  for (const { name, at } of names) {
    const [w, h] = [wide(name, letter), TALL * letter];
    const box = (ring, /** @type {number[]} */ [dx, dy]) => ({ w, h,
      x: clamp(at[0] + dx * (GAP + ring + w / 2), w / 2 + 2, width - w / 2 - 2),
      y: clamp(at[1] + dy * (GAP + ring + h / 2), h / 2 + 2, height - h / 2 - 2) });
    const tries = RINGS.flatMap((ring) => WAYS.map((way) => box(ring, way)));
    placed.push(tries.find((one) => ![...placed, ...dots].some((other) => meet(one, other))) ?? tries[0]);
  }
  return placed;
}

/** Where a thin line from a dot meets its name's box, or null where the name stands right at it. */
export function leader([x, y], { x: bx, y: by, w, h }) {
  const [nx, ny] = [clamp(x, bx - w / 2, bx + w / 2), clamp(y, by - h / 2, by + h / 2)];
  return Math.hypot(nx - x, ny - y) > 1.6 * GAP ? [nx, ny] : null;
}
