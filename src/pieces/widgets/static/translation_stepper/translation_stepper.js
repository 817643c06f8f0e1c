/** TranslationStepper: an encoder-decoder translates in the page, and each word can be overruled. */
import { bridge } from "../kit/bridge.js";
import { grouped } from "../kit/chinese.js";
import { chineseSentence } from "../kit/chinese_sentence.js";
import { chance, choice, count, frame, guard, h, heatmap, limits, live, report, select, setter,
  slider, text } from "../kit/kit.js";
import { fromPerfect } from "../kit/perfect.js";
import { player } from "../kit/player.js";
import { createSelection } from "../kit/selection.js";
import { tabs } from "../kit/tabs.js";
import { loadModel, rowOf } from "../twin/model.js";
import { sourceReader } from "../twin/source_text.js";
import { beamStep, logged } from "./beam_step.js";
import { beamTree } from "./beam_tree.js";
import { attended, choicesIn, decoding } from "./decoding.js";
import { nextWords, yourChoices } from "./next_words.js";
import { WORDS } from "./words.js";
import { argmax } from "../twin/tensor.js";

const ROWS = 5; // candidates that have a row of their own
const SLANTED = 190; // px of all columns together, with room beside them for the last slanted word

/** What a row of cross-attention looked at most, and with how much. */
function most(values, row, groups) {
  const seen = rowOf(values, row);
  const at = argmax(seen);
  const signs = groups.flatMap(({ words, gloss }) => words.map((sign) => [sign, words.join(""), gloss]));
  return [WORDS.meaning(...signs[at]), chance(seen[at], 2)];
}

async function render({ model: traits, el }) {
  const model = await loadModel(traits);
  const { vocabulary } = model;
  const view = frame(el, { title: WORDS.title, name: "translation-stepper" });
  const selection = createSelection();
  const longest = limits(traits, "overruled").high;
  const { readable, read } = sourceReader(model, longest);
  const { greedy, beams, inside, odds, begin, end } = decoding(model, longest);
  const put = setter(traits);
  const name = (id) => vocabulary[id];
  const said = (ids) => ids.filter((id) => id !== begin && id !== end).map(name);

  /** The traits as they are used, and what follows from them: no path where nothing is read.
   *  @returns {any} */
  function now() {
    const reading = read(text(traits, "text"));
    const overruled = choicesIn(traits.get("overruled"), longest);
    const state = { reading, overruled, beam: choice(traits, "search") === "beam",
      n: count(traits, "n_beams"), kind: choice(traits, "attention"),
      layer: count(traits, "layer", undefined, model.layers),
      head: count(traits, "head", undefined, model.heads) };
    const source = reading.ids;
    if (!source.length) return { ...state, step: count(traits, "step"), last: 0 };
    const found = /** @type {any} */ (state.beam ? beams(source, state.n) : greedy(source, overruled));
    const last = (state.beam ? found.steps : found.ids).length - 1;
    const step = count(traits, "step", 0, last);
    if (!state.beam) return { ...state, found, last, step, path: found.ids.slice(0, step + 1) };
    const { open, candidates: [{ from, id }], closed } = found.steps[step];
    const path = closed ? found.ids.slice(1) : [...open[from].ids.slice(1), id];
    return { ...state, found, last, step, path, closed };
  }
  /** Take a word at the step that is shown, and go on from it. */
  function take(word) {
    const { overruled, step, found } = now();
    const others = overruled.filter(([place]) => place !== step + 1);
    const own = name(argmax(found.odds[step]));
    put({ overruled: word === own ? others : [...others, [step + 1, word]].sort((a, b) => a[0] - b[0]),
      step: Math.min(step + 1, limits(traits, "step").high) });
  }
  const back = (place) => put({ overruled: place === null ? []
    : now().overruled.filter(([other]) => other !== place) });
  const go = (step) => put({ step });

  const field = chineseSentence(view, traits, model, { readable,
    examples: WORDS.examples.map((one, n) => [one, `${one} (${WORDS.english[n]})`]),
    also: () => ({ overruled: [], step: 0 }) }); // another one begins afresh
  select(view, traits, "search", { label: WORDS.search, options: WORDS.searches });
  const width = slider(view, traits, "n_beams", { label: WORDS.beams });
  const stage = h("div", { class: "p-stage" });
  const film = player(view, { label: WORDS.player, states: 2, tween: 0, dwell: 1100, into: stage,
    name: WORDS.written, show: (at) => { if (Math.round(at) !== now().step) go(Math.round(at)); } });
  const line = h("p", { class: "p-read" });
  const yours = yourChoices({ say: WORDS, back });
  const ink = bridge(view, { caption: WORDS.bridge, left: WORDS.left, right: WORDS.right, lang: "zh-Hans",
    selection });
  const next = nextWords(view, { say: WORDS, take });
  const branching = beamStep(view, { say: WORDS, word: name });
  const tree = beamTree(view, { say: WORDS, word: name });
  const kinds = tabs(view, traits, "attention", { label: WORDS.kind, options: WORDS.kinds });
  const which = h("div", { class: "p-which" }, h("div", { "data-trait": "attention" }, kinds.box));
  slider(view, traits, "layer", { label: WORDS.layer, max: model.layers, into: which });
  slider(view, traits, "head", { label: WORDS.head, max: model.heads, into: which,
    show: (n) => (n ? String(n) : WORDS.mean) });
  const look = { role: "weight", press: go, presses: WORDS.presses };
  const maps = {
    cross: heatmap(view, { ...look, caption: WORDS.cross, rowAxis: WORDS.token, columnAxis: WORDS.character,
      selection }),
    decoder: heatmap(view, { ...look, caption: WORDS.decoder, rowAxis: WORDS.token, columnAxis: WORDS.token,
      selection, selects: { row: "row", column: "token" } }),
    encoder: heatmap(view, { role: "weight", caption: WORDS.encoder, rowAxis: WORDS.character,
      columnAxis: WORDS.character }),
  };
  const passes = h("p", { class: "p-aside p-passes" });
  which.append(passes);
  const looks = h("div", { class: "p-look" }, which, ...Object.values(maps).map(({ pane }) => pane));
  view.controls.after(field.box, stage, line, yours.box, view.sentence);
  view.panes.append(ink.pane, next.pane, tree.pane, branching.pane);
  view.panes.after(looks);
  fromPerfect({ sentence: looks }, model);

  view.onDispose(selection.subscribe((is, was) => {
    const { row } = selection.picked;
    const { path } = now();
    if (row !== null && path && row < path.length - 1) go(row);
    if (is.row !== was.row && !view.drawing) view.redraw();
  }));

  /** What the decoder has read, the word that is chosen behind it, and which words are the reader's. */
  function tell({ path, overruled, beam, closed }) {
    const places = new Set(beam ? [] : overruled.filter(([at, word]) => name(path[at - 1]) === word)
      .map(([at]) => at));
    const marked = (n) => (n === path.length ? "p-now" : "") + (places.has(n) ? " p-own" : "");
    line.replaceChildren(h("span", { class: "p-read-head" },
      closed ? WORDS.won : beam ? WORDS.lead : WORDS.read), " ",
      ...[begin, ...path].flatMap((id, n) => [n === path.length ? `${WORDS.then} ` : "",
        h("span", { "data-place": n, class: marked(n) },
          name(id)), " "]));
  }
  function sentence({ path, step, beam, found, closed, layer, head, n }, values, groups) {
    const on = selection.now.row;
    const [seen, weight] = most(values, Math.min(on ?? path.length - 1, path.length - 1), groups);
    const who = WORDS.of(layer, head);
    if (on !== null && on < path.length - 1) return WORDS.earlier(name(path[on]), who, seen, weight);
    const looked = WORDS.looked(who, seen, weight);
    if (beam) {
      return (closed ? WORDS.ends(n, said(path).join(" "), logged(found.score))
        : WORDS.leads(path.map(name).join(" "), logged(found.steps[step].candidates[0].total))) + looked;
    }
    const [row, id] = [found.odds[step], path[step]];
    const top = argmax(row);
    const so = [begin, ...path.slice(0, step)].map(name).join(" ");
    return (id === top ? WORDS.gives(so, name(id), chance(row[id], 4))
      : WORDS.instead(so, name(top), chance(row[top], 4), name(id), chance(row[id], 4))) + looked;
  }
  /** The rows of the next word: the likeliest, the reader's where it is none of them, and all others. */
  function rowsOf({ found, step, path }) {
    const row = found.odds[step];
    const order = [...row.keys()].sort((a, b) => row[b] - row[a] || a - b);
    const first = order.slice(0, ROWS);
    if (!first.includes(path[step])) first.push(path[step]);
    const rows = first.map((id) => ({ word: name(id), p: row[id], taken: id === path[step],
      top: id === order[0], rest: null }));
    const rest = order.filter((id) => !first.includes(id));
    const p = rest.reduce((sum, id) => sum + row[id], 0);
    const others = rest.map((id) => [name(id), row[id]]);
    return [...rows, { word: WORDS.others(rest.length), p, rest: others, taken: false, top: false }];
  }
  /** @param {import("../twin/flat.js").Tensor} matrix */
  const rowsIn = (matrix) => Array.from({ length: matrix.shape[0] }, (_, t) => Array.from(rowOf(matrix, t)));
  /** What does not fit is kept, and says why. */
  const whyNot = ({ found, beam }, [place, word]) => (!vocabulary.includes(word) ? WORDS.strange(word)
    : !beam && place > found.ids.length ? WORDS.beyond(place) : "");

  view.onDraw(() => {
    const is = now();
    const { reading, beam, overruled, step, last, found, path, kind, layer, head } = is;
    const empty = !reading.ids.length;
    field.draw(reading);
    width.show(beam);
    [stage, line, looks].forEach((part) => { part.hidden = empty; });
    [next, branching, tree].forEach(({ pane }) => { pane.hidden = empty; });
    ink.pane.hidden = empty || beam; // a search has its tree there, and the map below the weights
    if (empty) {
      [...Object.values(maps), branching, tree].forEach((one) => one.draw(null));
      next.draw([]);
      yours.draw([], "", null);
      view.say("");
      return report(traits, { translation: [], probabilities: [], candidates: [], beams: [], weights: [],
        passes: { encoder: 0, decoder: 0 } });
    }
    film.limit(last + 1);
    if (film.position !== step) film.jump(step);
    selection.pick({ row: path.length - 1, column: null });
    const whole = (beam ? found.ids.slice(1) : found.ids);
    const inner = inside(reading.ids, path).maps;
    const cross = attended(inner, "cross", layer, head);
    const values = attended(inner, kind, layer, head);
    const tokens = [begin, ...path.slice(0, -1)].map(name);
    const groups = grouped(reading.words);
    tell(is);
    yours.draw(overruled.map((one) => ({ place: one[0], word: one[1], why: whyNot(is, one) })),
      beam ? WORDS.unused : "", text(traits, "text"));
    const rows = beam ? [] : rowsOf(is);
    next.draw(rows);
    branching.draw(beam ? found.steps[step] : null);
    tree.draw(beam ? { steps: found.steps, step, lead: [begin, ...path] } : null);
    const mask = kind === "decoder" ? tokens.map((_, i) => tokens.map((_, j) => j <= i)) : undefined;
    const [down, across] = [kind === "encoder" ? reading.words : tokens,
      kind === "decoder" ? tokens : reading.words];
    for (const [own, map] of Object.entries(maps)) map.draw(own !== kind ? null
      : { values, mask, top: 1, rows: down, columns: across,
        largest: mask ? SLANTED / path.length : undefined });
    passes.textContent = WORDS.passes(step + 1, last + 1, beam) + (beam ? WORDS.each(is.n) : "");
    view.say(sentence(is, cross, groups));
    if (!beam) ink.draw({ groups, rows: path.map(name), values: cross }); // last: it asks the page for places
    const words = said(whole);
    report(traits, { translation: words, weights: rowsIn(values),
      probabilities: beam ? odds(reading.ids, whole).slice(0, words.length)
        : words.map((_, t) => found.odds[t][found.ids[t]]),
      candidates: rows.filter(({ rest }) => !rest).map(({ word, p }) => [word, p]),
      beams: beam ? found.steps[step].finished.map(({ ids, total }) =>
        ({ words: said(ids), total, score: total / (ids.length - 1) })) : [],
      passes: { encoder: 1, decoder: step + 1 } });
  });
  return live(traits, view, () => {
    const { reading, overruled, step, layer, head, kind, beam, n } = now();
    const used = { overruled, layer, head, attention: kind, search: beam ? "beam" : "greedy", n_beams: n };
    return reading.ids.length ? { ...used, step } : used;
  });
}

export default guard(render);
