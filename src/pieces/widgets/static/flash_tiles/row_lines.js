/** The arithmetic of one row in the tile that it met last, and the division at its end. */
import { format } from "../kit/kit.js";
import { finished } from "./tiled.js";

const TOP = 3; // a score of this size has the full colour
const tile = (value, role) => ({ value, text: format(value, 2), role, top: TOP });
const comma = (list) => list.flatMap((x, n) => (n ? [", ", x] : [x]));
const plus = (list) => list.flatMap((x, n) => (n ? [" + ", x] : [x]));

/**
 * Nothing where the row has met no tile yet, and no sums where a mask hides the whole tile from it.
 * @param {import("./tiled.js").Given} g @param {ReturnType<typeof import("./tiled.js").after>} is
 * @param {number} i @param {{m: string, l: string, o: string, end: string}} words
 */
export function rowLines(g, is, i, words) {
  const [was, now] = [is.before[i], is.now[i]];
  if (!now || !Number.isFinite(now.m)) return [];
  const scores = now.scores.map((x) => tile(x, "score"));
  const highest = Number.isFinite(was.m) ? [tile(was.m, "score")] : [];
  const power = (x) => [`e`, { raised: `${format(x, 2)} − ${now.m < 0 ? `(${format(now.m, 2)})`
    : format(now.m, 2)}` }];
  const old = (value, role) => (Number.isFinite(was.m) ? [[tile(value, role), " · ", ...power(was.m)], " + "]
    : []);
  const raised = now.open.map((j, n) => ({ e: power(now.scores[n]), v: tile(g.V[j][0], "value") }));
  const met = [
    { result: words.m, how: [" = max(", ...comma([...highest, ...scores]), ") = ", tile(now.m, "score")] },
    { result: words.l, how: [" = ", ...old(was.l, "weight"), ...plus(raised.map(({ e }) => e)), " = ",
      tile(now.l, "weight")] },
    { result: words.o, how: [" = ", ...old(was.o[0], "output"),
      ...plus(raised.map(({ e, v }) => [...e, " · ", v])), " = ", tile(now.o[0], "output")] },
  ];
  return [...(now.open.length ? met : []),
    ...(is.output[i] ? [{ result: words.end, how: [" = ", tile(now.o[0], "output"), " / ",
      tile(now.l, "weight"), " = ", tile(finished(now)[0], "output")] }] : [])];
}
