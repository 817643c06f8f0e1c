/** Six tokens, what each puts in and what it gets out: shuffled, the outputs move along, or they do not. */
import { glides } from "../kit/glide.js";
import {
  button, choice, count, format, frame, guard, h, limits, live, makeRamp, numbers, onTheme, report, select,
  setter, words } from "../kit/kit.js";
import { masks, selfAttention, uniform } from "../twin/twin.js";

const NONE = 5e-7; // a difference that is rounding
const WORDS = {
  title: "Shuffle the tokens", shuffle: "Shuffle", back: "Back in order", mask: "mask", none: "none",
  causal: "causal",
  token: (n) => `token ${n}`, head: ["token", "input x", "output o"], mean: "mean of the outputs",
  was: (x) => `was ${x}`,
  row: (name, x, o) => `${name}: input ${x}, output ${o}`, list: "The tokens from top to bottom",
  ordered: "The six tokens as they came. Press Shuffle, and keep an eye on one of the words.",
  along: "Each word has kept its output, wherever it stands now. The mean has not moved at all.",
  changed: (n, list) => `${n === 1 ? "One word has" : `${n} words have`} a different output now: ${list}. `
    + "Under a causal mask a word hears itself and those above it, and those have changed.",
  lucky: "No output has changed this time: no word has different words above it. Shuffle again.",
};

/** The order that a shuffle gives; never the one that the tokens came in.
 *  @param {number} seed @param {number} T */
export function order(seed, T) {
  const list = Array.from({ length: T }, (_, i) => i);
  if (!seed) return list;
  const next = uniform(seed);
  for (let i = T - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list.every((n, i) => n === i) ? [...list.slice(1), 0] : list;
}

function read(model) {
  const [Wq, Wk, Wv] = ["Wq", "Wk", "Wv"].map((trait) => numbers(model, trait));
  const X = numbers(model, "X");
  const T = X.length;
  const causal = choice(model, "mask") === "causal";
  const mask = causal ? masks.causal(T) : null;
  const shuffle = count(model, "shuffle");
  const places = order(shuffle, T);
  const run = (rows) => selfAttention(rows, { Wq, Wk, Wv, mask }).output;
  const given = words(model, "tokens");
  return { X, shuffle, causal, places, before: run(X), output: run(places.map((n) => X[n])),
    names: X.map((_, n) => (given.length === T && given[n]) || WORDS.token(n + 1)) };
}

const meanOf = (rows) => rows[0].map((_, j) => rows.reduce((all, row) => all + row[j], 0) / rows.length);
const differs = (a, b) => Math.abs(a - b) > NONE * Math.max(1, Math.abs(b));

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "shuffle-tokens" });
  const put = setter(model);
  const next = () => (read(model).shuffle % limits(model, "shuffle").high) + 1;
  button(view, { label: WORDS.shuffle, press: () => put({ shuffle: next() }) });
  const back = button(view, { label: WORDS.back, press: () => put({ shuffle: 0 }) });
  select(view, model, "mask", { label: WORDS.mask,
    options: [["none", WORDS.none], ["causal", WORDS.causal]] });

  const cells = () => Array.from({ length: 3 }, () => h("span", { class: "p-cell" }));
  const rows = Array.from({ length: limits(model, "X").rows }, (_, n) => {
    const [name, x, o] = [h("b", {}), cells(), cells()];
    return { name, x, o, node: h("li", { "data-token": n }, name, h("span", { class: "p-cells" }, ...x),
      h("span", { class: "p-arrow", "aria-hidden": "true" }, "→"), h("span", { class: "p-cells" }, ...o)) };
  });
  const list = h("ol", { class: "p-shuffled", "aria-label": WORDS.list }, ...rows.map(({ node }) => node));
  const mean = cells();
  const last = h("p", { class: "p-mean" }, h("b", {}, WORDS.mean), h("span", { class: "p-cells" }, ...mean));
  view.panes.append(h("p", { class: "p-shuffled-head", "aria-hidden": "true" },
    ...WORDS.head.map((word) => h("span", {}, word))), list, last);

  let ramps = null;
  view.onDispose(onTheme(() => { ramps = null; view.redraw(); }));
  const fill = (nodes, values, ramp, top, was = values) => nodes.forEach((node, j) => {
    const { fill: ground, text } = ramp.shade(values[j], top);
    node.style.cssText = `background:${ground};color:${text}`;
    node.textContent = format(values[j], 2);
    const other = differs(values[j], was[j]);
    node.classList.toggle("p-changed", other);
    if (other) node.title = WORDS.was(format(was[j], 2)); else node.removeAttribute("title");
  });
  const glide = glides(list, 900);
  view.onDispose(glide.stop);
  const things = () => new Map(rows.map(({ node }, n) => [String(n), node]));
  const most = (m) => Math.max(1e-9, ...m.flat().map(Math.abs));
  let placed = "";
  /** @type {ReturnType<typeof read>} */
  let now = null;
  view.table(WORDS.title, () => now && { head: WORDS.head, rows: now.places.map((n, i) =>
    [now.names[n], ...[now.X[n], now.output[i]].map((row) => row.map((x) => format(x, 4)).join(", "))]) });
  view.onDraw(() => {
    now = read(model);
    ramps ??= { x: makeRamp(view.root, "residual", true), o: makeRamp(view.root, "output", true) };
    const { places, X, output, before, names } = now;
    const tops = [most(X), most([...output, ...before])];
    const key = places.join();
    const put = () => list.append(...places.map((n) => rows[n].node));
    if (placed && placed !== key) glide.move(things, put); else if (!placed) put();
    placed = key;
    places.forEach((n, i) => {
      const { name, x, o, node } = rows[n];
      name.textContent = names[n];
      fill(x, X[n], ramps.x, tops[0]);
      fill(o, output[i], ramps.o, tops[1], before[n]);
      const said = [X[n], output[i]].map((row) => row.map((v) => format(v, 2)).join(" "));
      node.setAttribute("aria-label", WORDS.row(names[n], said[0], said[1]));
    });
    fill(mean, meanOf(output), ramps.o, tops[1], meanOf(before));
    back.box.disabled = now.shuffle === 0;
    const changed = places.filter((n, i) => output[i].some((x, j) => differs(x, before[n][j])));
    view.say(!now.shuffle ? WORDS.ordered : changed.length
      ? WORDS.changed(changed.length, changed.map((n) => names[n]).join(", "))
      : now.causal ? WORDS.lucky : WORDS.along);
    report(model, { order: places.map((n) => n + 1), output });
  });
  return live(model, view,
    () => ({ shuffle: count(model, "shuffle"), mask: choice(model, "mask") }));
}

export default guard(render);
