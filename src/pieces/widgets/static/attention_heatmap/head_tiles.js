/** A small map for each head of a model: press one to see it large, switch it off beside its name. */
import { h, mix, readColours } from "../kit/kit.js";

/** @typedef {import("../twin/reading.js").Weights} Weights */

/** One pixel a cell; small weights are lifted, or a small map would be empty.
 *  @param {HTMLCanvasElement} canvas @param {Weights} weights @param {number} head @param {Record<string,
 * number[]>} colours */
function paint(canvas, { data, shape: [, T, S] }, head, colours) {
  [canvas.width, canvas.height] = [S, T];
  const image = new ImageData(S, T);
  for (let i = 0; i < T * S; i++) {
    image.data.set([...mix(colours.paper, colours.weight, Math.sqrt(data[head * T * S + i])), 255], 4 * i);
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
}

/** One head. */
function tile(l, n, { say, show, turn }) {
  const canvas = h("canvas", { "aria-hidden": "true", width: 0, height: 0 });
  const line = h("i", { class: "p-head-row" });
  const note = h("span", { class: "p-head-note" });
  const loss = h("i", {});
  const cost = h("span", { class: "p-head-cost", title: "", hidden: true }, loss);
  const pick = h("button", { type: "button", class: "p-head-pick", onclick: () => show(l, n) },
    h("span", { class: "p-head-map" }, canvas, line), note, cost);
  const check = h("input", { type: "checkbox", "aria-label": say.on(l + 1, n + 1),
    onchange: () => turn(l, n) });
  const name = h("label", {}, check, say.head(l + 1, n + 1));
  return { canvas, line, note, loss, cost, pick, check, node: h("div", { class: "p-head" }, name, pick) };
}

/**
 * Tiles for `layers` × `heads`. `draw({ maps, shown, off, notes, costs, row })`: `maps` are the weights by
 * layer, `shown`
 * is [layer, head or null], `notes` and `costs` a text and a share for each tile, null where there is
 * nothing to say.
 * @param {{layers: number, heads: number, say: Record<string, any>, show: (layer: number, head: number) =>
 *   void,
 *   turn: (layer: number, head: number) => void}} options
 */
export function headTiles({ layers, heads, ...options }) {
  const { say } = options;
  const box = h("div", { class: "p-heads" });
  const tiles = Array.from({ length: layers },
    (_, l) => Array.from({ length: heads }, (_, n) => tile(l, n, options)));
  const style = `--heads:${Math.min(heads, 8)}`;
  tiles.forEach((row, l) => box.append(h("p", { class: "p-head-layer" }, say.layer(l)),
    h("div", { class: "p-head-line", style }, ...row.map((one) => one.node))));
  let drawn = null;
  return {
    box,
    /** The colours have changed. */
    fade() { drawn = null; },
    draw({ maps, shown, off, notes, costs, row }) {
      const colours = drawn !== maps ? readColours(box, ["paper", "weight"]) : null;
      tiles.forEach((line, l) => line.forEach((one, n) => {
        if (colours) paint(one.canvas, maps[l], n, colours);
        const isOff = off.has(`${l}.${n}`);
        one.node.classList.toggle("p-head-off", isOff);
        one.check.checked = !isOff;
        one.pick.setAttribute("aria-pressed", String(shown[0] === l && (shown[1] ?? n) === n));
        one.pick.setAttribute("aria-label", say.tile(l + 1, n + 1, notes[l][n], isOff));
        one.note.textContent = isOff ? say.off : notes[l][n] ?? "";
        const T = maps[l].shape[1];
        one.line.style.cssText = `top:${(100 * row) / T}%;height:${100 / T}%`;
        const lost = costs?.[l][n] ?? null;
        one.cost.hidden = lost === null;
        one.loss.style.width = `${(100 * Math.max(0, lost ?? 0)).toFixed(1)}%`;
        one.cost.title = lost === null ? "" : say.cost(lost);
      }));
      drawn = maps;
    },
  };
}
