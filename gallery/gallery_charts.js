import { chart } from "../src/pieces/widgets/static/kit/charts.js";
import { chance, page } from "./gallery.js";

const steps = (n, f = (i) => i) => Float64Array.from({ length: n }, (_, i) => f(i));
const add = (view, options, data) => {
  const picture = chart(view, { caption: "Curves", xTitle: "step", yTitle: "loss, nats", ...options });
  view.panes.append(picture.pane);
  picture.draw(data);
};
const run = (seed, floor, n = 300) => { const noise = chance(seed, n); return steps(n, (i) => floor + 5 * Math.exp(-i / 40) + 0.12 * noise[i] / (1 + i / 90)); };

export default page([
  ["Five runs and their median, a floor, a cursor", (view) => add(view, { caption: "Training", low: 0 }, {
    x: steps(300), at: 120, marks: [{ y: 0.54, name: "floor 0.54" }],
    series: [{ name: "with positions", role: "query", runs: [1, 2, 3, 4, 5].map((s) => run(s, 0.6)) },
      { name: "without", role: "score", runs: [6, 7, 8, 9, 10].map((s) => run(s, 1.8)), dashed: true }] })],
  ["Both axes logarithmic; a ghost of what was", (view) => {
    const sizes = steps(40, (i) => 10 ** (3 + i / 8));
    add(view, { caption: "Loss against size", xTitle: "parameters", logX: true, logY: true }, { x: sizes,
      series: [{ name: "loss", role: "weight", y: sizes.map((n) => 40 * n ** -0.12), ghost: sizes.map((n) => 60 * n ** -0.13) }] });
  }],
  ["Gaps: NaN, ∞, and what a logarithm cannot place", (view) => {
    const y = steps(60, (i) => 3 + Math.sin(i / 5) * 2.9);
    [y[10], y[11], y[30], y[32], y[45]] = [NaN, NaN, Infinity, NaN, -1];
    add(view, { caption: "Linear", yTitle: "norm" }, { x: steps(60), series: [{ name: "norm", role: "residual", y }] });
    add(view, { caption: "Logarithmic", yTitle: "norm", logY: true }, { x: steps(60), series: [{ name: "norm", role: "residual", y }] });
  }],
  ["130,000 points", (view) => {
    const y = chance(3, 130000).map((x, i) => x + 8 * Math.sin(i / 9000));
    y[77777] = 30;
    add(view, { caption: "One long series", yTitle: "value" }, { x: steps(130000), series: [{ name: "value", role: "output", y }] });
  }],
  ["One point; a level line; nothing", (view) => {
    add(view, { caption: "One point" }, { x: [3], series: [{ name: "loss", role: "key", y: [1.5] }] });
    add(view, { caption: "Level" }, { x: steps(20), series: [{ name: "loss", role: "key", y: steps(20, () => 2) }] });
    add(view, { caption: "Nothing" }, { x: [], series: [{ name: "loss", role: "key", y: [] }] });
  }],
]);
