/**
 * Rotary positions: two words turn two hands on every clock, and the angle between them knows only
 * their distance.
 */
import { chart } from "../kit/charts.js";
import { clock } from "./hands.js";
import { bars, choice, count, format, frame, ghost, guard, h, legend, limits, live, report, select, setter,
  slider, words } from "../kit/kit.js";
import { pairing } from "./pairing.js";
import { attentionFactor, frequencies, pairs as joined, partners, plainFrequencies, rotate,
  score } from "../twin/rotary.js";
import { tabs } from "../kit/tabs.js";
import { track } from "./track.js";
import { gaussian } from "../twin/twin.js";

const [TURN, DRAWS] = [2 * Math.PI, 5];
const degrees = (angle) => (angle * 360) / TURN;
const WORDS = {
  title: "Two hands on every clock", clocks: "One clock for each pair of coordinates, and how many words "
    + "one turn takes",
  track: {
    caption: "Drag a coloured word, or the bar above both",
    grips: { i: "query word", j: "key word", both: "both words" },
    names: { i: "query", j: "key" }, gap: "…", at: (word, place) => `${word}, position ${place}`,
    distance: (d) => `distance ${d}`,
  },
  views: { angles: "angles", score: "score", pairs: "which two", scaling: "longer texts" },
  open: "below the clocks",
  clock: (n) => `clock ${n}`, every: (n) =>
    `${n < 100 ? format(n, 1) : Math.round(n).toLocaleString("en-US")} words`,
  base: "base", peak: "largest at distance", pairing: "pairs", scaling: "scaling", factor: "factor",
  trained: "words in training",
  skip: "words between", bases: { 10000: "10,000 (usual)", 100: "100", 1000: "1,000",
    500000: "500,000 (LLaMA 3)", 1000000: "1,000,000" },
  layouts: { halves: "i with i + K/2 (transformers)", interleaved: "neighbours (the paper)",
    mixed: "both at once (a bug)" },
  scalings: { none: "none", linear: "linear", dynamic: "dynamic", yarn: "YaRN", llama3: "LLaMA 3" },
  sums: { head: ["hand", "position × angle per word", "angle"], query: "query hand", key: "key hand",
    between: "between them" },
  sum: (n, angle) => `${n} × ${format(degrees(angle), 2)}°`, angle: (a) => `${format(degrees(a), 1)}°`,
  scores: "Score of one query and one key, by their distance", distance: "distance", score: "score",
  here: "you are here",
  ones: "all ones", random: `random (${DRAWS} draws)`, built: "constructed",
  coordinates: "The coordinates of a head; an arc joins two that turn together", clockName: "clock",
  shifted: "The same two words, moved further into the text", shift: "words before them",
  speeds: "Speed of each clock, as a share of what it was", speed: "speed left", turns: "turns in training",
  legend: [["query", "query hand"], ["key", "key hand"], ["score", "angle between"],
    ["residual", "angles seen in training"]],
  say: {
    together: (by) => `Both words have moved by ${by}. All hands have turned, and no angle between two `
      + `hands has changed.`,
    angles: (q, k, d, n, a) => `“${q}” and “${k}” stand ${d} apart. On clock ${n} that is an angle of `
      + `${format(degrees(a), 1)}°, `
      + `wherever in the text the two stand. Its cosine is ${format(Math.cos(a), 3)}.`,
    score: (d, ones, built, peak) => `At distance ${d}, equal vectors of ones score ${format(ones, 3)}, `
      + `and the query constructed for `
      + `distance ${peak} scores ${format(built, 3)}. The random ones rise and fall as they please.`,
    halves: (c, all) => `Coordinate ${c} turns with coordinate ${c + all}. The score stays the same `
      + `wherever the two words stand.`,
    interleaved: (c) => `Coordinate ${2 * c} turns with its neighbour ${2 * c + 1}. The score stays the `
      + `same wherever the two words stand.`,
    mixed: () => "Partners are taken from one layout and angles from the other. Now the score depends on "
      + "where the two words stand.",
    none: (d, seen, lost, all) =>
      `${d < seen ? `Distance ${d} lies within the ${seen} words of training.`
        : `Training showed distances up to ${seen - 1}; `
      + `at distance ${d}, ${lost} of the ${all} clocks `
      + `${lost === 1 ? "shows an angle that it" : "show angles that they"} never had.`}`,
    slowed: (same, slow, lost, reach) => `${same} of the ${same + slow} clocks `
      + `keep${same === 1 ? "s its" : " their"} speed, ${slow} turn${slow === 1 ? "s" : ""} slower. `
      + `${lost ? `${lost} still show${lost === 1 ? "s" : ""} an angle beyond training.`
      : "Every angle is one that training has shown."}${reach}`,
    reach: (factor, trained, d) => ` Factor ${factor} stretches ${trained} words to ${factor * trained}; `
      + `distance ${d} is `
      + `${d < factor * trained ? "within" : "beyond"} that.`,
  },
};

function read(model) {
  const given = words(model, "tokens").filter((word) => word.trim());
  const tokens = given.length > 1 ? given
    : ["the", "red", "fox", "saw", "a", "big", "dog", "by", "the", "old", "oak"];
  const i = count(model, "i", undefined, tokens.length - 1);
  const skip = count(model, "skip");
  const half = Math.ceil(tokens.length / 2);
  return {
    dim: 2 * (limits(model, "pair").high + 1), tokens, i, j: count(model, "j", undefined, i), skip, half,
    places: tokens.map((_, n) => n + (n >= half ? skip : 0)),
    pair: count(model, "pair"), peak: count(model, "peak"),
    view: choice(model, "view"),
    base: choice(model, "base"), layout: choice(model, "pairing"),
    scaling: choice(model, "scaling"),
    factor: count(model, "factor"), trained: count(model, "max_seq_len"),
  };
}

/** Angles a word of each clock: as they are, and before any scaling. */
export function speeds({ dim, scaling, base, factor, trained, tokens, skip }) {
  const given = { dim, base: Number(base), factor, maxSeqLen: trained, length: tokens.length + skip };
  return { thetas: frequencies(scaling, given), plain: plainFrequencies(dim, Number(base)),
    amount: attentionFactor(scaling, factor) };
}

/** Random queries and keys, of this size each. @param {number} dim @returns {[any, any][]} */
export const vectors = (dim) => Array.from({ length: DRAWS },
  (_, n) => gaussian(301 + n, 2 * dim)).map((all) => [all.slice(0, dim), all.slice(dim)]);

/** Scores at each distance: of ones, of a query made to be largest at `peak`, and of random vectors. */
export function scoreCurves(thetas, drawn, { peak, until, amount = 1 }) {
  const ones = new Array(2 * thetas.length).fill(1);
  const x = Array.from({ length: until + 1 }, (_, d) => d);
  const along = (q, k) => x.map((d) => score(q, k, [d, 0], thetas, "halves", amount));
  return { x, ones: along(ones, ones), built: along(rotate(ones, -peak, thetas), ones),
    random: drawn.map(([q, k]) => along(q, k)) };
}

/** The score of one pair of vectors, moved through a text of 65 places. */
export const shifted = (thetas, [q, k], layout, distance) =>
  Array.from({ length: 65 }, (_, s) => score(q, k, [s + distance, s], thetas, layout));

/**
 * Whether a clock shows a difference that training, up to `trained` words, had not: past its
 * largest, where that is below a turn. Of whole turns a hand shows nothing.
 */
const unseen = (theta, plain, distance, trained) =>
  plain * (trained - 1) < TURN && (theta * distance) % TURN > plain * (trained - 1) + 1e-9;

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "rotary-clock" });
  const put = setter(model);
  const pairs = Array.from({ length: limits(model, "pair").high + 1 }, (_, n) => n);
  const drawn = vectors(2 * pairs.length);
  const sentence = track(view, { text: WORDS.track, move: (i, j) => put({ i, j }) });
  const large = clock("p-large");
  const small = pairs.map(() => clock("p-small"));
  const told = pairs.map(() => h("span", {}));
  const choose = pairs.map((n) => h("button", { type: "button", class: "p-clock-button", "data-pair": n,
    onclick: () => put({ pair: n }) }, small[n].svg, h("b", {}, WORDS.clock(n)), told[n]));
  const key = h("div", {});
  const views = limits(model, "view").options;
  const open = tabs(view, model, "view",
    { label: WORDS.open, options: views.map((name) => [name, WORDS.views[name]]) });
  const panels = Object.fromEntries(views.map((name) =>
    [name, h("div", { class: "p-panel", "data-view": name })]));
  const boxes = Object.fromEntries(views.map((name) => [name, h("div", { class: "p-controls" })]));
  const menu = (trait, values, names, where) => boxes[where].append(
    select(view, model, trait, { label: WORDS[trait], options: values.map((one) => [one, names[one]]) }).box);
  menu("base", limits(model, "base").options, WORDS.bases, "angles");
  slider(view, model, "peak", { label: WORDS.peak, into: boxes.score });
  menu("pairing", limits(model, "pairing").options, WORDS.layouts, "pairs");
  menu("scaling", limits(model, "scaling").options, WORDS.scalings, "scaling");
  slider(view, model, "factor", { label: WORDS.factor, into: boxes.scaling });
  slider(view, model, "max_seq_len", { label: WORDS.trained, scale: "power",
    into: boxes.scaling });
  slider(view, model, "skip", { label: WORDS.skip, into: boxes.scaling });
  const sums = h("table", { class: "p-sums" });
  const curves = chart(view, { caption: WORDS.scores, xTitle: WORDS.distance, yTitle: WORDS.score,
    height: 220 });
  const row = pairing(view, { caption: WORDS.coordinates, clock: WORDS.clockName });
  const moved = chart(view, { caption: WORDS.shifted, xTitle: WORDS.shift, yTitle: WORDS.score, height: 160,
    low: -1, high: 1 });
  const speed = bars(view, { caption: WORDS.speeds, nameTitle: WORDS.clockName,
    columns: [{ title: WORDS.speed, role: "score" }, { title: WORDS.turns, role: "residual" }] });
  panels.angles.append(boxes.angles, sums);
  panels.score.append(boxes.score, curves.pane);
  panels.pairs.append(boxes.pairs, row.pane, moved.pane);
  panels.scaling.append(boxes.scaling, speed.pane);
  view.panes.append(sentence.pane, h("figure", { class: "p-pane p-clocks" },
    h("figcaption", {}, WORDS.clocks), large.svg,
    h("div", { class: "p-row", role: "group", "aria-label": WORDS.clocks }, ...choose)), key, open.box,
    ...Object.values(panels));
  const before = ghost();
  /** @type {any} */
  let origin = null; // where the query stood when the distance, or a clock, last changed

  const panel = {
    angles({ places, i, j, pair }, { thetas }) {
      const line = (role, name, n) => h("tr", { "data-role": role }, h("th", { scope: "row" }, name),
        h("td", {}, WORDS.sum(n, thetas[pair])), h("td", {}, WORDS.angle(n * thetas[pair])));
      const names = WORDS.sums;
      sums.replaceChildren(h("tr", {}, ...names.head.map((name) => h("th", { scope: "col" }, name))),
        line("query", names.query, places[i]),
        line("key", names.key, places[j]), line("score", names.between, places[i] - places[j]));
    },
    score({ places, i, j, peak }, { thetas, amount }) {
      const d = places[i] - places[j];
      const found = scoreCurves(thetas, drawn, { peak, until: Math.max(64, d), amount });
      const top = Math.max(...found.ones, ...found.built, ...found.random.flat());
      curves.draw({ x: found.x, at: d, high: 1.2 * top, marks: [{ x: d, name: WORDS.here }], series: [
        { name: WORDS.random, role: "residual", runs: found.random, dashed: true },
        { name: WORDS.ones, role: "score", y: found.ones },
        { name: WORDS.built, role: "query", y: found.built }] });
      return WORDS.say.score(d, found.ones[d], found.built[d], peak);
    },
    pairs({ dim, places, i, j, layout, pair }, { thetas }) {
      row.draw({ partner: partners[layout === "interleaved" ? layout : "halves"](dim),
        pair: joined[layout === "halves" ? layout : "interleaved"](dim),
        chosen: pair });
      const y = shifted(thetas, drawn[0], layout, places[i] - places[j]);
      moved.draw({ x: y.map((_, n) => n), series: [{ name: WORDS.layouts[layout], role: "score", y }] });
      return WORDS.say[layout](pair, pairs.length);
    },
    scaling({ places, i, j, scaling, factor, trained }, { thetas, plain }) {
      const left = thetas.map((theta, n) => theta / plain[n]);
      speed.draw({ names: pairs.map(String),
        series: [{ values: left, top: 1 }, { values: plain.map((theta) => (theta * trained) / TURN) }] });
      const d = places[i] - places[j];
      const lost = pairs.filter((n) => unseen(thetas[n], plain[n], d, trained)).length;
      if (scaling === "none") return WORDS.say.none(d, trained, lost, pairs.length);
      const same = left.filter((one) => one > 1 - 1e-9).length;
      // dynamic goes by the text's own length
      const reach = scaling === "dynamic" ? "" : WORDS.say.reach(factor, trained, d);
      return WORDS.say.slowed(same, pairs.length - same, lost, reach);
    },
  };
  view.onDraw(() => {
    const now = read(model);
    const { tokens, places, skip, half, i, j, pair, view: opened, trained } = now;
    const found = speeds(now);
    const { thetas, plain } = found;
    sentence.draw({ words: tokens, places, gap: skip ? half : null, i, j });
    const angles = thetas.map((theta) => ({ query: places[i] * theta, key: places[j] * theta }));
    const was = before(angles);
    const known = (n) => (opened === "scaling" ? plain[n] * (trained - 1) : null);
    large.draw({ ...angles[pair], ghost: was?.[pair] ?? null, known: known(pair) });
    pairs.forEach((n) => {
      small[n].draw({ ...angles[n], known: known(n) });
      told[n].textContent = WORDS.every(TURN / thetas[n]);
      choose[n].setAttribute("aria-pressed", String(n === pair));
    });
    key.replaceChildren(legend(...WORDS.legend.slice(0, opened === "scaling" ? 4 : 3)));
    views.forEach((name) => { panels[name].hidden = name !== opened; });
    const said = panel[opened](now, found);
    const d = places[i] - places[j];
    const pace = thetas.join();
    if (origin?.d !== d || origin.skip !== skip || origin.pace !== pace) {
      origin = { at: places[i], d, skip, pace };
    }
    const by = Math.abs(places[i] - origin.at);
    view.say(opened === "angles" && by ? WORDS.say.together(by)
      : said ?? WORDS.say.angles(tokens[i], tokens[j], d, pair, thetas[pair] * d));
    report(model, { positions: [places[i], places[j]], frequencies: thetas });
  });
  return live(model, view, () => {
    const { dim, tokens, half, places, trained, layout, ...rest } = read(model);
    return { ...rest, max_seq_len: trained, pairing: layout };
  });
}

export default guard(render);
