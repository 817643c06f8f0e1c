import { page } from "./gallery.js";
import { h } from "../src/pieces/widgets/static/kit/dom.js";
import { keyed } from "../src/pieces/widgets/static/kit/keyed.js";
import { bars } from "../src/pieces/widgets/static/kit/plots.js";
import { parts } from "../src/pieces/widgets/static/kit/parts.js";
import { sortable } from "../src/pieces/widgets/static/kit/table.js";

const MODELS = [
  { name: "GPT-2", year: 2019, parameters: 124439808, heads: 12, norm: "pre" },
  { name: "BERT base", year: 2018, parameters: 109482240, heads: 12, norm: "post" },
  { name: "LLaMA 7B", year: 2023, parameters: 6738415616, heads: 32, norm: "pre" },
  { name: "Transformer base", year: 2017, parameters: NaN, heads: 8, norm: "post" },
];
const split = (name, embedding, attention, forward, norms) => ({ name, parts: [
  { name: "embedding", role: "query", value: embedding }, { name: "attention", role: "weight", value: attention },
  { name: "feed-forward", role: "value", value: forward }, { name: "norms", role: "residual", value: norms }] });

export default page([
  ["A table that sorts", (view) => {
    const table = sortable(view, { caption: "Four models", columns: [{ key: "name", title: "model" }, { key: "year", title: "year", show: String },
      { key: "parameters", title: "parameters" }, { key: "heads", title: "heads" }, { key: "norm", title: "norm" }] });
    view.panes.append(table.pane);
    table.draw(MODELS);
  }],
  ["Parts of wholes", (view) => {
    const picture = parts(view, { caption: "Where the parameters are", unit: "parameters" });
    view.panes.append(picture.pane);
    picture.draw([split("GPT-2", 39383808, 28348416, 56669184, 38400), split("LLaMA, small", 9216, 147456, 294912, 480), split("Mixture of experts", 9000000, 20000000, 170000000, 40000)]);
  }],
  ["Parts: none, one, and what is no number", (view) => {
    const picture = parts(view, { caption: "Edges" });
    view.panes.append(picture.pane);
    picture.draw([{ name: "nothing", parts: [] }, { name: "one", parts: [{ name: "all of it", role: "score", value: 3 }] },
      { name: "not a number", parts: [{ name: "lost", role: "key", value: NaN }, { name: "rest", role: "output", value: 2 }] }]);
  }],
  ["Bars", (view) => {
    const chart = bars(view, { caption: "Scores and weights", columns: [{ title: "score", role: "score", signed: true }, { title: "weight", role: "weight" }] });
    view.panes.append(chart.pane);
    chart.draw({ names: ["coffee", "book", "laptop", "lost"], focus: 1,
      series: [{ values: [-2.34, 2.08, 0.19, NaN], ghost: [1, 0.5, -0.2, 0] }, { values: [0.01, 0.86, 0.13, 0], ghost: [0.4, 0.3, 0.2, 0.1], top: 1 }] });
  }],
  ["A list whose nodes glide", (view) => {
    const list = h("ol", { class: "g-list" });
    const items = keyed(list, { key: (x) => x, moves: true, make: (x) => h("li", {}, x), update() {} });
    let order = ["Lily", "bear", "blue", "book", "the"];
    const press = h("button", { type: "button", class: "p-button", onclick: () => { order = [...order.slice(2), ...order.slice(0, 2)]; items.draw(order); } }, "Another order");
    view.panes.append(press, list);
    items.draw(order);
  }],
]);
