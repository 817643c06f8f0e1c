/** The columns of a text side by side, and the wires of the word that is followed. */
import { give, h } from "../kit/kit.js";
import { keyed } from "../kit/keyed.js";
import { columnNode, drawColumn, wire } from "./draw_column.js";

/** @typedef {import("./columns.js").Column} Column @typedef {import("./layout.js").Layout} Layout */

const LEAST = 0.04; // the least weight that has a wire at the word that is followed
const FAR = 4000; // px: wires reach far to the left of their column
const [WIDE, HIGH] = [26, 13]; // px: the room of a head's name
const NAMED = 0.3; // the least that names its head

/**
 * @param {{strips: string[], layers: number, heads: number, experts: number, vocabulary: string[],
 *   label: string, press: (t: number) => void, point: (t: number|null) => void}} options
 */
export function picture({ strips, layers, heads, experts, vocabulary, label, press, point }) {
  const behind = h("rect", { class: "w-behind" });
  const band = h("rect", { class: "w-now" });
  const row = h("g", {});
  const wires = h("svg", { class: "w-lit w-wires" });
  const names = h("svg", { class: "w-lit w-wire-names" });
  const svg = h("svg", { class: "w-picture", tabindex: "0", role: "slider", "aria-label": label },
    behind, band, row, wires, names);
  svg.addEventListener("pointermove", (event) => point(under(event)));
  svg.addEventListener("pointerleave", () => point(null));
  const columns = keyed(row, {
    key: ({ column }) => column.t,
    make: () => { const node = columnNode(strips.length, layers, press); made.set(node.box,
      node); return node.box; },
    /** Only what changed is drawn: most columns stay as they were while one is typed. */
    update(box, item) {
      const node = made.get(box);
      const was = node.drawn;
      if (was && was.key === item.key && was.column === item.column && was.before === item.before) return;
      node.drawn = item;
      drawColumn(node, item);
    },
  });
  /** @type {WeakMap<Element, ReturnType<typeof columnNode>>} */
  const made = new WeakMap();
  /** @type {Layout|null} */
  let layout = null;
  let count = 0;
  let drawn = "";

  function under(event) {
    const box = svg.getBoundingClientRect();
    const t = layout ? Math.floor((event.clientX - box.left - layout.left) / layout.each) : -1;
    return t >= 0 && t < count ? t : null;
  }

  /** The wires of a word: one for each head and each word it takes something from. */
  function follow(column, silent, only) {
    const found = [];
    for (const floor of layout.floors.filter(({ name }) => name.endsWith(".attention"))) {
      const layer = Number(floor.name.split(".")[1]);
      const A = column.at(`layer.${layer}.weights`);
      const S = column.t + 1;
      for (let n = 0; n < heads; n++) for (let s = 0; s < S; s++) {
        const weight = A[n * S + s];
        const other = only && (only[0] !== layer || only[1] !== n);
        if (weight < LEAST || silent(layer, n) || (other && only[0] === layer)) continue;
        found.push({ floor, layer, n, s, weight });
      }
    }
    wires.replaceChildren(...found.map(({ floor, layer, n, s, weight }) => h("path", {
      d: wire(layout.x(s) - layout.x(column.t), floor), "stroke-width": (0.6 + 4.2 * weight).toFixed(2),
      "stroke-opacity": (0.25 + 0.75 * weight).toFixed(2), "data-head": `${layer}.${n + 1}`, "data-word": s,
      transform: `translate(${layout.x(column.t).toFixed(1)} 0)` })));
    const strong = found.filter(({ weight }) => weight >= NAMED);
    /** @type {[number, number][]} */
    const placed = [];
    names.replaceChildren(...strong.map(({ floor, layer, n, s }) => {
      let y = floor.y + floor.h - 4; // no name over another: it goes up where there is one
      while (placed.some(([x, at]) => Math.abs(x - layout.x(s)) < WIDE && Math.abs(at - y) < HIGH)) y -= HIGH;
      placed.push([layout.x(s), y]);
      return h("text", { "text-anchor": "middle", x: layout.x(s).toFixed(1), y: y.toFixed(1) },
        `${layer}.${n + 1}`);
    }));
  }
  return {
    svg,
    /** What a reader of the screen hears of the word that is followed. @param {number} t @param {number} T
     *  @param {string} told */
    tell(t, T, told) {
      give(svg, { "aria-valuemin": 1, "aria-valuemax": T, "aria-valuenow": t + 1, "aria-valuetext": told });
    },
    /** @param {{columns: Column[], before: Column[]|null, layout: Layout, followed: number,
     *   silent: (layer: number, head: number) => boolean, off: string, only: [number, number]|null}} what */
    draw({ columns: list, before, layout: next, followed, silent, off, only }) {
      [layout, count] = [next, list.length];
      give(svg, { width: layout.width, height: layout.height,
        viewBox: `0 0 ${layout.width} ${layout.height}` });
      const places = [layout.width, layout.height, layout.each, layout.floors.map(({ name }) => name),
        off].join();
      columns.draw(list.map((column) => ({ column, before: before?.[column.t] ?? null, layout,
        followed: column.t === followed, vocabulary, silent, heads, experts,
        key: `${places}|${column.t === followed}` })));
      const own = list[followed];
      give(behind, { x: layout.x(followed) - layout.each / 2, y: 0, width: layout.each,
        height: layout.height });
      const key = [places, followed, only, list.slice(0, followed + 1).map(({ id: word }) => word)].join();
      if (key !== drawn) follow(own, silent, only);
      drawn = key;
    },
    /** Show what has risen: all of the first `old` columns, and of the others what stands below the front.
     *  `lit` is the band at work. @param {number} y @param {number} old @param {{y: number, h: number}|null}
     *  lit */
    rise(y, old, lit) {
      const shows = (node, all) => give(node, all || !layout ? { viewBox: null, x: null, y: null, width: null,
        height: null } : { x: -FAR, y, width: 3 * FAR, height: layout.height - y,
          viewBox: `${-FAR} ${y} ${3 * FAR} `
          + `${layout.height - y}` });
      const done = y <= 0;
      [...row.children].forEach((box, t) => shows(made.get(box).lit, done || t < old));
      for (const group of [wires, names]) shows(group, done);
      give(band, { display: lit ? null : "none" });
      if (lit && layout) give(band, { x: layout.left - 4, width: layout.x(count - 1) + layout.each / 2 + 4
        - layout.left, y: lit.y, height: lit.h });
    },
  };
}
