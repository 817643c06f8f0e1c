/**
 * A tensor as blocks, one a number, that move when it takes another shape. Each block keeps its
 * place in memory.
 */
import { format, give, h, put } from "./dom.js";
import { afterRest } from "./pulse.js";
import { forEach } from "../twin/tensor.js";
import { words } from "./words.js";

/** @typedef {{tensor: import("../twin/tensor.js").Tensor, name: string, axes?: string[]}} State */

export const PALETTE = ["query", "key", "value", "score", "weight", "output", "residual"];
const STAGGER = 0.35; // of the way: groups set out one after the other
const REST = 400; // milliseconds without a new shape

/**
 * Where the blocks of a shape stand, in blocks: the last two axes are a grid, the third from the end sets
 * grids
 * side by side, the fourth one below the other, and so on in turn.
 * @param {number[]} shape
 */
function arrangement(shape) {
  const [rows, columns] = [shape.at(-2) ?? 1, shape.at(-1) ?? 1];
  const outer = shape.slice(0, -2);
  const steps = [];
  let [width, height] = [columns, rows];
  for (let axis = outer.length - 1, across = true; axis >= 0; axis--, across = !across) {
    const gap = 1 + Math.floor((outer.length - 1 - axis) / 2);
    const step = (across ? width : height) + gap;
    steps[axis] = across ? [step, 0] : [0, step];
    if (across) width = outer[axis] * step - gap; else height = outer[axis] * step - gap;
  }
  const place = (index) => {
    const inner = index.slice(-2);
    let [x, y] = inner.length === 2 ? [inner[1], inner[0]] : [inner[0] ?? 0, 0];
    steps.forEach(([dx, dy], axis) => { x += index[axis] * dx; y += index[axis] * dy; });
    return [x, y];
  };
  return { width, height, rows, columns, place };
}

/**
 * `draw(states, position)`, then `show(position)`: 0 is the first state, 0.5 half way to the second.
 * @param {Object} frame
 * @param {{caption: string, colour?: {state: number, axis: number}, label?: (place: number, value: number)
 *   => string,
 *   strides?: boolean}} options
 *   `strides`: whether they are told; `colour`: blocks with the same index on this axis of this state have
 * one colour
 */
export function blocks(frame, { caption, colour, label = (place) => String(place), strides = true }) {
  const text = words.blocks;
  const outlines = h("g", { class: "p-block-frames" });
  const body = h("g", {});
  const svg = h("svg", { class: "p-blocks", role: "img", "aria-label": caption }, outlines, body);
  const said = h("p", { class: "p-block-shape" });
  const pane = h("figure", { class: "p-pane p-pane-blocks" }, h("figcaption", {}, caption), svg, said);
  /** @type {State[]} */
  let states = [];
  let layouts = [];
  /** @type {{node: SVGGElement, places: number[][], group: number}[]} */
  let marks = [];
  let groups = 1;
  let [width, height] = [0, 0];
  const resting = afterRest(settle, REST);
  let position = 0;
  let told = -1;

  function lay() {
    layouts = states.map(({ tensor }) => arrangement(tensor.shape));
    /** @type {Map<number, {places: number[][], group: number, value: number}>} */
    const found = new Map();
    states.forEach(({ tensor, name }, s) => {
      let n = 0;
      forEach(tensor, (value, index, at) => {
        if (s && !found.has(at)) throw new RangeError(
          `${name}: shows a number that the first state has not.`);
        if (!s) found.set(at, { places: [], group: 0, value });
        const block = found.get(at);
        block.places[s] = layouts[s].place(index);
        if (colour?.state === s) block.group = index[colour.axis];
        n++;
      });
      if (n !== found.size) throw new RangeError(
        `${name}: shows ${n} numbers, the first state ${found.size}.`);
    });
    groups = colour ? states[colour.state].tensor.shape[colour.axis] : 1;
    while (marks.length > found.size) marks.pop().node.remove();
    [...found].forEach(([at, block], n) => {
      marks[n] = { ...block, node: marks[n]?.node ?? body.appendChild(h("g", { class: "p-block" },
        h("rect", { rx: 0.14, x: 0.04, y: 0.04, width: 0.92, height: 0.92 }),
        h("text", { x: 0.5, y: 0.52 }))) };
      dress(marks[n], at, block.value);
    });
    told = -1;
  }
  /** A block keeps its node from shape to shape: what stays as it was is not laid out again. */
  function dress({ node, group }, at, value) {
    give(node, { "data-role": PALETTE[group % PALETTE.length], "data-place": at, "data-group": group,
      "data-lap": Math.floor(group / PALETTE.length) % 2 });
    put(node.lastChild, label(at, value));
    node.classList.remove("p-ringed");
  }
  /** While shapes follow each other the picture only grows, so that what stands below it stays; what is left
   *  over goes when they have come to rest. */
  function fit() {
    resting.cancel();
    if (!states.length || !width) return;
    const across = layouts.reduce((most, l) => Math.max(most, l.width), 1);
    const down = layouts.reduce((most, l) => Math.max(most, l.height), 1);
    const side = Math.min(34, (width - 2) / (across + 0.3)); // a frame is a little wider than its grid
    const own = Math.ceil(side * (down + 0.2));
    height = Math.max(height, own);
    if (height > own) resting.ask();
    give(svg, { viewBox: `${-(width / side - across) / 2} -0.1 ${width / side} ${height / side}`, height });
    svg.classList.toggle("p-small", side < 17);
  }
  function settle() {
    height = 0;
    fit();
  }
  /** Frames around the grids of a state: where its outer axes are cut. */
  function frames(s) {
    const { shape } = states[s].tensor;
    const outer = shape.slice(0, -2);
    const { rows, columns, place } = layouts[s];
    const corners = outer.reduce((all, n) =>
      all.flatMap((index) => Array.from({ length: n }, (_, i) => [...index, i])), [[]]);
    outlines.replaceChildren(...corners.map((index) => {
      const [x, y] = place([...index, 0, 0].slice(-shape.length));
      return h("rect", { x: x - 0.12, y: y - 0.06, width: columns + 0.24, height: rows + 0.12, rx: 0.2 });
    }));
  }
  function show(at) {
    if (!states.length) return;
    position = Math.min(states.length - 1, Math.max(0, at));
    const [from, next] = [Math.floor(position), Math.ceil(position)];
    const t = position - from;
    const centre = (s) => (layouts.reduce((most, l) => Math.max(most, l.width), 1) - layouts[s].width) / 2;
    for (const { node, places, group } of marks) {
      const late = groups > 1 ? (STAGGER * group) / (groups - 1) : 0;
      const share = Math.min(1,
        Math.max(0, (t - late * Math.min(1, t * 4)) / (1 - STAGGER * (groups > 1 ? 1 : 0)) || 0));
      const [a, b] = [places[from], places[next]];
      const x = a[0] + centre(from) + (b[0] + centre(next) - a[0] - centre(from)) * share;
      const y = a[1] + (b[1] - a[1]) * share;
      give(node, { transform: `translate(${+x.toFixed(3)} ${+y.toFixed(3)})` });
    }
    outlines.toggleAttribute("hidden", t > 0);
    if (t > 0 || told === from) return;
    told = from;
    frames(from);
    outlines.setAttribute("transform", `translate(${centre(from)} 0)`);
    const { name, tensor, axes = [] } = states[from];
    const named = tensor.shape.map((n, axis) => (axes[axis] ? `${axes[axis]} ${n}` : String(n)));
    said.textContent = text.shape(name, named, strides ? tensor.strides : null);
    svg.setAttribute("aria-label", `${caption}. ${said.textContent}`);
  }
  frame.onWidth(svg, (now) => { width = now; settle(); show(position); });
  frame.onDispose(resting.cancel);
  frame.table(caption, () => {
    if (!states.length || pane.hidden) return null; // a table tells what is to be seen
    const { tensor } = states[Math.round(position)];
    const last = tensor.shape.at(-1) ?? 1;
    const rows = [];
    forEach(tensor, (value, index, at) => {
      if ((index.at(-1) ?? 0) === 0) rows.push([`[${index.slice(0, -1).join(", ")}]`]);
      rows.at(-1).push(text.cell(label(at, value), format(value)));
    });
    return { head: [text.index, ...Array.from({ length: last }, (_, j) => String(j))], rows };
  });
  return {
    pane, show,
    /** Ring the blocks whose place in memory says so. @param {(place: number) => boolean} test */
    ring(test) {
      for (const { node } of marks) node.classList.toggle("p-ringed", test(Number(node.dataset.place)));
    },
    /** @param {State[]} next views of one tensor: all show the same numbers of its memory
     *  @param {number} [at] where the picture stands then; as a rule, where it stood */
    draw(next, at = position) {
      states = next;
      lay();
      fit();
      show(at);
    },
  };
}
