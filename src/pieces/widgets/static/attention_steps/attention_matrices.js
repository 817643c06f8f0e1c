/** The matrices of self-attention: their roles, which ones a step shows, and the arithmetic of a row. */
import { format, writes } from "../kit/kit.js";

export const low = (n) => "₁₂₃₄₅₆"[n];
export const four = (x) => format(x, 4);
/** Every matrix: its role, and the names of its rows and columns: tokens, or 1, 2, 3.
 *  @type {Record<string, [string, boolean?, boolean?]>} */
export const MAPS = {
  X: ["residual", true], Wq: ["query"], Wk: ["key"], Wv: ["value"], Q: ["query", true], K: ["key", true],
  V: ["value", true],
  Kt: ["key", false, true], scores: ["score", true, true], scaled: ["score", true, true],
  weights: ["weight", true, true], output: ["output", true],
};
/** The matrices of each step: left, and above or none, and what they make. */
export const SHOWN = {
  query: ["X", "Wq", "Q"], key: ["X", "Wk", "K"], value: ["X", "Wv", "V"], score: ["Q", "Kt", "scores"],
  scale: ["scores", null, "scaled"], softmax: ["scaled", null, "weights"], mix: ["weights", "V", "output"],
};

/** Whether a step hides what the mask hides. */
export const masked = (s, name) => (name === "weights" || (name === "scaled" && s.step === "softmax") ? s.mask
  : null);
/** The size that has the full colour: the largest number that is seen. */
export const topOf = (s, name) => s[name].reduce((most, row, i) =>
  row.reduce((top, x, j) => (masked(s, name)?.[i][j] === false ? top : Math.max(top, Math.abs(x))), most),
    1e-9);

/** The arithmetic of row r: a line for each cell of the result; `say` has the widget's words. */
export function lines(s, r, say) {
  /** A cell as a tile. */
  const cell = (name, i, j, write = writes(MAPS[name][0])) =>
    ({ value: s[name][i][j], text: write(s[name][i][j], 4), role: MAPS[name][0], top: topOf(s, name) });
  const typed = (x) => String(Math.round(x * 1e4) / 1e4).replace("-", "−");
  const factor = (tile) => (tile.value < 0 ? ["(", tile, ")"] : [tile]);
  const sum = (terms) => terms.flatMap(([a, b], n) => [n ? " + " : "", [...factor(a), "·", ...factor(b)]]);
  const columns = s[s.made][0].map((_, j) => j);
  const result = (j) => cell(s.made, r, j);
  const { step, left, made } = s;
  if (step === "scale") return columns.map((j) =>
    ({ result: result(j), how: [" = ", cell(left, r, j), " / √3"] }));
  if (step === "score" || step === "mix") {
    return columns.map((j) => ({ result: result(j), how: [
      ...(step === "score" ? [` = q${low(r)}·k${low(j)}`] : []), " = ",
      ...sum(s[left][r].map((_, n) => [cell(left, r, n),
        step === "score" ? cell("K", j, n) : cell("V", n, j)])),
    ] }));
  }
  if (step === "softmax") {
    const open = s.scaled[r].filter((_, j) => !s.mask || s.mask[r][j]);
    // exp of a large number says nothing to a reader
    const shift = Math.max(...open.map(Math.abs)) > 20 ? Math.max(...open) : 0;
    const total = four(open.reduce((all, x) => all + Math.exp(x - shift), 0));
    const power = (j) => [" = exp(", cell(left, r, j),
      shift ? ` − ${shift < 0 ? `(${four(shift)})` : four(shift)})` : ")", ` / ${total}`];
    return [
      ...columns.map((j) => ({ result: result(j),
        how: s.mask && !s.mask[r][j] ? [say.hidden(j)] : power(j) })),
      { result: total, how: [say.sum] }];
  }
  const W = SHOWN[step][1];
  return columns.map((j) => ({ result: cell(made, r, j),
    how: [" = ", ...sum(s.X[r].map((_, n) => [cell("X", r, n, typed), cell(W, n, j)]))] }));
}
