import { causalWeights, chance, page, STORY } from "./gallery.js";
import { heatmap } from "../src/pieces/widgets/static/kit/heatmap.js";
import { legend } from "../src/pieces/widgets/static/kit/kit.js";
import { createSelection } from "../src/pieces/widgets/static/kit/selection.js";
import { tensor } from "../src/pieces/widgets/static/twin/tensor.js";

const add = (view, options, picture) => {
  const map = heatmap(view, { caption: "Map", role: "weight", ...options });
  view.panes.append(map.pane);
  map.draw(picture);
  return map;
};
const causal = (T) => Array.from({ length: T }, (_, i) => Array.from({ length: T }, (_, j) => j <= i));

export default page([
  ["Numbers, a mask, a row that is followed", (view) => {
    const [weights, before] = [causalWeights(8, 3), causalWeights(8, 5)];
    add(view, { caption: "Weights" }, { values: weights, mask: causal(8), rows: STORY, columns: STORY, focus: 4, top: 1 });
    add(view, { caption: "Scores, with both signs", role: "score", signed: true }, { values: tensor(chance(8, 64), [8, 8]), rows: STORY, columns: STORY });
    add(view, { caption: "A ghost of what was" }, { values: weights, ghost: before, mask: causal(8), top: 1 });
    view.details.before(legend(["weight", "weight"], ["mask", "masked"]));
  }],
  ["Two maps, one selection", (view) => {
    const selection = createSelection({ row: 2 });
    add(view, { caption: "One head", selection }, { values: causalWeights(8, 11), mask: causal(8), rows: STORY, columns: STORY, top: 1 });
    add(view, { caption: "Another", role: "output", selection }, { values: causalWeights(8, 12), mask: causal(8), rows: STORY, columns: STORY, top: 1 });
  }],
  ["NaN and ±∞, in large and in small cells", (view) => {
    const odd = (n, T) => { const x = chance(n, T * T); [x[1], x[T + 2], x[2 * T]] = [NaN, Infinity, -Infinity]; return tensor(x, [T, T]); };
    add(view, { caption: "5 × 5", role: "score", signed: true }, { values: odd(1, 5) });
    add(view, { caption: "24 × 24", role: "score", signed: true }, { values: odd(2, 24) });
  }],
  ["Rings: cells that should not be open", (view) => {
    const open = causal(8).map((row, i) => row.map((x, j) => x || (i === 1 && j === 5) || (i === 3 && j === 4)));
    add(view, { caption: "Mask", role: "query" }, { values: open.map((row) => row.map(Number)), mask: open, print: false, top: 1,
      marks: open.map((row, i) => row.map((x, j) => x && j > i)) });
    add(view, { caption: "On strong and weak cells", role: "leak" }, { values: [[0, 0.25, 0.5, 0.75, 1]], top: 1, marks: [[1, 1, 1, 1, 1]] });
  }],
  ["512 × 256, with a mask and three cells that are no numbers", (view) => {
    const data = chance(7, 512 * 256).map((x, n) => x + 3 * Math.sin(n / 256 / 20) * Math.cos((n % 256) / 15));
    [data[9000], data[50000], data[70001]] = [NaN, Infinity, -Infinity];
    const mask = tensor(Float32Array.from({ length: 512 * 256 }, (_, n) => Number(n % 256 <= Math.floor(n / 256))), [512, 256]);
    add(view, { caption: "Residual stream", role: "residual", signed: true, rowAxis: "token", columnAxis: "feature" }, { values: tensor(data, [512, 256]), mask });
  }],
  ["Long labels; one cell; none", (view) => {
    const long = ["antidisestablishmentarianism", "b", "Donaudampfschifffahrtsgesellschaft", "北京"];
    add(view, { caption: "Long labels" }, { values: tensor(chance(4, 16).map(Math.abs), [4, 4]), rows: long, columns: long });
    add(view, { caption: "1 × 1" }, { values: [[0.5]], top: 1 });
    add(view, { caption: "Empty" }, { values: [[]] });
  }],
]);
