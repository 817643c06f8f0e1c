import { blocks } from "../src/pieces/widgets/static/kit/blocks.js";
import { page } from "./gallery.js";
import { player } from "../src/pieces/widgets/static/kit/player.js";
import { permute, reshape, tensor } from "../src/pieces/widgets/static/twin/tensor.js";

const count = (n) => Float32Array.from({ length: n }, (_, i) => i);

function heads(view, T, H, K) {
  const picture = blocks(view, { caption: "One row a token, cut into heads", colour: { state: 1, axis: 1 } });
  const x = tensor(count(T * H * K), [T, H * K]);
  const cut = reshape(x, T, H, K);
  const states = [
    { name: "Q", tensor: x, axes: ["T", "D"] },
    { name: "Q.view(T, H, K)", tensor: cut, axes: ["T", "H", "K"] },
    { name: "Q.view(T, H, K).transpose(0, 1)", tensor: permute(cut, 1, 0, 2), axes: ["H", "T", "K"] },
  ];
  view.panes.append(picture.pane);
  picture.draw(states);
  player(view, { label: "shapes", states: states.length, show: picture.show, tween: 1100, dwell: 700 });
}

export default page([
  ["Multi-head: view, then transpose", (view) => heads(view, 6, 3, 4)],
  ["Many heads", (view) => heads(view, 8, 8, 4)],
  ["A transposed matrix is the same memory", (view) => {
    const picture = blocks(view, { caption: "W and its transpose", colour: { state: 0, axis: 0 } });
    const w = tensor(count(12), [3, 4]);
    view.panes.append(picture.pane);
    picture.draw([{ name: "W", tensor: w }, { name: "W.T", tensor: permute(w, 1, 0) }]);
    player(view, { label: "states", states: 2, show: picture.show });
  }],
  ["One number; a row", (view) => {
    for (const n of [1, 7]) {
      const picture = blocks(view, { caption: `${n}` });
      view.panes.append(picture.pane);
      picture.draw([{ name: "x", tensor: tensor(count(n), [n]) }]);
    }
  }],
]);
