/** Three bands over the same words: each network's cells, and the light on its way through them. */
import { give, h, setText } from "../kit/kit.js";
import { reaching, sources } from "./ways.js";

const [DOT, FOOT] = [4.5, 10];
const HEIGHT = { recurrent: 62, convolution: 170, attention: 74 };

/** Points as a path. */
const line = (points) =>
  points.map(([x, y], n) => `${n ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

/** The part of a way that is gone after `position` of its legs, and where the light stands. */
function gone(points, position) {
  const whole = Math.min(points.length - 1, Math.floor(position));
  const walked = points.slice(0, whole + 1);
  const [from, to, share] = [points[whole], points[whole + 1], position - whole];
  if (to && share > 0) walked.push(from.map((x, axis) => x + (to[axis] - x) * share));
  return walked;
}

/** The cells of a network by rows, the wires between them, and the points of its way. */
const NETS = {
  recurrent({ drawn, from, to }, x, height) {
    const [cell, foot] = [FOOT + 4, height - FOOT];
    const cells = [];
    const wires = [];
    for (let n = 0; n < drawn; n++) {
      const lit = n >= from && n <= to;
      cells.push({ at: [x(n), foot], lit }, { at: [x(n), cell], lit });
      wires.push([[x(n), foot], [x(n), cell]]);
      if (n) wires.push([[x(n - 1), cell], [x(n), cell]]);
    }
    const way = [];
    for (let n = from; n <= to; n++) way.push([x(n), cell]);
    return { cells, wires, start: [x(from), foot], way };
  },
  convolution({ drawn, to, layers, kind, places }, x, height) {
    const rise = (height - 2 * FOOT) / layers;
    const y = (layer) => height - FOOT - layer * rise;
    const sets = reaching(to, layers, kind, drawn);
    const cells = [];
    const wires = [];
    for (let layer = 0; layer <= layers; layer++) {
      for (let n = 0; n < drawn; n++) {
        const lit = sets[layer].has(n);
        cells.push({ at: [x(n), y(layer)], lit });
        if (!layer || !lit) continue;
        const below = sources(n, layer - 1, kind, drawn);
        wires.push(...below.map((m) => [[x(m), y(layer - 1)], [x(n), y(layer)]]));
      }
    }
    return { cells, wires, start: null, way: places?.map((n, layer) => [x(n), y(layer)]) ?? [] };
  },
  attention({ drawn, from, to }, x, height) {
    const [top, foot] = [FOOT, height - FOOT];
    const cells = [];
    const wires = [];
    for (let n = 0; n < drawn; n++) {
      cells.push({ at: [x(n), foot], lit: true }, { at: [x(n), top], lit: n === to });
      wires.push([[x(n), foot], [x(to), top]]);
    }
    return { cells, wires, start: null, way: [[x(from), foot], [x(to), top]] };
  },
};

/**
 * @param {Object} view @param {{kinds: string[], names: Record<string, string>}} options
 * @returns what holds the bands, and how to draw them
 */
export function bands(view, { kinds, names }) {
  const made = kinds.map((kind) => {
    const parts = { wires: h("path", { class: "p-wires" }), cells: h("g", { class: "p-cells" }),
      start: h("path", { class: "p-start" }), way: h("path", { class: "p-way" }),
      light: h("circle", { class: "p-light", r: 6 }) };
    const svg = h("svg", { class: "p-band", role: "img" }, ...Object.values(parts));
    const [name, said] = [h("b", {}, names[kind]), h("span", { class: "p-band-said" })];
    const node = h("figure", { class: "p-band-pane", "data-kind": kind },
      h("figcaption", {}, name, " ", said), svg);
    return { kind, svg, said, node, parts };
  });
  const box = h("div", { class: "p-bands" }, ...made.map(({ node }) => node));
  let [width, data] = [0, null];

  function paint() {
    if (!width || !data) return;
    const x = (n) => (n + 0.5) * (width / data.drawn);
    for (const { kind, svg, said, parts } of made) {
      const height = HEIGHT[kind];
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("height", String(height));
      const net = NETS[kind](data, x, height);
      const walked = net.way.length ? gone(net.way, Math.min(data.position, net.way.length - 1)) : [];
      parts.wires.setAttribute("d", net.wires.map(line).join(""));
      parts.cells.replaceChildren(...net.cells.map(({ at, lit }) =>
        h("circle", { class: lit ? "p-cell p-lit" : "p-cell", cx: at[0].toFixed(1), cy: at[1].toFixed(1),
          r: Math.min(DOT, width / data.drawn / 4) })));
      parts.start.setAttribute("d", net.start ? line([net.start, net.way[0]]) : "");
      parts.way.setAttribute("d", walked.length > 1 ? line(walked) : "");
      parts.light.toggleAttribute("hidden", !walked.length);
      const end = walked.at(-1);
      if (end) give(parts.light, { cx: end[0].toFixed(1), cy: end[1].toFixed(1) });
      const text = data.told[kind];
      setText(said, text);
      give(svg, { "aria-label": `${names[kind]}: ${text}` });
    }
  }
  view.onWidth(box, (now) => { width = now; paint(); });
  return { box, draw(next) { data = next; paint(); } };
}
