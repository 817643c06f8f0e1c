/** Who may see whom: words and arcs over a mask, the weights under it, and how far a word travels. */
import { arcs } from "../kit/arcs.js";
import { frame, guard, h, heatmap, legend, limits, live, report, select, setText, setter,
  slider } from "../kit/kit.js";
import {
  cells, hiddenBy, inForce, KINDS, later, lines, NEEDS, paddingOf, read as readTraits, SIDES, unflipped, upTo,
  VIEWS,
} from "./mask_kinds.js";
import { sentence, WORDS } from "./mask_words.js";
import { player } from "../kit/player.js";
import { createSelection } from "../kit/selection.js";
import { tabs } from "../kit/tabs.js";
import { gaussian, maskedSoftmax, masks, matrix } from "../twin/twin.js";

const LARGEST = 34; // px of a cell
const THICKET = 12; // words; with more, only the arcs of the chosen one are drawn
const read = (model) => readTraits(model, WORDS.pad);

const [LETTER, FRAME] = [6.5, 4]; // px of a word over its column: one letter at the smallest, its frame
const ones = (mask) => mask.map((row) => row.map(Number));

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "mask-explorer" });
  const selection = createSelection();
  const put = setter(model);
  // Flips belong to the mask they were made on: in another one they would open and close other cells.
  const before = () => { if (read(model).flips.length) model.set("flips", []); };
  const kinds = KINDS.map((kind) => [kind, WORDS.kinds[kind]]);
  const others = [["none", WORDS.none], ...kinds.filter(([kind]) => kind !== "full")];
  select(view, model, "kind", { label: WORDS.kind, options: kinds, before });
  select(view, model, "also", { label: WORDS.also, options: others, before });
  slider(view, model, "T", { label: WORDS.tokens });
  const own = Object.fromEntries(Object.entries(WORDS.sliders).map(([trait, label]) => [trait,
    slider(view, model, trait, { label, max: () => upTo(trait, read(model).T) })]));
  const sides = SIDES.map((one) => [one, WORDS.sides[one]]);
  own.side = select(view, model, "side", { label: WORDS.side, options: sides, before });

  const flip = (i, j) => {
    const { flips } = read(model);
    const rest = flips.filter(([a, b]) => a !== i || b !== j);
    put({ flips: rest.length < flips.length ? rest : [...flips, [i, j]] });
  };
  const story = arcs(view, {
    caption: WORDS.story, selection, axis: "row", target: "column", least: 1e-9, tabled: false,
  });
  const grid = heatmap(view, {
    caption: WORDS.mask, role: "query", press: flip, selection, tellInCaption: true,
    arranged: stands(() => grid),
    speak: (i, j) => WORDS.sees(name(i), name(j), now.mask[i][j]),
  });
  const weights = heatmap(view, {
    caption: WORDS.weights, role: "weight", selection, arranged: stands(() => weights),
  });
  const stack = heatmap(view, {
    caption: WORDS.stack, role: "output", rowAxis: WORDS.layer, columnAxis: WORDS.place,
    selection, selects: { row: "layer", column: "token" }, arranged: stands(() => stack),
    press: (_, i) => put({ source: i + 1 }), presses: WORDS.follow,
    speak: (n, i) => (n > now.layers ? WORDS.notYet(n)
      : WORDS.knows(name(i), n, name(source()), now.known[n][i])),
  });
  const reach = heatmap(view, {
    caption: WORDS.reach, role: "output", rowAxis: WORDS.outputs, columnAxis: WORDS.inputs, selection,
    arranged: stands(() => reach), speak: (i, j) => WORDS.reaches(name(i), name(j), now.reach[i][j]),
  });
  const film = player(view, {
    label: WORDS.layers, states: 9, tween: 700, dwell: 350, into: h("div"), name: String,
    show: () => { if (!view.drawing) view.redraw(); },
    rest: (n) => { if (now && n !== now.layers) put({ layers: n }); },
  });
  film.box.classList.add("p-layers");
  film.box.prepend(h("span", {}, WORDS.layers));
  const undo = () => put({ flips: [] });
  const clear = h("button", { type: "button", class: "p-button", onclick: undo }, WORDS.undo);
  const look = h("p", { class: "p-look" });
  const flow = h("p", { class: "p-flow" });
  const code = h("code", {});
  const panel = (on, ...nodes) => h("div", { class: "p-view", "data-on": on }, ...nodes);
  const views = VIEWS.map((one) => [one, WORDS.views[one]]);
  const which = tabs(view, model, "view", { label: WORDS.view, options: views });
  view.panes.append(story.pane, which.box, panel("mask", grid.pane), h("div", { class: "p-beside" },
    panel("weights", weights.pane), panel("layers", stack.pane, flow), panel("reach", reach.pane), film.box));
  view.sentence.before(look, legend(...Object.entries(WORDS.legend)),
    h("div", { class: "p-code" }, h("pre", { tabindex: "0" }, code), clear));

  const most = limits(model, "T").high;
  const draws = gaussian(168, most * most);
  let now = null;
  const name = (i) => now.tokens[i] ?? String(i + 1);
  /** The word that is followed through the layers: chosen, leaked, or the first. To point at a cell reads
   *  it, and follows nobody else. */
  const source = () => {
    const chosen = now.source ? now.source - 1 : cells(now.leaks)[0]?.[1] ?? 0;
    return Math.min(now.T - 1, selection.picked.token ?? chosen);
  };
  /** @type {Map<Object, import("../kit/heatmap_cells.js").Layout>} */
  const layouts = new Map();
  let [drawing, aligned] = [false, ""];
  /** The first map on view. To ask for it lays the page out, so it is asked once for a width and a view. */
  let first = null;
  /** The words stand over the columns of the mask, or of the one grid that a phone shows, where they fit. */
  function align() {
    const wanted = JSON.stringify([now.view, now.tokens, now.T, ...layouts.values()]);
    if (wanted === aligned) return false;
    first ??= [grid, weights, stack, reach].find((one) => one.pane.offsetParent);
    if (!layouts.has(first)) return false;
    aligned = wanted;
    const { left, cell, tilted, T } = layouts.get(first);
    const longest = Math.max(...now.mask.map((_, i) => name(i).length));
    view.panes.classList.toggle("p-aligned", !tilted && cell - FRAME > LETTER * longest);
    const letter = (cell - FRAME) / longest; // the room of one
    const sizes = { left: `${left}px`, cell: `${cell}px`, count: String(T), letter: `${letter}px` };
    for (const [key, value] of Object.entries(sizes)) story.stage.style.setProperty(`--${key}`, value);
    return true;
  }
  /** Where the cells of a map stand now: while all is drawn, the words wait until every map has told it. */
  function stands(map) {
    return (at) => {
      layouts.set(map(), at);
      if (!drawing) first = null;
      if (!drawing && now && align()) story.arrange();
    };
  }
  /** What the chosen word, or the look pointed at, is allowed. */
  function tell() {
    const [i, j] = [selection.now.row, selection.now.column];
    const some = i === null || i >= now.T ? WORDS.hint : WORDS.looks(name(i), ...seen(i));
    const to = some === WORDS.hint || j === null || j >= now.T ? some : reason(i, j);
    setText(look, to);
  }
  function seen(i) {
    const keys = now.mask[i].flatMap((open, j) => (open ? [j === i ? WORDS.itself : `“${name(j)}”`] : []));
    return [keys, now.mask.flatMap((row, q) => (row[i] && q !== i ? [`“${name(q)}”`] : []))];
  }
  function reason(i, j) {
    const [query, key] = [name(i), i === j ? WORDS.itself : `“${name(j)}”`];
    if (now.leaks[i][j]) return WORDS.leak(query, key, j - i);
    if (now.mask[i][j] && now.pads[j] && !now.plain[i][j]) return WORDS.padding(query, key);
    if (now.mask[i][j]) return WORDS.look(query, key, now.weights[i][j]);
    return WORDS.hidden(query, key, WORDS.why[hiddenBy(now, i, j) ?? "closed"]);
  }
  view.onDispose(selection.subscribe(view.guarded(() => {
    const { row, token } = selection.picked;
    if (!now) return;
    if ((row ?? -1) + 1 !== now.token) put({ token: (row ?? -1) + 1 });
    if ((token ?? -1) + 1 !== now.source) put({ source: (token ?? -1) + 1 });
    tell();
  })));

  view.onDraw(() => {
    const s = read(model);
    const [plain, line] = unflipped(s);
    const mask = plain.map((row) => [...row]);
    s.flips.forEach(([i, j]) => { mask[i][j] = !mask[i][j]; });
    if (now?.view !== s.view) first = null;
    film.limit(s.T + 1);
    if (now?.layers !== s.layers && !film.playing && film.position !== s.layers) film.jump(s.layers);
    const [through, meant] = [mask, plain].map((one) => masks.reaches(one, s.T));
    const pads = paddingOf(s);
    now = { ...s, mask, plain, pads, leaks: later(mask, plain, pads), reach: through[s.layers],
      weights: maskedSoftmax(matrix(s.T, s.T, (i, j) => draws[i * most + j]), mask) };
    // Both at once: between two picks the first would take back what the second is to set.
    const picked = { row: s.token ? s.token - 1 : null, token: s.source ? s.source - 1 : null };
    const { row: chosen, token: followed } = selection.picked;
    if (chosen !== picked.row || followed !== picked.token) selection.pick(picked);
    const at = source();
    now.known = through.map((m) => m.map((row) => row[at]));
    const needs = inForce(s).flatMap((kind) => NEEDS[kind]);
    for (const [trait, control] of Object.entries(own)) control.show(needs.includes(trait));
    view.root.dataset.view = s.view;

    drawing = true;
    const titles = { rows: s.tokens, columns: s.tokens, largest: LARGEST };
    const said = { top: 1, print: false, ...titles };
    grid.draw({ values: ones(mask), mask, marks: now.leaks, ...said });
    weights.draw({ values: now.weights, mask, top: 1, ...titles });
    const spread = later(now.reach, meant[s.layers], pads);
    reach.draw({ values: ones(now.reach), mask: now.reach, marks: spread, ...said });
    // A layer that is being computed fades in; one that is not yet computed is blank.
    const moving = Math.min(film.position, s.T);
    const done = (n) => Math.min(1, Math.max(0, moving - n + 1));
    stack.draw({
      ...said, rows: now.known.map((_, n) => (n ? String(n) : WORDS.input)),
      values: now.known.map((row, n) => row.map((on) => Number(on) * done(n))),
      mask: now.known.map((row, n) => row.map((on) => on || done(n) < 1)),
      marks: now.known.map((row, n) => row.map((on, i) => on && done(n) === 1 && i < at && !pads[at]
        && !meant[n][i][at])),
    });
    drawing = false;
    flow.textContent = WORDS.flows(name(at), s.layers, now.known[s.layers].filter(Boolean).length, s.T);
    const role = (from, to) => (now.leaks[from][to] ? "leak" : "weight");
    const links = cells(mask).map(([from, to]) =>
      ({ from, to, weight: now.weights[from][to], role: role(from, to) }));
    code.textContent = lines(line, s.flips, mask);
    clear.disabled = !s.flips.length;
    tell();
    view.say(sentence(now, meant[s.layers], name));
    // The words ask the page where they stand, and it is laid out: when all else is written.
    if (align()) story.moved();
    story.draw({ words: mask.map((_, i) => name(i)), links, faint: s.T > THICKET ? 2 : 0 });
    report(model, { allowed: cells(mask).length, leaks: cells(now.leaks) });
  });
  return live(model, view, used);
}

/** The values that are used. Flips outside a mask that has become smaller wait there. */
function used(model) {
  const { flips, tokens, ...rest } = read(model);
  return rest;
}

export default guard(render);
