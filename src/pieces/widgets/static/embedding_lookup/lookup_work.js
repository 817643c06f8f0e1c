/** The arithmetic of one number: a one-hot row times a column of W, and what its place adds. */
import { plain } from "../kit/kit.js";

const WORDS = { picked: (word, j) => `row of ${word}, feature ${j + 1}`, sum: "x" };
const three = (x) => plain(x, 0, 3);
const bracketed = (x, part) => (x < 0 ? ["(", part, ")"] : [part]);

/** @param {any} s @returns {import("../kit/arithmetic.js").Line[]} */
export function work({ one, W, rows, P, X, words, positions, t, j }) {
  const top = (values) => Math.max(1e-9, ...values.flat().map(Math.abs));
  const tile = (role, value, values, text = three(value)) => ({ role, value, text, top: top(values) });
  const terms = one[t].flatMap((bit, v) => [v ? " + " : " = ",
    [tile("query", bit, one), " · ", ...bracketed(W[v][j], tile("residual", W[v][j], W))]]);
  const picked = { result: WORDS.picked(words[t], j),
    how: [...terms, " = ", tile("residual", rows[t][j], rows)] };
  const place = positions ? [" + ", ...bracketed(P[t][j], tile("key", P[t][j], P))] : [];
  return [picked, { result: WORDS.sum,
    how: [" = ", ...bracketed(rows[t][j], tile("residual", rows[t][j], rows)), ...place, " = ",
      tile("output", X[t][j], X)] }];
}
