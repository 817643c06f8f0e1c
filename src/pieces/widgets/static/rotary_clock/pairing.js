/**
 * Which coordinates of a head turn together: boxes in a row, an arc between partners, the clock of
 * each below.
 */
import { h } from "../kit/kit.js";

const HEIGHT = 118;

/** @param {Object} view @param {{caption: string, clock: string}} options */
export function pairing(view, { caption, clock }) {
  const arcs = h("g", {});
  const boxes = h("g", {});
  const svg = h("svg", { class: "p-pairing", height: HEIGHT, role: "img", "aria-label": caption }, arcs,
    boxes);
  const pane = h("figure", { class: "p-pane p-pane-pairing" }, h("figcaption", {}, caption), svg);
  let [data, width] = [null, 0];
  function paint() {
    if (!data || !width) return;
    const { partner, pair, chosen } = data;
    const room = (width - 34) / partner.length;
    const middle = (c) => 34 + (c + 0.5) * room;
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const on = (c) => pair[c] === chosen || pair[partner[c]] === chosen;
    arcs.replaceChildren(...partner.flatMap((p, c) => (p < c ? [] : [h("path", {
      class: on(c) ? "p-pair p-pair-on" : "p-pair", "data-first": c, "data-second": p,
      d: `M${middle(c)} 66C${middle(c)} ${66 - 10 - 7 * Math.min(8, p - c)} ${middle(p)} `
        + `${66 - 10 - 7 * Math.min(8, p - c)} ${middle(p)} 66` })])));
    boxes.replaceChildren(...pair.map((n, c) =>
      h("g", { class: n === chosen ? "p-coordinate p-pair-on" : "p-coordinate", "data-at": c },
      h("rect", { x: middle(c) - room / 2 + 1, y: 68, width: room - 2, height: 22, rx: 3 }),
      h("text", { x: middle(c), y: 83, "text-anchor": "middle" }, String(c)),
      h("text", { class: "p-pair-clock", x: middle(c), y: 109, "text-anchor": "middle" }, String(n)))),
    h("text", { class: "p-pair-name", x: 0, y: 109 }, clock));
  }
  view.onWidth(svg, (now) => { width = now; paint(); });
  return {
    pane,
    /** @param {{partner: number[], pair: number[], chosen: number}} next */
    draw(next) { data = next; paint(); },
  };
}
