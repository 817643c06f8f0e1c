/** One query among its keys: four scores, the weights they give, and how much gradient is left. */
import {
  bars, button, choice, clamp, count, format, frame, guard, h, legend, live, plain, report, select, slider,
} from "./kit.js";
import { plane } from "./plane.js";
import { entropy, gaussian, inner, jacobianNorm, scores, softmax } from "./twin.js";

const KINDS = [["scaled_dot", "scaled dot"], ["dot", "dot"], ["additive", "additive"], ["bilinear", "bilinear"]];
const HIDDEN = 16; // the hidden size of the additive score, and of the projections of the bilinear one

function read(model) {
  return {
    kind: choice(model, "score", KINDS.map(([k]) => k)),
    D: 2 ** Math.round(Math.log2(count(model, "D", 1, 1024, 16))),
    temperature: clamp(model.get("temperature"), 0.1, 10, 1),
    n: count(model, "n_keys", 2, 12, 6), seed: count(model, "seed", 0, 9999, 2894),
    x: clamp(model.get("query_x"), -3, 3, 1), y: clamp(model.get("query_y"), -3, 3, 0.5),
  };
}

const used = (model) => {
  const { kind, D, temperature, n, seed, x, y } = read(model);
  return { score: kind, D, temperature, n_keys: n, seed, query_x: x, query_y: y };
};

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
    layers: ({ D }) => once("layers", D, () => ({ W: rows(1e6, D), U: rows(2e6, D), v: gaussian(3e6, HIDDEN).map((x) => x / Math.sqrt(HIDDEN)) })),
  };
}

const through = (matrix, x) => matrix.map((row) => inner(row, x));
const SCORE = {
  dot: (q, k) => scores.dot(q, k),
  scaled_dot: (q, k) => scores.scaledDot(q, k),
  additive: (q, k, layers) => scores.additive(q, k, layers),
  /** kᵀ (Wᵀ U) q = (W k)·(U q): the matrix that two projections make, without ever writing it down. */
  bilinear: (q, k, { W, U }) => scores.dot(through(U, q), k.map((key) => through(W, key))),
};

function render({ model, el }) {
  const view = frame(el, { title: "Score functions", name: "score-functions" });
  select(view, model, "score", { label: "score", options: KINDS });
  slider(view, model, "D", { label: "coordinates D", min: 1, max: 1024, scale: "power" });
  slider(view, model, "temperature", { label: "temperature", min: 0.1, max: 10, step: 0.1, show: (t) => plain(t, 1) });
  slider(view, model, "n_keys", { label: "keys", min: 2, max: 12 });
  button(view, { label: "Draw again", press: () => report(model, { seed: (count(model, "seed", 0, 9999, 2894) + 1) % 10000 }) });

  let aim = null; // where the query is wanted, until the next frame takes it there
  const go = () => {
    const { x, y } = aim;
    aim = null;
    report(model, read(model).D > 1 ? { query_x: x, query_y: y } : { query_x: x }); // with D = 1 there is no y
  };
  const map = plane(view, {
    caption: "First two coordinates: drag the query",
    where: () => ({ ...read(model), ...aim }),
    move: (x, y) => { aim = { x, y }; view.soon(go); },
  });
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
    const [query, keys, layers] = [world.query(s), world.keys(s), world.layers(s)];
    const readings = KINDS.map(([kind]) => {
      const raw = SCORE[kind](query, keys, layers);
      const weights = softmax(raw.map((x) => x / s.temperature));
      return { kind, raw, weights, largest: Math.max(...weights), entropy: entropy(weights), gradient: jacobianNorm(weights) };
    });
    const now = readings.find(({ kind }) => kind === s.kind);
    map.draw({ ...s, flat: s.D === 1, keys, weights: now.weights });
    chart.draw({ names: keys.map((_, i) => String(i + 1)), series: [{ values: now.raw }, { values: now.weights, top: 1 }] });
    four.draw(s, readings);
    view.say(sentence(s, now, layers));
    report(model, { weights: now.weights, entropy: now.entropy, gradient: now.gradient });
  });
  return live(model, view, used);
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

function sentence({ kind, D, n }, { weights, largest, entropy: spread, gradient }, { v }) {
  const first = gradient < 0.005
    ? `Key ${weights.indexOf(largest) + 1} takes everything: the softmax is saturated, and almost no gradient passes.`
    : spread > 0.95 * Math.log(n) ? "This is close to a plain average of the values."
      : `Key ${weights.indexOf(largest) + 1} gets the largest weight, ${format(largest)}.`;
  const root = `√D\u00a0=\u00a0${format(Math.sqrt(D), 1)}`;
  return `${first} ${{
    dot: () => `Scores of random vectors are about ${root} in size.`,
    scaled_dot: () => `Divided by ${root}, scores stay about 1 in size, whatever D is.`,
    additive: () => `tanh keeps every score within ±${format(v.reduce((sum, x) => sum + Math.abs(x), 0), 1)}, whatever D is. W, U and v are random here.`,
    bilinear: () => `Two random projections to ${HIDDEN} numbers make its W: scores are about √${HIDDEN}\u00a0=\u00a04 in size, whatever D is.`,
  }[kind]()}`;
}

export default guard(render);
