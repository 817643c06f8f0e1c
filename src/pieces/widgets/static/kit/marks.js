/** Where the names of a chart's marks stand: beside their lines, clear of the curves and of each other. */
import { crosses } from "./paths.js";

const LETTER = 6.5; // px of a letter

/** Of some places { x, y, anchor } for a name the first that no line runs through and no other name has
 *  taken, or the first of all. */
function free(places, name, lines, taken) {
  const long = LETTER * name.length;
  const box = ({ x, y, anchor }) => {
    const left = x - long * { start: 0, middle: 0.5, end: 1 }[anchor];
    return { left, right: left + long, top: y - 10, bottom: y + 3 };
  };
  const apart = (a, b) => a.right < b.left || b.right < a.left || a.bottom < b.top || b.bottom < a.top;
  const place = places.find((one) => !lines.some((line) => crosses(line, box(one)))
    && taken.every((other) => apart(other, box(one)))) ?? places[0];
  taken.push(box(place));
  return { x: place.x, y: place.y, "text-anchor": place.anchor };
}

/** Where the name of a level may stand: at its end, at its beginning, in its middle. */
const along = (y, { left, right }) => [{ x: right, anchor: "end" }, { x: left + 5, anchor: "start" },
  { x: (left + right) / 2, anchor: "middle" }].map((place) => ({ ...place, y }));

/** Where the name of an upright line may stand: on each side that has the room, at its top and its foot. */
function beside(x, name, { left, right, top, bottom }) {
  const long = 5 + LETTER * name.length;
  const sides = [{ x: x + 5, anchor: "start" }, { x: x - 5, anchor: "end" }];
  const roomy = sides.filter((_, n) => (n ? x - long >= left : x + long <= right));
  return [top + 9, bottom - 6].flatMap((y) => (roomy.length ? roomy : sides.slice(1))
    .map((place) => ({ ...place, y })));
}

/**
 * The places of some names, as attributes of their texts.
 * @param {{name: string, x?: number, y?: number, below?: boolean}[]} marks in px: an upright line has x, a
 *   level y, and is perhaps named `below` it
 * @param {{left: number, right: number, top: number, bottom: number}} room
 * @param {number[][][]} lines the curves, each of points [x, y] in order of x
 */
export function placed(marks, room, lines) {
  const taken = [];
  return marks.map(({ name, x, y, below }) => free(
    y === undefined ? beside(x, name, room) : along(y + (below ? 13 : -5), room), name, lines, taken));
}
