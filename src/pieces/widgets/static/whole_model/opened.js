/** A part, opened: its matrices, and beside them the sum of the cell that the pointer is on. */
import { format, h, heatmap, percent } from "../kit/kit.js";
import { createSelection } from "../kit/selection.js";
import { tensor } from "../twin/flat.js";
import { lens, votes } from "../twin/inside.js";
import { probabilities } from "../twin/sampling.js";
import { headline, line, outputSum, projectedSum, routeSum, scoreSum,
  unitSum } from "./sums.js";
import { chapterOf } from "./part_rows.js";
import { called, purpose, WORDS } from "./words.js";
import { argmax } from "../twin/tensor.js";

/** @typedef {import("./columns.js").Column} Column */
/** @typedef {{columns: Column[], before: Column[]|null, words: string[], t: number, off: string[],
 *   strips: string[]}} State */

const say = WORDS.opened;
const UNITS = 12;
const SIX = 6;
const UNDER = 60; // px: the site's bar may lie over them

/** Which view a name opens. @param {string} name */
function viewOf(name) {
  const [, l, part, which] = /^layer\.(\d+)\.(\w+)(?:\.(\w+))?$/.exec(name) ?? [];
  const layer = Number(l);
  if (part === "head") return { kind: "head", layer, head: Number(which) - 1 };
  if (part === "expert") return { kind: "units", layer, expert: Number(which) - 1 };
  if (name === "next word" || name === "norm") return { kind: "next" };
  if (which) return { kind: "stream", name: `layer.${l}.${part}`, norm: which === "norm" };
  if (name === "embedding") return { kind: "stream", name, norm: false };
  if (part === "attention") return { kind: "head", layer, head: -1, whole: name };
  return name === "positions" ? { kind: "head", layer: 1, head: -1, whole: name } : { kind: "units", layer };
}

/** The head of a layer that takes most from one word, of those that are on; −1 where none is.
 *  @param {Column} column @param {number} layer @param {number} heads @param {string[]} off */
export function boldest(column, layer, heads, off = []) {
  const A = column.at(`layer.${layer}.weights`);
  const S = column.t + 1;
  const most = Array.from({ length: heads }, (_, n) => (off.includes(`layer.${layer}.head.${n + 1}`) ? -1
    : Math.max(...A.subarray(n * S, (n + 1) * S))));
  const first = Math.max(...most);
  return first < 0 ? -1 : most.indexOf(first);
}

/** A part's numbers at each word, side by side: [T, width]. @param {Column[]} columns */
const rows = (columns, read) => {
  const list = columns.map(read);
  const all = new Float32Array(list.length * list[0].length);
  list.forEach((row, t) => all.set(row, t * row.length));
  return tensor(all, [list.length, list[0].length]);
};

/**
 * @param {Object} view @param {{model: import("../twin/model.js").TrainedModel, measured: (layer: number,
 *   unit: number) => string[]|null, links: Record<string, string>, close: () => void,
 *   touched: () => void}} options
 */
export function opened(view, { model, measured, links, close, touched }) {
  const experts = Boolean(model.config.n_experts);
  const picked = createSelection();
  let [source, kept] = ["weights", "weights"]; // the map whose cell is told; the one that was pressed last
  const touch = (name) => ({
    point: (i) => { source = i === null ? kept : name; touched(); },
    press: () => { if (name !== kept) picked.clear(); source = kept = name; touched(); },
  });
  // A word that looks is a row; one that is looked at is a column of the weights, and a row of the keys.
  const [asking, answering] = [{ row: "row", column: "column" }, { row: "token", column: "column" }];
  const map = (name, caption, role, columnAxis, signed, selects = asking) => heatmap(view, { caption, role,
    signed, columnAxis, rowAxis: say.word, selection: picked, selects, ...touch(name), digits: 2 });
  const maps = {
    weights: map("weights", say.weights, "weight", say.looks, false, { row: "row", column: "token" }),
    queries: map("queries", say.queries, "query", say.number, true),
    keys: map("keys", say.keys, "key", say.number, true, answering),
    outputs: map("outputs", say.outputs, "output", say.number, true),
    units: map("units", say.open, "output", say.unit, true),
    experts: map("experts", say.shares, "weight", say.expert, false),
    votes: heatmap(view, { caption: say.rows, role: "output", signed: true, rowAxis: say.row,
      columnAxis: say.word, selection: picked, ...touch("votes"), digits: 1 }),
  };
  const title = h("div", { class: "w-open-title", tabindex: "-1" });
  const back = h("button", { type: "button", class: "p-button", onclick: close }, WORDS.back);
  const others = h("div", { class: "w-others" });
  const what = h("p", { class: "w-what" });
  const sum = h("div", { class: "w-sum", "aria-live": "polite" });
  const field = h("div", { class: "w-maps" }, ...Object.values(maps).map(({ pane }) => pane));
  Object.entries(maps).forEach(([name, { pane }]) => pane.classList.add(`w-map-${name}`));
  const list = h("div", { class: "w-stream" });
  field.append(list);
  const head = h("div", { class: "w-open-head" }, back, title, others);
  let shown = "";
  let expected = false; // by a hand, which is led there
  const draw = (wanted) => {
    for (const [name, each] of Object.entries(maps)) each.draw(wanted[name] ?? null);
    list.hidden = !wanted.stream;
  };
  /** The cell that is told: the one pointed at, or where the view begins. */
  const cell = (first, i, j) => {
    const { row, column, token } = picked.now;
    const [at, to] = { weights: [row, token], keys: [token, column] }[source] ?? [row, column];
    return at === null || to === null || at >= i || to >= j ? first : { i: at, j: to, source };
  };

  /** That a part is off, where one of these is. @param {string[]} off @param {string[]} names */
  const silence = (off, ...names) => (names.some((name) => off.includes(name))
    ? [line(say.off, "w-told")] : []);

  /** @param {State} state @param {{layer: number, head: number, whole?: string}} where */
  function headView({ columns, words, t, off }, { layer, head: asked, whole }) {
    const head = asked < 0 ? boldest(columns[t], layer, model.heads) : asked;
    const T = columns.length;
    const K = columns[0].at(`layer.${layer}.queries`).length / model.heads;
    const groups = columns[0].at(`layer.${layer}.keys`).length / K;
    const group = Math.floor((head * groups) / model.heads);
    const part = (name, at) => rows(columns, (one) => one.at(`layer.${layer}.${name}`).subarray(at * K,
      (at + 1) * K));
    const weights = new Float32Array(T * T);
    columns.forEach((one, i) => weights.set(one.at(`layer.${layer}.weights`).subarray(head * (i + 1),
      (head + 1) * (i + 1)), i * T));
    const largest = Math.max(7, Math.min(34, 400 / T));
    draw({ weights: { values: tensor(weights, [T, T]), mask: words.map((_, i) => words.map((_, j) => j <= i)),
      top: 1, rows: words, columns: words, least: 24, largest },
    queries: { values: part("queries", head), print: false, rows: words },
    keys: { values: part("keys", group), print: false, rows: words },
    outputs: { values: part("heads", head), print: false, rows: words } });
    const A = columns[t].at(`layer.${layer}.weights`).subarray(head * (t + 1), (head + 1) * (t + 1));
    const at = cell({ i: t, j: argmax(A), source: "weights" }, T, Math.max(T, K));
    const where = { layer, head, model, words };
    const silent = silence(off, whole ?? "", `layer.${layer}.head.${head + 1}`, `layer.${layer}.attention`);
    const found = at.source === "queries" ? projectedSum(columns, at.i, Math.min(at.j, K - 1), "query", where)
      : at.source === "keys" ? projectedSum(columns, at.i, Math.min(at.j, K - 1), "key", where)
        : at.source === "outputs" ? outputSum(columns, at.i, Math.min(at.j, K - 1), where)
          : scoreSum(columns, at.i, Math.min(at.j, T - 1), where);
    return { name: whole ? say.strongest(whole, `${layer}.${head + 1}`) : say.head(layer, head + 1),
      nodes: [...found, ...silent],
      siblings: Array.from({ length: model.heads }, (_, n) => [`${layer}.${n + 1}`,
        `layer.${layer}.head.${n + 1}`, n === head]) };
  }

  /** @param {State} state @param {{layer: number, expert?: number}} where */
  function unitsView(state, { layer, expert }) {
    const { columns, words, t } = state;
    const siblings = Array.from({ length: model.layers }, (_, l) =>
      [`${l + 1}`, `layer.${l + 1}.feed_forward`,
      l + 1 === layer]);
    if (columns[0].values.has(`layer.${layer}.experts`)) {
      return { siblings, ...expertsView(state, layer, expert) };
    }
    const own = columns[t].at(`layer.${layer}.units`);
    const order = [...own.keys()].sort((a, b) => Math.abs(own[b]) - Math.abs(own[a])).slice(0, UNITS);
    const values = rows(columns, (one) => Float32Array.from(order, (n) => one.at(`layer.${layer}.units`)[n]));
    draw({ units: { values, rows: words, columns: order.map((n) => `${n + 1}`), least: 99,
      largest: Math.max(9, Math.min(30, 400 / words.length)) } });
    maps.units.pane.querySelector("figcaption").textContent = say.widest(order.length, words[t]);
    const { i, j } = cell({ i: t, j: 0 }, words.length, order.length);
    return { name: say.units(layer), siblings, nodes: [...unitSum(columns, i, order[j],
      { layer, model, words }, measured(layer, order[j] + 1)),
      ...silence(state.off, `layer.${layer}.feed_forward`)] };
  }

  /** @param {State} state @param {number} layer @param {number=} expert the one that is opened */
  function expertsView({ columns, words, t, off }, layer, expert) {
    const E = columns[0].at(`layer.${layer}.router`).length;
    const values = rows(columns, (one) => {
      const shares = new Float32Array(E);
      one.at(`layer.${layer}.experts`).forEach((e, slot) =>
        { shares[e] = one.at(`layer.${layer}.shares`)[slot]; });
      return shares;
    });
    draw({ experts: { values, top: 1, rows: words, columns: Array.from({ length: E }, (_, e) => `${e + 1}`),
      largest: 40 } });
    const { i, j } = cell({ i: t, j: expert ?? columns[t].at(`layer.${layer}.experts`)[0] }, words.length, E);
    const named = (e) => `layer.${layer}.expert.${e + 1}`;
    const nodes = [...routeSum(columns, i, j, { layer, model, words }),
      ...silence(off, `layer.${layer}.feed_forward`, expert === undefined ? "" : named(expert))];
    if (expert === undefined) return { name: say.experts(layer), nodes };
    return { name: say.part(named(expert)), nodes, siblings: Array.from({ length: E }, (_, e) =>
      [WORDS.expert(e + 1), named(e), e === expert]) };
  }

  /** What would be said here, before and after a part wrote; of a norm, what it divides.
   *  @param {State} state @param {{name?: string, norm?: boolean}} where */
  function streamView({ columns, words, t, off, strips }, { name: part = "embedding", norm = false }) {
    const index = strips.indexOf(part) - (norm ? 1 : 0);
    const name = strips[index];
    const column = columns[t];
    draw({ stream: true });
    const ranked = (at) => {
      const x = column.at(`${strips[at]}.stream`);
      const p = probabilities(lens(model, tensor(x, [1, x.length]), off).data);
      return [...p.keys()].sort((a, b) => p[b] - p[a]).slice(0, SIX).map((id) =>
        ({ word: model.vocabulary[id], p: p[id] }));
    };
    const bars = (caption, at) => h("figure", {}, h("figcaption", {}, caption),
      ...ranked(at).map(({ word, p }) =>
      h("div", { class: "w-lens-row" }, h("span", {}, word), h("span", { class: "w-lens-track" },
        h("i", { style: `width:${(100 * p).toFixed(1)}%` })), h("span", {}, percent(p)))));
    list.replaceChildren(line(say.lenses(words[t])), h("div", { class: "w-lens-pair" },
      ...(index > 0 ? [bars(say.stream(strips[index - 1]), index - 1)] : []), bars(say.stream(name), index)));
    const size = (x) => Math.sqrt(x.reduce((all, one) => all + one * one, 0) / x.length);
    const added = size(column.at(name));
    const made = index === 0 ? say.start(column.sizes[0])
      : off.includes(`${name}.path`) ? say.skipped(column.sizes[index - 1], added)
        : say.sizes(column.sizes[index - 1], added, column.sizes[index]);
    const divides = off.includes(`${part}.norm`) ? say.unnormed : say.divides;
    const nodes = [headline(say.stream(name)), line(made),
      ...(norm ? [line(divides(called(`${part}.norm`), column.sizes[index]))] : [])];
    const title = norm ? `${part}.norm` : part === "embedding" ? part : `${part}.path`;
    return { name: say.part(title), nodes, siblings: strips.map((one, n) => [n ? one.replace(
      /^layer\.(\d)\.(.).*/, (_, l, kind) => `${l}${kind === "a" ? "A" : "F"}`) : "E", n ? `${one}.path`
        : one, n === index]) };
  }

  /** The votes of every part for the likeliest words. @param {State} state @param {boolean} norm */
  function nextView({ columns, words, t, off }, norm) {
    const column = columns[t];
    const p = column.probabilities;
    const ids = [...p.keys()].sort((a, b) => p[b] - p[a]).slice(0, 10);
    const each = ids.map((id) => votes(model, column.values, id, column.row, off));
    const names = [...each[0].keys()].reverse();
    const values = tensor(Float32Array.from(names.flatMap((name) => each.map((one) => one.get(name)))),
      [names.length, ids.length]);
    const heads = ids.map((id) => model.vocabulary[id]);
    draw({ votes: { values, rows: names.map(called), columns: heads, least: 22,
      largest: Math.max(14, Math.min(40, 430 / names.length)) } });
    const first = names.map((name) => Math.abs(each[0].get(name)));
    const { i, j } = cell({ i: argmax(first), j: 0 }, names.length, ids.length);
    const products = [...each[j]].map(([name, vote]) => /** @type {[string, number, number]} */ (
      [called(name), vote, 1]));
    const logit = products.reduce((all, [, vote]) => all + vote, 0);
    return { name: say.part(norm ? "norm" : "next word"), siblings: [], nodes: [
      headline(say.against(names[i], each[j].get(names[i]), heads[j])),
      voteList(products, logit), line(say.probability(logit, p[ids[j]], model.vocabulary.length)),
      ...(norm ? silence(off, "norm") : [])] };
  }

  return {
    box: h("div", { class: "w-open", hidden: true }, head, what, field),
    sum,
    /** The next opening was asked for by hand. */
    expect() { expected = true; },
    /** It has been opened: the focus goes there, and so does the page where a hand asked for it. */
    arrive() {
      title.focus({ preventScroll: true });
      const { top } = head.getBoundingClientRect();
      if (expected && (top < UNDER || top > innerHeight - UNDER)) {
        head.scrollIntoView({ behavior: "instant" });
      }
      expected = false;
    },
    /** @param {string} name @param {State} state @param {(name: string) => void} go */
    draw(name, state, go) {
      if (name !== shown) { picked.clear(); picked.leave(); source = kept = "weights"; }
      shown = name;
      const wanted = viewOf(name);
      const found = wanted.kind === "head" ? headView(state, /** @type {any} */ (wanted))
        : wanted.kind === "units" ? unitsView(state, /** @type {any} */ (wanted))
          : wanted.kind === "stream" ? streamView(state, wanted) : nextView(state, name === "norm");
      title.textContent = found.name;
      what.textContent = purpose(name, experts) + (wanted.kind === "stream" ? "" : say.signs);
      const { address, number } = chapterOf(name.replace(/head\.\d+$/, "attention")
        .replace(/expert\.\d+$/, "feed_forward"), links, experts);
      if (number) what.append(" ", h("a", { href: address }, say.chapter(number)));
      const key = JSON.stringify(found.siblings);
      if (others.dataset.key !== key) {
        others.dataset.key = key;
        others.replaceChildren(.../** @type {[string, string,
          boolean][]} */ (found.siblings).map(([text, other, now]) => h("button", { type: "button",
          class: "w-other", "aria-label": WORDS.open(other), "aria-pressed": String(now),
          onclick: () => go(other) }, text)));
      }
      sum.replaceChildren(...found.nodes);
    },
    hide() { draw({}); shown = ""; },
  };
}

/** Votes, the largest first, as the sum that the logit is. @param {[string, number, number][]} products */
function voteList(products, logit, most = 7) {
  const sorted = [...products].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const top = Math.abs(sorted[0]?.[1]) || 1;
  const rest = sorted.slice(most);
  const row = (label, value, name) => h("tr", { class: name }, h("th", { scope: "row" }, label),
    h("td", { class: value < 0 ? "w-less" : "w-more",
      style: `--share:${(Math.abs(value) / top).toFixed(3)}` },
      format(value)));
  return h("table", { class: "w-products w-votes" }, h("tbody", {},
    ...sorted.slice(0, most).map(([label, value]) => row(label, value, "")),
    ...(rest.length ? [row(WORDS.rest(rest.length), rest.reduce((sum, [, value]) => sum + value, 0),
      "w-rest")] : []),
    row(say.logit, logit, "w-total")));
}
