/** RouterExplorer: which expert takes which word of a text, layer by layer, in a trained model. */
import { bars, chance, count, format, frame, guard, h, limits, listed, live, percent, real, report, setter,
  slider, text } from "../kit/kit.js";
import { chips } from "../kit/chips.js";
import { expertCards, roleOf } from "./expert_cards.js";
import { loadModel, rowOf } from "../twin/model.js";
import { likeliest } from "../twin/reading.js";
import { routes } from "./routing.js";
import { createSelection } from "../kit/selection.js";
import { followedWord } from "../kit/followed.js";
import { truths } from "../stories/truth.js";
import { fromPerfect } from "../kit/perfect.js";
import { typedText } from "../kit/typed_text.js";
import { argmax } from "../twin/tensor.js";

const ROWS = 5;
const WORDS = {
  title: "Which expert takes which word",
  typed: (n) => `A text in the ${n} words that the model knows`,
  hint: "Write a text of your own, and press a word to follow it through the layers.",
  each: (l, limited) => `Layer ${l}: the experts of each word, ` + (limited
    ? "best first; its colour is that of the first with room" : "the best one first, whose colour it takes"),
  story: "The words", full: "no room", none: "–",
  at: (word, list) => `${word}, ${list.length ? `expert ${listed(list)}` : "no expert"}`,
  ways: (word) => `The path of “${word}” through the layers`, layer: (l) => `layer ${l}`,
  way: (l, list) => `Layer ${l}: ${listed(list)}. Show this layer`, visit: (e, w) => `expert ${e} with ${w}`,
  cards: "The experts of this layer", expert: (e) => `Expert ${e}`, shut: "Shut", open: "Open",
    closed: "shut",
  keep: (k) => `Each word visits ${k}, so ${k} must stay open`,
  shuts: (e) => `Shut expert ${e}`, opens: (e) => `Open expert ${e}`,
  score: (score, weight) => `score ${score}${weight ? ` → ${weight}` : ""}`,
  load: (share) => percent(share),
  sum: (word, scores, weights) => `“${word}”: softmax(${scores.join(", ")}) = ${weights.join(", ")}`,
  even: (loss, k, E) => `Balance loss of this text: ${format(loss)} `
    + `(${k} if all experts get equal shares, ${E} at worst).`,
  room: "room per expert",
    rooms: (factor, visits) => (factor ? `${visits} visit${visits === 1 ? "" : "s"}` : "no limit"),
  next: (word) => `The next word after “${word}”`, likely: "The next word", word: "word",
    probability: "model", truth: "true",
  table: "Who visits whom", head: ["word", "layer", "experts", "weights"],
  goes: (word, l, list) => `In layer ${l}, “${word}” goes to ${listed(list)}. `,
  busiest: (list, share, fair) => `Of all visits there, ${list.length > 1
    ? `experts ${listed(list)} get ${percent(share)} each` : `expert ${list[0]} gets ${percent(share)}`}; `
    + `a fair share is ${percent(fair)}.`,
  lost: (n, l) => (n === 1 ? `One visit of layer ${l} finds no room. `
    : n ? `${n} visits of layer ${l} find no room. ` : ""),
  stays: (word, p) => `“${word}” stays at ${percent(p)}.`,
  moves: (word, from, to) =>
    `“${word}” ${to < from ? "falls" : "rises"} from ${percent(from)} to ${percent(to)}.`,
  leads: (word, p) => ` Now “${word}” leads with ${percent(p)}.`,
};

/** The traits as they are used: within the model's layers and experts and the words in the text. */
function usedTraits(traits, model, read) {
  const { n_experts: E, k } = model.config;
  return () => {
    const given = traits.get("closed");
    /** @type {number[][]} */
    const closed = [];
    for (const pair of Array.isArray(given) ? given : []) {
      const [l, e] = Array.isArray(pair) && pair.length === 2 ? pair : [0, 0];
      const real = Number.isInteger(l) && Number.isInteger(e) && l >= 1 && l <= model.layers && e >= 1
        && e <= E;
      const known = closed.some(([a, b]) => a === l && b === e);
      if (real && !known && closed.filter(([a]) => a === l).length < E - k) closed.push([l, e]);
    }
    const capacity = real(traits, "capacity");
    const reading = read(text(traits, "text"), closed.map(([l, e]) => [l - 1, e - 1]), capacity);
    return { reading, closed, capacity, layer: count(traits, "layer", undefined, model.layers) };
  };
}

/** The layers as rows of one word's experts, each as wide as its weight; pressing one shows that layer. */
function ways(layers, show) {
  const rows = Array.from({ length: layers }, (_, l) => {
    const bar = h("span", { class: "p-way-bar" });
    const row = h("button", { type: "button", class: "p-way", onclick: () => show(l + 1) },
      h("span", { class: "p-way-name" }, WORDS.layer(l + 1)), bar);
    return { row, bar };
  });
  const label = h("figcaption", {});
  const pane = h("figure", { class: "p-pane p-ways" }, label, ...rows.map(({ row }) => row));
  return {
    pane,
    draw(word, journey, t, layer) {
      label.textContent = WORDS.ways(word);
      rows.forEach(({ row, bar }, l) => {
        const { experts, weights, room } = journey.layers[l];
        const visits = experts[t].map((e, c) => ({ e, w: weights[t][c], has: room[t][c] }));
        row.setAttribute("aria-pressed", String(l + 1 === layer));
        row.setAttribute("aria-label", WORDS.way(l + 1, visits.map(({ e, w, has }) =>
          WORDS.visit(e + 1, has ? chance(w) : WORDS.full))));
        bar.replaceChildren(...visits.map(({ e, w, has }) => h("span", { "data-role": roleOf(e),
          "data-expert": e + 1,
          class: has ? "p-way-part" : "p-way-part p-dropped", style: `flex-grow: ${Math.max(w, 0.0001)}` },
        `${e + 1}`, h("small", {}, has ? ` ${chance(w)}` : ` ${WORDS.none}`))));
      });
    },
  };
}

async function render({ model: traits, el }) {
  const model = await loadModel(traits);
  const { vocabulary, layers } = model;
  const { n_experts: E, k } = model.config;
  const view = frame(el, { title: WORDS.title, name: "router-explorer" });
  const selection = createSelection();
  const now = usedTraits(traits, model, routes(model, limits(traits, "token").high));
  const put = setter(traits);
  let pointed = null; // the expert under the pointer

  const typing = { get: traits.get.bind(traits), save_changes: () => traits.save_changes(),
    set: (name, value) => traits.set({ [name]: value, token: 0 }) };
  const field = typedText(view, typing, model, WORDS);
  const story = chips({ label: WORDS.story, selection });
  view.onDispose(story.stop);
  const label = h("figcaption", {});
  const words = h("figure", { class: "p-pane p-routed" }, label, story.box);
  const way = ways(layers, (layer) => put({ layer }));
  const cards = expertCards({ say: WORDS, point(e) { pointed = e; view.redraw(); }, turn(e) {
    const { closed, layer } = now();
    const others = closed.filter(([l, n]) => l !== layer || n !== e + 1);
    put({ closed: others.length < closed.length ? others : [...closed, [layer, e + 1]] });
  } });
  const sum = h("p", { class: "p-router-sum" });
  const even = h("span", {});
  const next = bars(view, { caption: WORDS.likely, nameTitle: WORDS.word,
    columns: [{ title: WORDS.probability, role: "output" }, { title: WORDS.truth, role: "weight" }],
    print: chance });
  const truthOf = truths(model);
  const room = { get: () => now().capacity, set: traits.set.bind(traits),
    save_changes: () => traits.save_changes() };
  const last = (factor) => factor || Infinity; // no limit is the most room
  const widest = limits(traits, "capacity").high; // fair shares are all the room an expert can be given
  const rooms = Array.from({ length: 4 * widest }, (_, n) => (n + 1) / 4); // the slider stops at these
  slider(view, room, "capacity", { label: WORDS.room,
    stops: () => [...new Set([...rooms, now().capacity, 0])].sort((a, b) => last(a) - last(b)),
    show: (factor) => WORDS.rooms(factor, now().reading.now?.capacity ?? 0) });
  view.controls.append(even);
  view.controls.before(field.box);
  const inner = h("div", { class: "p-pane p-inner" }, cards.box, sum);
  next.pane.append(view.sentence);
  view.panes.append(words, way.pane, next.pane, inner);
  view.panes.after(view.controls);
  view.table(WORDS.table, () => {
    const { reading } = now();
    return reading.now && { head: WORDS.head, rows: reading.words.flatMap((word, t) =>
      reading.now.layers.map((one, l) =>
      [word, String(l + 1), one.experts[t].map((e) => e + 1).join(", "), one.weights[t].map((w) =>
        chance(w)).join(", ")])) };
  });

  const followed = followedWord(view, traits, selection, () => now().reading.ids.length);

  /** The words, their experts' numbers below; the colour is the first one's, as strong as its weight. */
  function paintWords({ experts, weights, room }, list) {
    const visits = list.map((_, t) => experts[t].flatMap((e, c) => (room[t][c] ? [e + 1] : [])));
    story.draw(list.map((word, t) => ({ text: word, label: WORDS.at(word, visits[t]) })));
    const sought = pointed === null ? null : pointed + 1;
    const visited = visits.some((experts) => experts.includes(sought)); // none where it is shut
    list.forEach((_, t) => {
      const node = story.node(t);
      const best = experts[t].findIndex((_e, c) => room[t][c]);
      node.dataset.value = experts[t].map((e, c) => (room[t][c] ? e + 1 : WORDS.none)).join(" ");
      node.dataset.role = best < 0 ? "" : roleOf(experts[t][best]);
      node.style.setProperty("--seen", `${best < 0 ? 0 : Math.round(48 * weights[t][best])}%`);
      node.classList.toggle("p-elsewhere", visited && !visits[t].includes(sought));
    });
  }
  function told({ reading, closed, capacity, layer }, t, after, before) {
    const here = reading.now.layers[layer - 1];
    const visits = here.experts[t].map((e, c) => WORDS.visit(e + 1, here.room[t][c]
      ? chance(here.weights[t][c]) : WORDS.full));
    const goes = WORDS.goes(reading.words[t], layer, visits);
    const most = Math.max(...here.load);
    if (!closed.length && !capacity) {
      return goes + WORDS.busiest(here.load.flatMap((share, e) => (share === most ? [e + 1] : [])), most,
        1 / E);
    }
    const [was, is] = [before, after].map(argmax);
    const lost = here.room.flat().filter((has) => !has).length;
    return goes + WORDS.lost(lost, layer) + (percent(after[was]) === percent(before[was])
      ? WORDS.stays(vocabulary[was], after[was])
      : WORDS.moves(vocabulary[was], before[was], after[was])) + (is === was ? ""
        : WORDS.leads(vocabulary[is], after[is]));
  }
  fromPerfect(view, model);
  view.onDraw(() => {
    const state = now();
    const { reading, closed, capacity, layer } = state;
    const T = reading.ids.length;
    field.draw(reading);
    [...view.panes.children, view.controls].forEach((part) =>
      { /** @type {HTMLElement} */ (part).hidden = !T; });
    if (!T) return report(traits, { experts: [], weights: [], load: [], balance: [], next_words: [] });
    followed.mark();
    const t = followed.at();
    const here = reading.now.layers[layer - 1];
    const shut = closed.filter(([l]) => l === layer).map(([, e]) => e - 1);
    label.textContent = WORDS.each(layer, capacity > 0);
    paintWords(here, reading.words);
    way.draw(reading.words[t], reading.now, t, layer);
    cards.draw({ layer: here, words: reading.words, t, closed: shut, may: shut.length < E - k,
      capacity: reading.now.capacity });
    cards.light(pointed);
    const best = here.experts[t].map((e) => format(here.logits[t][e]));
    sum.textContent = WORDS.sum(reading.words[t], best, here.weights[t].map((w, c) => (here.room[t][c]
      ? chance(w) : WORDS.none)));
    even.textContent = WORDS.even(here.balance, k, E);
    const [after, before] = [reading.now, reading.plain].map(({ probabilities }) => rowOf(probabilities, t));
    const rows = likeliest(after, before, vocabulary, ROWS);
    const { truth } = truthOf(reading.words.slice(0, t + 1), traits.get("world"));
    next.pane.querySelector("figcaption").textContent = WORDS.next(reading.words[t]);
    next.draw({ names: rows.map(([word]) => word), series: [{ values: rows.map(([, p]) => p), top: 1,
      ghost: closed.length || capacity ? rows.map(([, , p]) => p) : null },
    { values: rows.map(([word]) => (truth ? truth[model.idOf(word)] : NaN)), top: 1 }] });
    view.say(told(state, t, after, before));
    const of = (name) => reading.now.layers.map((one) => one[name]);
    report(traits, { experts: of("experts").map((rowsOf) => rowsOf.map((row) => row.map((e) => e + 1))),
      weights: of("weights"),
      load: of("load"), balance: of("balance"), next_words: rows });
  });
  return live(traits, view, () => {
    const { layer, closed, capacity } = now();
    return { layer, token: followed.wished(), closed, capacity };
  });
}

export default guard(render);
