/** One query among its keys: four scores, the weights they give, and how much gradient is left. */
import { bars, button, choice, clamp, count, format, frame, h, legend, live, report, select, slider } from "./kit.js";
import { entropy, gaussian, jacobianNorm, scores, softmax, uniform } from "./twin.js";

const KINDS = [["scaled_dot", "scaled dot"], ["dot", "dot"], ["additive", "additive"], ["bilinear", "bilinear"]];
const HIDDEN = 16;
const SPAN = 3.3; // the plane shows −SPAN to SPAN
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
  const rows = (seed, D) => Array.from({ length: HIDDEN }, (_, i) => gaussian(seed + i, D).map((x) => x / Math.sqrt(D)));
  return {
    keys: ({ seed, n, D }) => once("keys", `${seed} ${n} ${D}`, () =>
      Array.from({ length: n }, (_, i) => gaussian(seed * 100 + i, D))),
    query({ seed, D, x, y }) {
      const rest = once("query", `${seed} ${D}`, () => gaussian(seed * 100 + 50, D));
      return rest.map((value, i) => (i === 0 ? x : i === 1 ? y : value));
    },
    additive: ({ D }) => once("additive", D, () => ({ W: rows(1e6, D), U: rows(2e6, D), v: gaussian(3e6, HIDDEN) })),
    bilinear: ({ D }) => once("bilinear", D, () => {
      const next = uniform(4e6); // uniform draws of variance 1 / D: a million normal ones would take too long
      const width = Math.sqrt(12 / D);
      const row = () => { const r = new Float32Array(D); for (let i = 0; i < D; i++) r[i] = (next() - 0.5) * width; return r; };
      return { W: Array.from({ length: D }, row) };
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
  const set = (values) => { Object.entries(values).forEach(([name, value]) => model.set(name, value)); model.save_changes(); };
  select(view, model, "score", { label: "score", options: KINDS });
  slider(view, model, "D", { label: "coordinates D", min: 1, max: 1024, scale: "power" });
  slider(view, model, "temperature", { label: "temperature", min: 0.1, max: 10, step: 0.1, show: (t) => format(t, 1) });
  slider(view, model, "n_keys", { label: "keys", min: 2, max: 12 });
  button(view, { label: "Draw again", press: () => set({ seed: (count(model, "seed", 0, 9999, 256) + 1) % 10000 }) });

  const map = plane(view, model, set);
  const chart = bars(view, {
    caption: "Each key's score and weight",
    columns: [{ title: "score", role: "score", signed: true }, { title: "weight", role: "weight" }],
  });
  view.panes.append(map.pane, chart.pane);
  const four = comparison();
  view.sentence.before(legend(["query", "query q"], ["key", "keys"], ["weight", "weight (width of the line)"]), four.table);
  const world = makeWorld();

  view.onDraw(() => {
    const s = read(model);
    const [query, keys] = [world.query(s), world.keys(s)];
    const readings = KINDS.map(([kind]) => {
      const raw = SCORE[kind](query, keys, world, s);
      const weights = softmax(raw.map((x) => x / s.temperature));
      return { kind, raw, weights, largest: Math.max(...weights), entropy: entropy(weights), gradient: jacobianNorm(weights) };
    });
    const now = readings.find(({ kind }) => kind === s.kind);
    map.draw({ ...s, keys, weights: now.weights });
    chart.draw({ names: keys.map((_, i) => String(i + 1)), series: [{ values: now.raw }, { values: now.weights, top: 1 }] });
    four.draw(s, readings);
    view.say(sentence(s, now, world));
    report(model, { weights: now.weights, entropy: now.entropy, gradient: now.gradient });
  });
  return live(model, view);
}

/** The four scores side by side, on the same query and keys. */
function comparison() {
  const most = h("th", { scope: "col" });
  const rows = KINDS.map(([kind, name]) => {
    const cells = ["largest", "entropy", "gradient"].map((what) => ({ what, node: h("td", {}) }));
    return { kind, cells, row: h("tr", {}, h("th", { scope: "row" }, name), ...cells.map((c) => c.node)) };
  });
  const table = h("table", { class: "p-four" },
    h("caption", {}, "The four scores on this query and these keys"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "score"), h("th", { scope: "col" }, "largest weight"),
      most, h("th", { scope: "col" }, "softmax gradient"))),
    h("tbody", {}, ...rows.map((r) => r.row)));
  const digits = { largest: 3, entropy: 2, gradient: 4 };
  return {
    table,
    draw({ kind, n }, readings) {
      most.textContent = `entropy, of ${format(Math.log(n), 2)}`;
      rows.forEach((r, i) => {
        r.row.classList.toggle("p-chosen", r.kind === kind);
        r.cells.forEach(({ what, node }) => { node.textContent = readings[i][what].toFixed(digits[what]); });
      });
    },
  };
}

/** The first two coordinates: keys stand still, the query is dragged or moved by arrow keys. */
function plane(view, model, set) {
  const place = (v) => SIZE / 2 + (clamp(v, -SPAN, SPAN, 0) / SPAN) * (SIZE / 2 - 10);
  const value = (at, length) => Math.round(clamp(((at / length) * SIZE - SIZE / 2) / (SIZE / 2 - 10) * SPAN, -3, 3, 0) * 100) / 100;
  const lines = h("g", {});
  const dots = h("g", {});
  const query = h("g", { class: "p-query", "data-role": "query" }, h("circle", { class: "p-grip", r: 24 }), h("circle", { r: 11 }), h("text", {}, "q"));
  const svg = h("svg", { class: "p-plane", viewBox: `0 0 ${SIZE} ${SIZE}`, tabindex: "0", role: "application" },
    h("path", { class: "p-axes", d: `M0 ${SIZE / 2}H${SIZE}M${SIZE / 2} 0V${SIZE}` }), lines, dots, query);
  const pane = h("figure", { class: "p-pane p-pane-plane" }, h("figcaption", {}, "First two coordinates: drag the query"), svg);
  let marks = [];
  let data = null;

  const move = (x, y) => set(read(model).D > 1 ? { query_x: x, query_y: y } : { query_x: x }); // with D = 1 there is no y
  function follow(event) {
    const box = svg.getBoundingClientRect();
    move(value(event.clientX - box.left, box.width), -value(event.clientY - box.top, box.height) || 0);
  }
  // A finger beside the query scrolls the page; a tap or the mouse calls the query anywhere.
  svg.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" && !query.contains(event.target)) return;
    svg.setPointerCapture(event.pointerId);
    follow(event);
  });
  svg.addEventListener("pointermove", (event) => { if (svg.hasPointerCapture(event.pointerId)) follow(event); });
  svg.addEventListener("click", follow);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const { x, y } = read(model);
    const [a, b] = [x + step[0], y + step[1]].map((v) => Math.round(clamp(v, -3, 3, 0) * 100) / 100);
    move(a, b);
  });
  view.table("First two coordinates", () => data && {
    head: ["vector", "x", "y"],
    rows: [["query", data.x, data.y], ...data.keys.map((k, i) => [`key ${i + 1}`, k[0], k[1]])].map(([name, x, y]) =>
      [name, format(x), data.D > 1 ? format(y) : "–"]),
  });
  return {
    pane,
    draw(next) {
      data = next;
      const { D, x, y, keys, weights } = next;
      if (marks.length !== keys.length) {
        marks = keys.map((_, i) => ({
          line: h("line", { "data-role": "weight" }),
          dot: h("g", { "data-role": "key" }, h("circle", { r: 8.5 }), h("text", {}, String(i + 1))),
        }));
        lines.replaceChildren(...marks.map((m) => m.line));
        dots.replaceChildren(...marks.map((m) => m.dot));
      }
      const at = (a, b) => [place(a), place(D > 1 ? -b : 0)];
      const [qx, qy] = at(x, y);
      query.setAttribute("transform", `translate(${qx} ${qy})`);
      svg.setAttribute("aria-label", `The query at ${format(x)}${D > 1 ? `, ${format(y)}` : ""}. Drag it, or move it with the arrow keys.`);
      marks.forEach(({ line, dot }, i) => {
        const [kx, ky] = at(keys[i][0], keys[i][1]);
        dot.setAttribute("transform", `translate(${kx} ${ky})`);
        const ends = { x1: qx, y1: qy, x2: kx, y2: ky, "stroke-width": (0.3 + 8 * weights[i]).toFixed(2) };
        for (const [name, v] of Object.entries(ends)) line.setAttribute(name, v);
      });
    },
  };
}

function sentence({ kind, D, n }, { weights, largest, entropy: spread, gradient }, world) {
  const first = gradient < 0.005
    ? `Key ${weights.indexOf(largest) + 1} takes everything: the softmax is saturated, and almost no gradient passes.`
    : spread > 0.95 * Math.log(n) ? "This is close to a plain average of the values."
      : `Key ${weights.indexOf(largest) + 1} gets the largest weight, ${format(largest)}.`;
  const root = format(Math.sqrt(D), 1);
  return `${first} ${{
    dot: () => `Scores of random vectors are about √D = ${root} in size.`,
    scaled_dot: () => `Divided by √D = ${root}, scores stay about 1 in size, whatever D is.`,
    additive: () => `tanh keeps every score within ±${format(world.additive({ D }).v.reduce((sum, x) => sum + Math.abs(x), 0), 1)}, whatever D is. W, U and v are random here.`,
    bilinear: () => `W is random here, so scores are about √D = ${root} in size; training would make W a learned comparison.`,
  }[kind]()}`;
}

export default { render };
