/** One word's column: its stream as a pipe, what the heads fetch, the units that light up, the lens. */
import { give, h, setText } from "../kit/kit.js";
import { pipe } from "./layout.js";

/** @typedef {import("./columns.js").Column} Column @typedef {import("./layout.js").Layout} Layout */

const FAINT = 0.22; // the least weight that has a wire where no word is followed
const SMALL = 34; // px a column, below which only what shines is drawn
const BRIGHT = 0.25; // of the widest open unit of the column: the least that shines

/** The largest size at which a word of a plain face has room. @param {string} word @param {number} room */
function fitted(word, room, size) {
  const needs = word.length * size * 0.56;
  return needs <= room ? size : Math.max(8, (size * room) / needs);
}

/** A word in the picture, no wider than its room. @param {SVGTextElement} node @param {string} word */
function write(node, word, { x = 0, y, room, size, name }) {
  const font = fitted(word, room, size);
  const most = Math.max(2, Math.floor(room / (font * 0.5)));
  const shown = word.length > most ? `${word.slice(0, most - 1)}…` : word;
  setText(node, shown);
  give(node, { x, y, "font-size": font, class: name });
}

/** The pipe from the words to the next word: as wide as the stream is strong, wider where a part has added to
 *  it. Where the strips hold words it is open there. @param {number[]} sizes @param {Layout} layout
 *  @param {number[]|null} other sizes: only the stretches that differ from them */
function pipePath(sizes, layout, other = null) {
  const half = (n) => pipe(sizes[n], layout);
  const { ground, floors, told, norm, guess } = layout;
  const gap = (strip) => (told ? strip.h - 3 : 0);
  const end = norm ? norm.y + 4 : guess.y + guess.h;
  /** @type {[number, number][][]} each a stretch of [half width, y], from below */
  const stretches = [[[half(ground.index), layout.words.y], [half(ground.index), ground.y + gap(ground)]]];
  let foot = ground.y;
  floors.forEach(({ y, h: high, strip, index }, n) => {
    const last = n === floors.length - 1;
    stretches.push([[half(index - 1), foot], [half(index - 1), y + high * 0.3], [half(index), y],
      [half(index), last ? end : strip.y + (told ? gap(strip) + 2 : 0)]]);
    foot = strip.y;
  });
  const path = (side, list) => list.map(([w, y]) => `${(side * w).toFixed(1)} ${y.toFixed(1)}`).join("L");
  const at = [ground.index, ...floors.map(({ index }) => index)];
  const differs = (n) => !other || [at[Math.max(0, n - 1)], at[n]].some((i) =>
    Math.abs(sizes[i] - other[i]) > 0.05 * other[i]);
  return stretches.filter((_, n) => differs(n)).map((one) =>
    `M${path(1, one)}L${path(-1, [...one].reverse())}Z`).join("");
}

/** A wire from the foot of a column `dx` away to the top of the band of this one. */
export function wire(dx, { y, h: high }) {
  const [top, foot] = [y + 1, y + high - 1];
  if (dx === 0) return `M-2 ${foot}C-11 ${foot - high * 0.3} -11 ${top + high * 0.3} -2 ${top}`;
  const middle = (top + foot) / 2;
  return `M${dx.toFixed(1)} ${foot}C${dx.toFixed(1)} ${middle} 0 ${middle} 0 ${top}`;
}

/** The faint wires of a column that is not followed: the most that one of its heads takes from each word. */
function faintWires(column, layer, silent, layout, floor, heads) {
  const A = column.at(`layer.${layer}.weights`);
  const S = column.t + 1;
  let d = "";
  for (let s = 0; s < column.t; s++) {
    let most = 0;
    for (let n = 0; n < heads; n++) if (!silent(layer, n)) most = Math.max(most, A[n * S + s]);
    if (most >= FAINT) d += wire(layout.x(s) - layout.x(column.t), floor);
  }
  return d;
}

/** Which units are open: the gate lets something through. @param {Column} column @param {number} layer */
export function openUnits(column, layer) {
  const units = column.at(`layer.${layer}.units`);
  const gates = column.values.has(`layer.${layer}.gate`) ? column.at(`layer.${layer}.gate`) : units;
  return [...units.keys()].filter((n) => gates[n] > 0.5);
}

/** @type {WeakMap<Column, Map<string, string[]>>} */
const lit = new WeakMap();

/** The open units as lights, each at its own place: [those that shine, the others]. What was lit at this
 *  place
 *  is kept: a new word moves columns, and leaves their lights. */
function lights(column, layer, floor, each) {
  const kept = lit.get(column) ?? lit.set(column, new Map()).get(column);
  const room = Math.min(each - 3, floor.h - 4);
  const key = `${layer}|${room}|${floor.y}|${each >= SMALL}`;
  return kept.get(key) ?? kept.set(key, drawnLights(column, layer, floor, room, each >= SMALL)).get(key);
}

function drawnLights(column, layer, { y, h: high }, room, all) {
  const units = column.at(`layer.${layer}.units`);
  const across = Math.ceil(Math.sqrt(units.length));
  const pitch = room / across;
  const most = units.reduce((top, one) => Math.max(top, Math.abs(one)), 1e-9);
  const dots = ["", ""];
  for (const n of openUnits(column, layer)) {
    const x = ((n % across) - (across - 1) / 2) * pitch;
    const at = y + high / 2 + (Math.floor(n / across) - (across - 1) / 2) * pitch;
    const shines = Math.abs(units[n]) >= BRIGHT * most;
    if (shines || all) dots[shines ? 0 : 1] += `M${x.toFixed(1)} ${at.toFixed(1)}h0`;
  }
  return dots;
}

/** The experts of a column, one disc each: as large as its share. */
function discs(column, layer, { y, h: high }, each, count) {
  const [experts, shares] = ["experts", "shares"].map((name) => column.at(`layer.${layer}.${name}`));
  const gap = Math.min((each - 9) / count, high / 2.4, 13);
  const disc = (x, at, r) =>
    `M${(x - r).toFixed(1)} ${at.toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 `
    + `${-2 * r} 0`;
  const paths = ["", ""];
  for (let e = 0; e < count; e++) {
    const slot = experts.indexOf(e);
    const share = slot < 0 ? 0 : shares[slot];
    const r = Math.round(10 * gap * (share ? 0.2 + 0.28 * share : 0.12)) / 10;
    paths[share ? 0 : 1] += disc((e - (count - 1) / 2) * gap, y + high / 2, r);
  }
  return paths;
}

/** @param {number} strips @param {number} layers @param {(t: number) => void} press */
export function columnNode(strips, layers, press) {
  const text = () => h("text", { "text-anchor": "middle" });
  const path = (name) => h("path", { class: name });
  const nodes = {
    hit: h("rect", { class: "w-hit" }), ghost: path("w-pipe-ghost"), pipe: path("w-pipe"),
    wires: Array.from({ length: layers }, () => path("w-faint-wires")),
    bright: Array.from({ length: layers }, () => path("w-bright")),
    dim: Array.from({ length: layers }, () => path("w-dim")),
    lens: Array.from({ length: strips }, () => h("text", { "text-anchor": "middle", class: "w-lens" })),
      word: text(), bar: h("rect", { class: "w-bar" }),
    was: h("rect", { class: "w-was" }), guess: text(),
  };
  const lit = h("svg", { class: "w-lit" }, nodes.ghost, nodes.pipe, ...nodes.wires, ...nodes.dim,
    ...nodes.bright,
    ...nodes.lens, nodes.bar, nodes.was, nodes.guess);
  const box = h("g", { class: "w-column" }, nodes.hit, lit, nodes.word);
  let at = 0;
  const drawn = /** @type {any} */ (null);
  box.addEventListener("click", () => press(at));
  return { box, lit, drawn, ...nodes, take(t) { at = t; } };
}

/**
 * @param {ReturnType<typeof columnNode>} node
 * @param {{column: Column, before: Column|null, layout: Layout, followed: boolean, vocabulary: string[],
 *   silent: (layer: number, head: number) => boolean, heads: number, experts: number}} what `before`: with
 *   all parts on, where some are off
 */
export function drawColumn(node, { column, before, layout, followed, vocabulary, silent, heads, experts }) {
  const { each, guess, words, floors, ground, told, turned } = layout;
  node.take(column.t);
  give(node.box, { transform: `translate(${layout.x(column.t).toFixed(1)} 0)`, "data-t": column.t,
    class: followed ? "w-column w-followed" : "w-column" });
  give(node.hit, { x: -each / 2, y: 0, width: each, height: layout.height });
  give(node.pipe, { d: pipePath(column.sizes, layout) });
  give(node.ghost, { d: before ? pipePath(before.sizes, layout, column.sizes) : "" });
  const shown = new Set([ground.index, ...floors.map(({ index }) => index)]);
  node.lens.forEach((text, n) => {
    const span = n === ground.index ? ground : floors.find(({ index }) => index === n)?.strip;
    const seen = told && shown.has(n) && n < column.lens.length - (layout.norm ? 1 : 0);
    give(text, { display: seen ? null : "none" });
    if (!seen || !span) return;
    const { id } = column.lens[n];
    write(text, vocabulary[id], { y: span.y + span.h * 0.72, room: each - 3, size: followed ? 12.5 : 11.5,
      name: id === column.guess.id ? "w-lens w-same" : "w-lens" });
  });
  node.wires.forEach((path, l) => {
    const floor = floors.find(({ name }) => name === `layer.${l + 1}.attention`);
    give(path, { d: floor && !followed ? faintWires(column, l + 1, silent, layout, floor, heads) : "" });
    const feed = floors.find(({ name }) => name === `layer.${l + 1}.feed_forward`);
    const [bright, dim] = !feed ? ["", ""] : experts ? discs(column, l + 1, feed, each, experts)
      : lights(column, l + 1, feed, each);
    give(node.bright[l], { d: bright });
    give(node.dim[l], { d: dim });
  });
  const foot = guess.y + guess.h - (turned ? 4 : 17);
  const tall = foot - guess.y - 4;
  const wide = Math.max(3, each * 0.46);
  give(node.bar, { x: -wide / 2, y: foot - tall * column.guess.p, width: wide, height: tall
    * column.guess.p });
  const apart = before && Math.abs(before.guess.p - column.guess.p)
    + Number(before.guess.id !== column.guess.id) > 0.01;
  give(node.was, { display: apart ? null : "none" });
  if (apart) give(node.was, { x: -wide / 2, y: foot - tall * before.guess.p, width: wide,
    height: tall * before.guess.p });
  const changed = before && before.guess.id !== column.guess.id;
  give(node.guess, { display: turned ? "none" : null });
  write(node.guess, vocabulary[column.guess.id], { y: foot + 13, room: each - 3, size: followed ? 13 : 12,
    name: changed ? "w-guess w-changed" : "w-guess" });
  write(node.word, vocabulary[column.id], turned ? { x: 0, y: 0, room: words.h - 4,
    size: Math.min(12.5, each),
    name: "w-word" } : { y: words.y + 17, room: each - 3, size: 13.5, name: "w-word" });
  give(node.word, { transform: turned ? `translate(-4 ${words.y + 4}) rotate(90)` : null,
    "text-anchor": turned ? "start" : "middle" });
}
