import { h } from "../src/pieces/widgets/static/kit/dom.js";
import { causalWeights, page } from "./gallery.js";
import { heatmap } from "../src/pieces/widgets/static/kit/heatmap.js";
import { player } from "../src/pieces/widgets/static/kit/player.js";

export default page([
  ["Eight states, moved through", (view) => {
    const states = Array.from({ length: 8 }, (_, n) => causalWeights(8, 5, n / 2));
    const mask = states[0].map((row, i) => row.map((_, j) => j <= i));
    const map = heatmap(view, { caption: "The weights sharpen", role: "weight" });
    view.panes.append(map.pane);
    player(view, { label: "sharpness", states: 8, show(at) {
      const [a, b] = [states[Math.floor(at)], states[Math.ceil(at)]];
      map.draw({ values: a.map((row, i) => row.map((x, j) => x + (b[i][j] - x) * (at % 1))), mask, top: 1 });
    } }).jump(0);
  }],
  ["One state", (view) => {
    const said = h("p", {}, "Nothing to play.");
    view.panes.append(said);
    player(view, { label: "one state", states: 1, show() {} });
  }],
]);
