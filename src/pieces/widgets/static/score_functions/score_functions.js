/** One query among its keys: how they score it, the weights that gives, and the average of the values. */
import { bars, button, chance, choice, clamp, count, format, frame, ghost, guard, h, legend, limits, live,
  numbers, plain, real, report, select, slider, text, words as wordsOf } from "../kit/kit.js";
import { balance } from "./balance.js";
import { chart } from "../kit/charts.js";
import { DRAWS, HIDDEN, SIZES, spreadOf } from "./draws.js";
import { lights } from "./light.js";
import { EDGE, plane } from "../kit/plane.js";
import { comparison } from "./score_comparison.js";
import { bilinearSpread, makeWorld, SCORE } from "./score_world.js";
import { shade } from "./shade.js";
import { entropy, inner, jacobianNorm, norm, softmax } from "../twin/twin.js";
import { argmax } from "../twin/tensor.js";

const WORDS = {
  title: "A query among its keys", score: "score", K: "coordinates K", temperature: "temperature",
  keys: "keys", again: "Draw again", plane: "Drag the query q, or tap a place",
  balance: "Output: the values, balanced by their weights",
  curve: `Largest weight, ${DRAWS} random draws: median and middle 80 %`, largest: "largest weight",
  size: "K, coordinates of query and key", here: "you are here", before: "before",
  alike: "all alike", these: "these vectors",
  bars: "From key to output", columns: ["score", "weight", "weight × value"],
  roles: ["query", "key", "score", "weight", "value", "output"],
  kinds: { scaled_dot: "scaled dot", dot: "dot", additive: "additive", bilinear: "bilinear" },
  key: (n) => `key ${n}`, ask: "Ask about:", more: (n) => ` + ${n} more`, for: (name) => `for ${name}`,
  saturated: (name) =>
    `Key “${name}” takes everything: the softmax is saturated, and almost no gradient passes. `,
  average: "All weights are nearly equal, so this is close to a plain average of the values. ",
  winner: (name, weight) => `Key “${name}” gets the largest weight, ${chance(weight)}. `,
  silenced: (name, score) =>
    `The longest key, “${name}”, points away from the query: `
    + `its score is ${format(score)}, so its length makes it quieter. `,
  why: {
    dot: ({ root }) => `Scores of random vectors are about ${root} in size.`,
    scaled_dot: ({ root }) => `Divided by ${root}, scores of random vectors stay about 1 in size.`,
    additive: ({ bound }) =>
      `tanh keeps every score within ±${format(bound, 1)}. W, U and v are random here.`,
    bilinear: ({ spread }) => `Two random projections to ${HIDDEN} numbers make its matrix: `
      + `with it, scores of random vectors are about ${format(spread(), 1)} in size.`,
  },
};
const KINDS = Object.keys(WORDS.kinds);

function read(model) {
  const n = count(model, "n_keys");
  const list = (trait) => (Array.isArray(model.get(trait)) ? model.get(trait) : []);
  const points = (trait) => numbers(model, trait, list(trait).length, 2);
  const { bound } = limits(model, "values");
  const [names, given, keys, spots] = [wordsOf(model, "names"), list("values"), points("keys_at"),
    wordsOf(model, "places")];
  const told = Math.min(n, names.length, given.length, keys.length); // the rest is drawn
  return {
    kind: choice(model, "score"), n,
    K: 2 ** Math.round(Math.log2(count(model, "K"))),
    temperature: real(model, "temperature"), seed: count(model, "seed"),
    x: real(model, "query_x"), y: real(model, "query_y"),
    unit: text(model, "unit") && ` ${text(model, "unit")}`,
    told: keys.slice(0, told).map((at, i) =>
      ({ name: names[i], value: clamp(given[i], -bound, bound, 0), at })),
    places: points("places_at").slice(0, spots.length).map(([x, y], i) => ({ name: spots[i], x, y })),
  };
}

/** The next draw; behind the last one comes the first. */
function another(model) {
  const [{ seed }, { low, high }] = [read(model), limits(model, "seed")];
  report(model, { seed: seed < high ? seed + 1 : low });
}

const used = (model) => {
  const { kind, K, temperature, n, seed, x, y } = read(model);
  return { score: kind, K, temperature, n_keys: n, seed, query_x: x, query_y: y };
};

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "score-functions" });
  const world = makeWorld(WORDS.key);
  let aim = null; // where the query is wanted, until the next frame takes it there
  const go = () => {
    const { x, y } = aim;
    aim = null;
    // With one coordinate there is no y.
    report(model, read(model).K > 1 ? { query_x: x, query_y: y } : { query_x: x });
  };
  const move = (x, y) => { aim = { x, y }; view.soon(go); };
  const ground = shade(view, { edge: EDGE });
  const where = () => ({ ...read(model), ...aim });
  const map = plane(view, { caption: WORDS.plane, where, move, backdrop: ground.canvas,
    reach: limits(model, "query_x").high });
  const asks = h("p", { class: "p-asks" });
  map.pane.append(asks);
  const curve = chart(view, { caption: WORDS.curve, xTitle: WORDS.size, yTitle: WORDS.largest, logX: true,
    low: 0, high: 1, digits: 2, height: 330 });
  const columns = ["score", "weight", "output"].map((role, i) =>
    ({ title: WORDS.columns[i], role, signed: i !== 1 }));
  const table = bars(view, { caption: WORDS.bars, columns });
  const scale = balance(view, { caption: WORDS.balance });
  const four = comparison(WORDS.kinds);
  view.panes.append(map.pane, curve.pane,
    h("div", { class: "p-pane p-side" }, table.pane, scale.pane, four.box));
  const words = h("div", { class: "p-work" });
  const key = legend(...WORDS.roles.map((role) => [role, role]));
  [...key.children].forEach((entry, i) => entry.setAttribute("data-lit", WORDS.roles[i]));
  view.panes.after(words, key);
  select(view, model, "score", { label: WORDS.score, options: Object.entries(WORDS.kinds) });
  slider(view, model, "K", { label: WORDS.K, scale: "power" });
  slider(view, model, "temperature",
    { label: WORDS.temperature, show: (t) => plain(t, 1) });
  slider(view, model, "n_keys", { label: WORDS.keys });
  button(view, { label: WORDS.again, press: () => another(model) });
  key.after(view.controls); // below what they change: the first thing to touch is the query
  /** The places to ask about, as buttons: made once, so that the one pressed keeps the focus. */
  function offer(places) {
    asks.hidden = !places.length;
    const names = JSON.stringify(places);
    if (asks.dataset.names === names) return;
    asks.dataset.names = names;
    asks.replaceChildren(WORDS.ask, ...places.map(({ name, x, y }) =>
      h("button", { type: "button", class: "p-button", onclick: () => move(x, y) }, name)));
  }
  let pointed = null;
  const light = lights(view, (now) => { pointed = now; view.redraw(); });

  /** What a state of the traits comes to, under each score. */
  function compute(s) {
    const [keys, query, layers, whole] = [world.keys(s), world.query(s), world.layers(s.K), world.whole(s)];
    const values = whole.map(({ value }) => value);
    const readings = KINDS.map((kind) => {
      const raw = SCORE[kind](query, keys, layers);
      const weights = softmax(raw.map((x) => x / s.temperature));
      const largest = Math.max(...weights);
      return { kind, raw, weights, largest, entropy: entropy(weights), gradient: jacobianNorm(weights) };
    });
    const now = readings.find(({ kind }) => kind === s.kind);
    const names = whole.map(({ name }) => name);
    return { s, keys, query, layers, values, names, readings, now, output: inner(now.weights, values) };
  }
  function drawPlane({ s, keys, names, now }, was) {
    const moved = was && was.s.K === s.K && Math.hypot(was.s.x - s.x, was.s.y - s.y) > 0.15;
    const named = names.map((name, i) => (s.told[i] ? `${name}: ${plain(s.told[i].value)}${s.unit}` : name));
    map.draw({ ...s, flat: s.K === 1, keys, weights: now.weights, names: named,
      places: s.K === 2 ? s.places : [], ghost: moved ? [was.s.x, was.s.y] : null });
    const scoresAt = (x, y) => SCORE[s.kind](world.query(s, s.K, x, y), keys, world.layers(s.K));
    const key = JSON.stringify([s.kind, s.K, s.seed, s.n, s.told]);
    ground.draw({ key, scoresAt, temperature: s.temperature });
  }
  function drawCurve({ s }, was) {
    const kinds = [...new Set(["dot", "scaled_dot", s.kind])];
    const roles = { dot: "score", scaled_dot: "weight", additive: "key", bilinear: "value" };
    const here = SIZES.map((K) => {
      const raw = SCORE[s.kind](world.query(s, K), world.keys(s, K), world.layers(K));
      return Math.max(...softmax(raw.map((x) => x / s.temperature)));
    });
    const marks = [{ y: 1 / s.n, name: WORDS.alike }, { x: s.K, name: WORDS.here }];
    if (was && was.s.K !== s.K) marks.push({ x: was.s.K, name: WORDS.before });
    curve.draw({ x: SIZES, at: s.K, marks, series: [
      ...kinds.map((kind) => ({ name: WORDS.kinds[kind], role: roles[kind],
        runs: spreadOf(kind, s.n, s.temperature) })),
      { name: WORDS.these, role: "query", y: here, dashed: true }] });
  }
  const before = ghost();
  view.onDraw(() => {
    const all = compute(read(model));
    const { s, values, names, now, output } = all;
    const old = before(all, JSON.stringify(s));
    const was = old?.s.n === s.n ? old : null;
    map.pane.hidden = s.K > 2;
    curve.pane.hidden = s.K <= 2;
    if (s.K > 2) drawCurve(all, was); else drawPlane(all, was);
    offer(s.K === 2 ? s.places : []);
    const parts = (one) => one.now.weights.map((w, i) => w * one.values[i]);
    const series = [[now.raw, was?.now.raw], [now.weights, was?.now.weights, 1],
      [parts(all), was && parts(was)]];
    table.draw({ names, focus: pointed,
      series: series.map(([values, ghost, top = Math.max(...values.map(Math.abs))]) =>
        ({ values, ghost, top: top || 1 })) });
    scale.draw({ values, weights: now.weights, output, ghost: was?.output, unit: s.unit });
    const followed = pointed !== null && pointed < s.n ? pointed : now.weights.indexOf(now.largest);
    words.replaceChildren(...arithmetic(all, followed));
    four.draw(s, all.readings);
    view.say(sentence(all));
    light.paint();
    report(model, { weights: now.weights, entropy: now.entropy, gradient: now.gradient, output });
  });
  return live(model, view, used);
}

/** The equation in numbers, each in the colour of its role: one key's score, the softmax, the average. */
function arithmetic({ s, keys, query, now, values, names, output }, followed) {
  const mark = (role, i, shown) => h("span", { "data-lit": role, "data-role": role, "data-key": i }, shown);
  const few = now.weights.map((_, i) => i).slice(0, 4);
  const join = (between, nodes) => (few.length < s.n ? [...nodes, "…"] : nodes)
    .flatMap((node, i) => (i ? [between, node] : [node]));
  const products = query.slice(0, 2).flatMap((x, c) => [c ? " + " : "", mark("query", null, format(x)), " · ",
    mark("key", followed, format(keys[followed][c]))]);
  const sum = [...products, s.K > 2 ? WORDS.more(s.K - 2) : ""];
  const [k, q] = [mark("key", followed, "k"), mark("query", null, "q")];
  const how = { dot: sum, scaled_dot: ["(", ...sum, `) / √${s.K}`],
    additive: ["v · tanh(W ", k, " + U ", q, ")"], bilinear: ["(W ", k, ") · (U ", q, ")"] }[s.kind];
  const weight = (i) => mark("weight", i, chance(now.weights[i], 3));
  const raw = join(", ", few.map((i) => mark("score", i, format(now.raw[i]))));
  const inside = s.temperature === 1 ? ["(", ...raw, ")"] : ["((", ...raw, `) / ${plain(s.temperature, 1)})`];
  return [
    [...how, " = ", mark("score", followed, format(now.raw[followed])),
      h("small", {}, ` ${WORDS.for(names[followed])}`)],
    ["softmax", ...inside, " = (", ...join(", ", few.map(weight)), ")"],
    [...join(" + ", few.map((i) => h("span", {}, weight(i), " · ", mark("value", i, plain(values[i]))))),
      " = ", mark("output", null, `${format(output)}${s.unit}`)],
  ].map((line) => h("p", {}, ...line));
}

function sentence({ s, keys, query, names, now, layers }) {
  const best = names[now.weights.indexOf(now.largest)];
  const first = now.gradient < 0.005 ? WORDS.saturated(best)
    : now.largest <= 1.2 / s.n && Math.min(...now.weights) >= 0.8 / s.n ? WORDS.average
    : WORDS.winner(best, now.largest);
  // A long key is loud only where it points the query's way: at an obtuse angle its length silences it.
  const lengths = keys.map(norm);
  const longest = argmax(lengths);
  const away = s.K <= 2 && s.kind.endsWith("dot") && inner(query, keys[longest]) < -0.3;
  const root = `√K\u00a0=\u00a0${format(Math.sqrt(s.K), 1)}`;
  const bound = layers.v.reduce((sum, x) => sum + Math.abs(x), 0);
  const hush = away ? WORDS.silenced(names[longest], now.raw[longest]) : "";
  return first + hush + WORDS.why[s.kind]({ root, bound, spread: () => bilinearSpread(layers) });
}

export default guard(render);
