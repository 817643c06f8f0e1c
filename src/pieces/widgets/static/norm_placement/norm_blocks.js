/** One residual connection as a drawing: the stream rises, a branch leaves it and is added again. */
import { h } from "../kit/kit.js";

/** What stands on the branch from below, whether a norm stands on the stream, whether the stream is scaled.
 *  @type {Record<string, {branch: string[], after: boolean, scaled: boolean}>} */
const SHAPES = {
  post: { branch: ["f"], after: true, scaled: false },
  pre: { branch: ["norm", "f"], after: false, scaled: false },
  sandwich: { branch: ["norm", "f", "norm"], after: false, scaled: false },
  deep: { branch: ["f"], after: true, scaled: true },
};
const [WIDTH, HEIGHT, STREAM, BRANCH] = [92, 138, 26, 64];
const FORK = 122;

/** A box with its name, in the middle of a line. */
function box(part, x, y, width, name) {
  return h("g", { class: `p-part p-part-${part}`, "data-part": part, "data-x": x, "data-y": y },
    h("rect", { x: x - width / 2, y: y - 9, width, height: 18, rx: part === "f" ? 3 : 9 }),
    h("text", { x, y: y + 3.5, "text-anchor": "middle" }, name));
}

/** @param {string} placement @param {{norm: string, f: string, alpha: string}} names */
export function block(placement, names) {
  const { branch, after, scaled } = SHAPES[placement];
  const low = branch.length === 1 ? 86 : 100;
  const at = branch.map((_, n) => low - 27 * n);
  const join = Math.min(at[at.length - 1] - 24, after ? 58 : 40);
  return h("svg", { class: "p-norm-block", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" },
    h("path",
      { class: "p-stream", d: `M${STREAM} ${HEIGHT - 2}V6M${STREAM - 4} 11L${STREAM} 5L${STREAM + 4} 11` }),
    h("path", { class: "p-branch", d: `M${STREAM} ${FORK}H${BRANCH}V${join}H${STREAM + 7}` }),
    h("g", { class: "p-part p-part-add", "data-part": "add", "data-x": STREAM, "data-y": join },
      h("circle", { cx: STREAM, cy: join, r: 7 }),
      h("path", { d: `M${STREAM - 4} ${join}H${STREAM + 4}M${STREAM} ${join - 4}V${join + 4}` })),
    ...branch.map((part, n) => box(part, BRANCH, at[n], part === "f" ? 34 : 40, names[part])),
    ...(scaled ? [box("alpha", STREAM, 88, 26, names.alpha)] : []),
    ...(after ? [box("norm", STREAM, 27, 40, names.norm)] : []));
}
