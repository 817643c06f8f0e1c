/** One query among its keys: four scores, the weights they give, and how much gradient is left. */
import { bars, button, choice, clamp, count, format, frame, h, legend, live, report, select, slider } from "./kit.js";
import { entropy, gaussian, jacobianNorm, scores, softmax, uniform } from "./twin.js";

const KINDS = [["scaled_dot", "scaled dot"], ["dot", "dot"], ["additive", "additive"], ["bilinear", "bilinear"]];
const HIDDEN = 16;
const SPAN = 3.2; // the plane shows −SPAN to SPAN
const SIZE = 240;

function read(model) {
  return {
    kind: choice(model, "score", KINDS.map(([k]) => k)),
    D: 2 ** Math.round(Math.log2(count(model, "D", 1, 1024, 16))),
    temperature: clamp(model.get("temperature"), 0.1, 10, 1),
    n: count(model, "n_keys", 2, 12, 6), seed: count(model, "seed", 0, 9999, 256),
    x: clamp(model.get("query_x"), -3, 3, 1), y: clamp(model.get("query_y"), -3, 3, 0.5),
  };
}

/** The random vectors and weights; each is made once for as long as its size and seed stay. */
function makeWorld() {
  const kept = new Map();
  const once = (name, key, make) => {
    if (kept.get(name)?.key !== key) kept.set(name, { key, value: make() });
    return kept.get(name).value;
  };
  const rows = (seed, count, D) => Array.from({ length: count }, (_, i) =>
    gaussian(seed + i, D).map((x) => x / Math.sqrt(D)));
  return {
    keys: ({ seed, n, D }) => once("keys", `${seed} ${n} ${D}`, () =>
      Array.from({ length: n }, (_, i) => gaussian(seed * 100 + i, D))),
    query: ({ seed, D, x, y }) => {
      const base = once("query", `${seed} ${D}`, () => gaussian(seed * 100 + 50, D));
      return base.map((value, i) => (i === 0 ? x : i === 1 ? y : value));
    },
    additive: ({ D }) => once("additive", D, () =>
      ({ W: rows(1e6, HIDDEN, D), U: rows(2e6, HIDDEN, D), v: gaussian(3e6, HIDDEN) })),
    bilinear: ({ D }) => once("bilinear", D, () => {
      const next = uniform(4e6); // uniform draws of variance 1 / D: a million normal ones would take too long
      const width = Math.sqrt(12 / D);
      return { W: Array.from({ length: D }, () => Float32Array.from({ length: D }, () => (next() - 0.5) * width)) };
    }),
  };
}

const SCORE = {
  dot: (q, k) => scores.dot(q, k),
  scaled_dot: (q, k) => scores.scaledDot(q, k),
  additive: (q, k, world, s) => scores.additive(q, k, world.additive(s)),
  bilinear: (q, k, world, s) => scores.bilinear(q, k, world.bilinear(s)),
};

function render({ model, el }) {
  const view = frame(el, { title: "Score functions", name: "score-functions" });
  select(view, model, "score", { label: "score", options: KINDS });
  slider(view, model, "D", { label: "coordinates D", min: 1, max: 1024, scale: "power" });
  slider(view, model, "temperature", { label: "temperature", min: 0.1, max: 10, step: 0.1, show: (t) => format(t, 1) });
  slider(view, model, "n_keys", { label: "keys", min: 2, max: 12 });
  button(view, { label: "Draw again", press: () => set({ seed: (count(model, "seed", 0, 9999) + 1) % 10000 }) });
  function set(values) {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  }

  const map = plane(view, model, set);
  const chart = bars(view, {
    caption: "Each key's score and weight",
    columns: [{ title: "score", role: "score", signed: true }, { title: "weight", role: "weight" }],
  });
  view.panes.append(map.pane, chart.pane);
  const facts = h("p", { class: "p-facts" });
  view.sentence.before(legend(["query", "query"], ["key", "keys"], ["weight", "weight (width of the line)"]), facts);
  const world = makeWorld();

  view.onDraw(() => {
    const s = read(model);
    const [query, keys] = [world.query(s), world.keys(s)];
    const raw = SCORE[s.kind](query, keys, world, s);
    const weights = softmax(raw.map((x) => x / s.temperature));
    const spread = entropy(weights);
    const slope = jacobianNorm(weights);
    map.draw({ ...s, keys, weights });
    chart.draw({ names: keys.map((_, i) => String(i + 1)), series: [{ values: raw }, { values: weights, top: 1 }] });
    facts.textContent = `largest weight ${format(Math.max(...weights), 3)} · entropy ${format(spread, 2)} of ${format(Math.log(s.n), 2)} nats · softmax gradient ${format(slope, 4)}`;
    view.say(sentence(s, query, keys, weights, slope));
    report(model, { weights, entropy: spread, gradient: slope });
  });
  return live(model, view);
}

/** The first two coordinates: keys stand still, the query is dragged or moved by arrow keys. */
function plane(view, model, set) {
  const place = (v) => SIZE / 2 + (v / SPAN) * (SIZE / 2 - 8);
  const value = (at, length) => clamp(((at / length) * 2 - 1) * SPAN, -3, 3, 0);
  const lines = h("g", {});
  const dots = h("g", {});
  const query = h("circle", { class: "p-query", "data-role": "query", r: 9 });
  const svg = h("svg", {
    class: "p-plane", viewBox: `0 0 ${SIZE} ${SIZE}`, tabindex: "0", role: "application",
    "aria-label": "The plane of the first two coordinates. Drag the query, or move it with the arrow keys.",
  }, h("path", { class: "p-axes", d: `M0 ${SIZE / 2}H${SIZE}M${SIZE / 2} 0V${SIZE}` }), lines, dots, query);
  const pane = h("figure", { class: "p-pane p-pane-plane" }, h("figcaption", {}, "First two coordinates: drag the query"), svg);
  let marks = [];

  function follow(event) {
    const box = svg.getBoundingClientRect();
    set({ query_x: round(value(event.clientX - box.left, box.width)), query_y: round(-value(event.clientY - box.top, box.height)) });
  }
  const round = (x) => Math.round(x * 100) / 100;
  svg.addEventListener("pointerdown", (event) => { svg.setPointerCapture(event.pointerId); follow(event); });
  svg.addEventListener("pointermove", (event) => { if (svg.hasPointerCapture(event.pointerId)) follow(event); });
  svg.addEventListener("keydown", (event) => {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [0, 0];
    if (!dx && !dy) return;
    event.preventDefault();
    const { x, y } = read(model);
    set({ query_x: round(clamp(x + dx * 0.1, -3, 3)), query_y: round(clamp(y + dy * 0.1, -3, 3)) });
  });
  return {
    pane,
    draw({ D, x, y, keys, weights }) {
      if (marks.length !== keys.length) {
        marks = keys.map((_, i) => ({
          line: h("line", { "data-role": "weight" }), dot: h("circle", { "data-role": "key", r: 6 }), name: h("text", {}, String(i + 1)),
        }));
        lines.replaceChildren(...marks.map((m) => m.line));
        dots.replaceChildren(...marks.flatMap((m) => [m.dot, m.name]));
      }
      const [qx, qy] = [place(x), place(D > 1 ? -y : 0)];
      query.setAttribute("cx", qx);
      query.setAttribute("cy", qy);
      marks.forEach(({ line, dot, name }, i) => {
        const [kx, ky] = [place(clamp(keys[i][0], -3, 3)), place(D > 1 ? -clamp(keys[i][1], -3, 3) : 0)];
        for (const [node, at] of [[line, { x1: qx, y1: qy, x2: kx, y2: ky, "stroke-width": (0.4 + 7 * weights[i]).toFixed(2) }],
          [dot, { cx: kx, cy: ky }], [name, { x: kx + 9, y: ky - 6 }]]) {
          for (const [key, v] of Object.entries(at)) node.setAttribute(key, v);
        }
      });
    },
  };
}

function sentence({ kind, D, temperature }, query, keys, weights, slope) {
  const winner = weights.indexOf(Math.max(...weights)) + 1;
  const first = slope < 0.005
    ? `Key ${winner} takes everything: the softmax is saturated and passes almost no gradient.`
    : `Key ${winner} gets the largest weight.`;
  const other = { dot: "scaledDot", scaled_dot: "dot" }[kind];
  if (!other) return `${first} ${kind === "additive" ? "tanh bounds the score, whatever D is." : "W is random here; training makes it a learned comparison."}`;
  const there = softmax(scores[other](query, keys).map((x) => x / temperature));
  const label = kind === "dot" ? "Divided by √D" : "Not divided by √D";
  return `${first} ${label} = ${format(Math.sqrt(D), 1)}, the largest weight would be ${format(Math.max(...there), 3)} and the gradient ${format(jacobianNorm(there), 4)}.`;
}

export default { render };
