/** The arithmetic of one normalised number: mean, spread and result, term by term. */
import { plain } from "../kit/kit.js";
import { tickName } from "../kit/scales.js";

const WORDS = { mean: "mean μ", variance: "variance σ²", square: "mean square", y: "result" };
const MOST_TERMS = 6;
const four = (x) => plain(x, 0, 4);

/** 10⁻⁵, 0.01, 1. */
export const small = (eps) => (eps >= 0.001 ? plain(eps) : tickName(eps));

/**
 * @param {{kind: string, X: number[][], row: number, column: number, eps: number, gain: number[], shift:
 *   number[]}} s
 * @param {number[]} numbers those that are averaged
 * @param {{mean: number, square: number, variance: number}} of @param {number} y the result
 * @returns {import("../kit/arithmetic.js").Line[]}
 */
export function work(s, numbers, { mean, square, variance }, y) {
  const tops = { residual: Math.max(1e-9, ...s.X.flat().map(Math.abs)), output: 2.5 };
  const tile = (role, value) => ({ role, value, text: four(value), top: tops[role] });
  const term = (value) => (value < 0 ? ["(", tile("residual", value), ")"] : [tile("residual", value)]);
  const factor = (value) => (value < 0 ? `(${four(value)})` : four(value));
  const long = numbers.length > MOST_TERMS;
  const shown = long ? [...numbers.slice(0, 3), null, ...numbers.slice(-1)] : numbers;
  const sum = (of) => shown.flatMap((x, n) => [n ? " + " : "", ...(x === null ? ["…"] : of(x))]);
  const less = (x) => [tile("residual", x), mean < 0 ? ` + ${four(-mean)}` : ` − ${four(mean)}`];
  const squared = (...part) => [[...part, { raised: "2" }]];
  const averaged = (terms, value) => [" = (", ...terms, `) / ${numbers.length} = ${four(value)}`];
  const x = s.X[s.row][s.column];
  const result = (top, inside, shift) =>
    ({ result: WORDS.y, how: [` = ${factor(s.gain[s.column])} · `, ...top,
    ` / √(${four(inside)} + ${small(s.eps)})${shift} = `, tile("output", y)] });
  if (s.kind === "rms") {
    return [{ result: WORDS.square, how: averaged(sum((v) => squared(...term(v))), square) },
      result(term(x), square, "")];
  }
  return [
    { result: WORDS.mean, how: averaged(sum((v) => [term(v)]), mean) },
    { result: WORDS.variance, how: averaged(sum((v) => squared("(", ...less(v), ")")), variance) },
    result([["(", ...less(x), ")"]], variance, ` + ${factor(s.shift[s.column])}`),
  ];
}
