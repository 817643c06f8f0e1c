import { page } from "./gallery.js";
import { plane } from "../src/pieces/widgets/static/kit/plane.js";

const KEYS = [[1.8, 0.4], [-1.2, 1.6], [-0.6, -1.9]];

function put(view, flat) {
  let [x, y] = [1, 0.8];
  const redraw = () => {
    const scores = KEYS.map(([a, b]) => a * x + (flat ? 0 : b * y));
    const powers = scores.map(Math.exp);
    const sum = powers.reduce((a, b) => a + b, 0);
    map.draw({ x, y, keys: KEYS, weights: powers.map((p) => p / sum), flat, ghost: [-1.5, 0.5] });
  };
  const map = plane(view, { caption: "A query among three keys", where: () => ({ x, y }), move: (a, b) => { [x, y] = [a, b]; redraw(); }, reach: 3 });
  view.panes.append(map.pane);
  redraw();
}

export default page([
  ["Two coordinates", (view) => put(view, false)],
  ["One coordinate", (view) => put(view, true)],
]);
