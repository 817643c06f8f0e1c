/**
 * A tensor as blocks, one a number, that move when it takes another shape. Each block keeps its
 * place in memory. They are drawn on a canvas: two hundred nodes that move are slow.
 */
import { css, format, h, mix, readColours } from "./dom.js";
import { write } from "./measure.js";
import { afterRest } from "./pulse.js";
import { forEach } from "../twin/tensor.js";
import { words } from "./words.js";

/** @typedef {{tensor: import("../twin/tensor.js").Tensor, name: string, axes?: string[]}} State */

export const PALETTE = ["query", "key", "value", "score", "weight", "output", "residual"];
const STAGGER = 0.35; // of the way: groups set out one after the other
const REST = 400; // milliseconds without a new shape
const [AIR, TOP] = [0.04, 0.1]; // of a block: around each, and above the first
const SMALL = 17; // px a block; in a smaller one nothing is written

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
  const canvas = h("canvas", { class: "p-blocks", role: "img", "aria-label": caption, width: 0, height: 0 });
  const said = h("p", { class: "p-block-shape" });
  const pane = h("figure", { class: "p-pane p-pane-blocks" }, h("figcaption", {}, caption), canvas, said);
  const brush = canvas.getContext("2d");
  /** @type {State[]} */
  let states = [];
  let layouts = [];
  /** @type {{places: number[][], group: number, at: number, label: string}[]} `at`: place in memory */
  let marks = [];
  let groups = 1;
  let [width, height, side] = [0, 0, 0]; // px: of the picture, and of a block
  /** @type {{family: string, blocks: string[], paper: string, faint: string, leak: string}|null} */
  let look = null;
  /** @type {(place: number) => boolean} */
  let ringed = () => false;
  /** @type {string|null} the one role of all */
  let mixed = null;
  const resting = afterRest(settle, REST);
  let position = 0;
  let told = -1;

  function lay() {
    layouts = states.map(({ tensor }) => arrangement(tensor.shape));
    /** @type {Map<number, {places: number[][], group: number, at: number, label: string}>} */
    const found = new Map();
    states.forEach(({ tensor, name }, s) => {
      let n = 0;
      forEach(tensor, (value, index, at) => {
        if (s && !found.has(at)) throw new RangeError(
          `${name}: shows a number that the first state has not.`);
        if (!s) found.set(at, { places: [], group: 0, at, label: label(at, value) });
        const block = found.get(at);
        block.places[s] = layouts[s].place(index);
        if (colour?.state === s) block.group = index[colour.axis];
        n++;
      });
      if (n !== found.size) throw new RangeError(
        `${name}: shows ${n} numbers, the first state ${found.size}.`);
    });
    groups = colour ? states[colour.state].tensor.shape[colour.axis] : 1;
    marks = [...found.values()];
    told = -1;
  }
  /** While shapes follow each other the picture only grows, so that what stands below it stays; what is left
   *  over goes when they have come to rest. */
  function fit() {
    resting.cancel();
    if (!states.length || !width) return;
    const across = layouts.reduce((most, l) => Math.max(most, l.width), 1);
    const down = layouts.reduce((most, l) => Math.max(most, l.height), 1);
    side = Math.min(34, (width - 2) / (across + 0.3)); // a frame is a little wider than its grid
    const own = Math.ceil(side * (down + 0.2));
    height = Math.max(height, own);
    if (height > own) resting.ask();
  }
  function settle() {
    height = 0;
    fit();
    paint();
  }
  /** Of the groups in turn: the colours of the palette, then darker ones. */
  function looks() {
    const roles = readColours(pane, [...PALETTE, "ink", "paper", "faint", "leak"]);
    const tints = PALETTE.map((name) => roles[name]);
    const [paper, faint, leak] = ["paper", "faint", "leak"].map((name) => css(roles[name]));
    return { paper, faint, leak, family: getComputedStyle(pane).fontFamily,
      blocks: [...tints, ...tints.map((one) => mix(one, roles.ink, 0.45))].map(css) };
  }
  function paint() {
    if (!states.length || !width) return;
    look ??= looks();
    const ratio = window.devicePixelRatio || 1;
    const [w, t] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== t) {
      [canvas.width, canvas.height] = [w, t];
      canvas.style.height = `${height}px`;
    }
    frame.paint(fillBlocks);
  }
  function fillBlocks() {
    const ratio = window.devicePixelRatio || 1;
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, width, height);
    const [from, next] = [Math.floor(position), Math.ceil(position)];
    const way = position - from;
    const [start, end] = [from, next].map((s) => width / 2 / side - layouts[s].width / 2);
    if (!way) frames(from, start);
    if (side >= SMALL) write(brush, `600 ${(0.42 * side).toFixed(2)}px ${look.family}`);
    for (const mark of marks) {
      const late = groups > 1 ? (STAGGER * mark.group) / (groups - 1) : 0;
      const share = Math.min(1,
        Math.max(0, (way - late * Math.min(1, way * 4)) / (1 - STAGGER * (groups > 1 ? 1 : 0)) || 0));
      const [a, b] = [mark.places[from], mark.places[next]];
      block(mark, (a[0] + start + (b[0] + end - a[0] - start) * share) * side,
        (a[1] + (b[1] - a[1]) * share + TOP) * side);
    }
  }
  /** One block with its label, and its ring. */
  function block({ group, at, label: name }, x, y) {
    box(x + AIR * side, y + AIR * side, (1 - 2 * AIR) * side, (1 - 2 * AIR) * side, 0.14);
    brush.fillStyle = look.blocks[mixed ? PALETTE.indexOf(mixed) : group % look.blocks.length];
    brush.fill();
    if (ringed(at)) {
      [brush.strokeStyle, brush.lineWidth] = [look.leak, 0.14 * side];
      brush.stroke();
    }
    if (side < SMALL) return;
    brush.fillStyle = look.paper;
    brush.fillText(name, x + side / 2, y + 0.53 * side);
  }
  function box(x, y, w, t, round) {
    brush.beginPath();
    brush.roundRect(x, y, w, t, round * side);
  }
  /** Frames around the grids of a state: where its outer axes are cut. */
  function frames(s, start) {
    const { shape } = states[s].tensor;
    const outer = shape.slice(0, -2);
    const { rows, columns, place } = layouts[s];
    const corners = outer.reduce((all, n) =>
      all.flatMap((index) => Array.from({ length: n }, (_, i) => [...index, i])), [[]]);
    [brush.strokeStyle, brush.lineWidth] = [look.faint, 0.05 * side];
    for (const index of corners) {
      const [x, y] = place([...index, 0, 0].slice(-shape.length));
      box((x + start - 0.12) * side, (y + TOP - 0.06) * side, (columns + 0.24) * side,
        (rows + 0.12) * side, 0.2);
      brush.stroke();
    }
  }
  function show(at) {
    if (!states.length) return;
    position = Math.min(states.length - 1, Math.max(0, at));
    paint();
    const from = Math.floor(position);
    if (position > from || told === from) return;
    told = from;
    const { name, tensor, axes = [] } = states[from];
    const named = tensor.shape.map((n, axis) => (axes[axis] ? `${axes[axis]} ${n}` : String(n)));
    said.textContent = text.shape(name, named, strides ? tensor.strides : null);
    canvas.setAttribute("aria-label", `${caption}. ${said.textContent}`);
  }
  frame.onWidth(canvas, (now) => { [width, height] = [now, 0]; fit(); show(position); });
  frame.onTheme(() => { look = null; paint(); });
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
    /** Which blocks have a ring when it is drawn next. @param {(place: number) => boolean} test of the place
     *  in memory */
    ring(test) { ringed = test; },
    /** One colour for all when it is drawn next. @param {string|null} role */
    tint(role) { mixed = role; },
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
