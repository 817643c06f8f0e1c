/** SamplingExplorer: a trained model writes on, word by word, and each draw is seen before it is made. */
import { choices, drawLine, percents } from "./choices.js";
import { count, frame, guard, h, limits, live, real, report, setter, slider, text,
  words } from "../kit/kit.js";
import { loadModel } from "../twin/model.js";
import { candidates, distances, drawn, needle } from "./next_word.js";
import { prose } from "../stories/prose.js";
import { truths } from "../stories/truth.js";
import { fromPerfect } from "../kit/perfect.js";
import { typedText } from "../kit/typed_text.js";
import { keptPerWord, writer } from "./writer.js";

const ROWS = 8; // candidates that have a row of their own
const PACE = 420; // ms from word to word
const STOPS = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 0]; // of top-k; 0 keeps all
const grouped = (n) => n.toLocaleString("en");
const WORDS = {
  title: "A trained model writes",
  typed: (n) => `The beginning of a story, from the ${n} words that the model knows`,
  empty: "Write a word that the model knows, and it goes on from there.",
  hint: "Write a beginning of your own, or take one:",
  starts: [
    ["a red ball", "Once upon a time there was a shy girl named Lily. She had a red ball. One sunny "
      + "day, she"],
    ["a new story", "In a"],
    ["two friends", "This is the story of Tom and Mia. They wanted"],
    ["a lost kite", "There once was a kind boy named Max. He found a blue kite. One day, he took the blue "
      + "kite to the beach. He put it near the fence and swam. Then he went home without the"],
  ],
  story: "The story so far", back: "Back to before this word",
  play: "Write", pause: "Pause", step: "One word", undo: "Take back",
  again: "Start again", other: "Another draw",
  next: (word) => (word ? `Which word follows “${word}”? Press one to take it.` : "The next word"),
  heads: ["word", "model", "as set", "true"], scale: (top) => `0 to ${top} %`,
  key: [["own", "model"], ["set", "as set"], ["cut", "cut"], ["truth", "true, by the world’s rules"]],
  take: (word, { own, set, truth, cut }, taken, how) => `Take “${word}”: model ${percents(own)} %, `
    + `as set ${cut || `${percents(set)} %`}${truth === null ? "" : `, true ${percents(truth)} %`}`
    + (taken ? `; ${how} next` : ""),
  others: (n, word) => (word ? `${word} + ${n - 1}` : `${n} others`),
  falls: (number, word) => `The draw: ${number.toFixed(2)} falls on “${word}”`,
  greedy: (word) => `No draw: at temperature 0 the likeliest word, “${word}”, is taken`,
  temperature: "temperature", topK: "top-k", topP: "top-p", all: "all",
  apart: (word, share) => `To make the model’s probabilities after “${word}” the true ones, `
    + `${share}\u00a0% of the whole would have to move to other words.`,
  setApart: (share) => ` As set, ${share}\u00a0% would.`,
  kept: (n, all) => ` Of ${all} words, ${n === 1 ? "one is" : `${n} are`} left.`,
  lost: (word) => `No story of this world has “${word}” at the place underlined. From there on the model `
    + "is on its own, and there is no true probability.",
  strange: "The true probabilities are known for the words of the stories only.",
  full: (most, written) => ` The page holds ${most} words: `
    + (written ? "take some back, or start again." : "shorten the beginning."),
  cache: "The cache: keys and values, word by word",
  held: (T, layers, each) => `In the cache: ${T} word${T === 1 ? "" : "s"} × ${layers} layers × 2 × `
      + `${each} numbers = `
    + `${grouped(2 * T * layers * each)}, or ${(8e-3 * T * layers * each).toFixed(1)} kB. `,
  costs: (T) => `The next word adds one column; without the cache all ${T + 1} would be computed.`,
};

async function render({ model: traits, el }) {
  const model = await loadModel(traits);
  const { vocabulary } = model;
  const view = frame(el, { title: WORDS.title, name: "sampling-explorer" });
  const read = writer(model);
  const truthOf = truths(model);
  const most = Math.min(limits(traits, "written").most, model.longest); // words, those of the beginning too
  let timer = 0;
  const put = setter(traits);

  /** The traits as they are used, and what follows from them. */
  function now() {
    const typed = text(traits, "text");
    const { ids: all, unknown } = model.encode(typed);
    const start = all.slice(0, most);
    const written = words(traits, "written").map((word) => model.idOf(word))
      .filter((id) => id !== null).slice(0, most - start.length);
    const k = count(traits, "top_k");
    return { start, written, unknown, over: all.length > most, k, p: real(traits, "top_p"),
      temperature: real(traits, "temperature"), seed: count(traits, "seed") };
  }
  /** The next word, before it is drawn. */
  function ahead(state) {
    const ids = [...state.start, ...state.written];
    const { logits, computed } = read(ids);
    const told = ids.map((id) => vocabulary[id]);
    const { truth, lost } = truthOf(told, traits.get("world"));
    const rules = { temperature: state.temperature, k: state.k || null, p: state.p < 1 ? state.p : null };
    const list = candidates(logits, rules, truth);
    const number = state.temperature ? needle(state.seed, state.written.length) : null;
    const one = drawn(list, number ?? 0);
    return { ids, told, lost, list, number, computed, one, full: ids.length >= most };
  }

  function pause() { clearTimeout(timer); timer = 0; view.redraw(); }
  /** Go on from a written text. @param {string[]} written @param {Object} others */
  const retell = (written, others = {}) => { pause(); put({ written, ...others }); };
  const told = ({ written }) => written.map((id) => vocabulary[id]);
  function write(word = null) {
    const state = now();
    if (!state.start.length || state.start.length + state.written.length >= most) return pause();
    put({ written: [...told(state), word ?? vocabulary[ahead(state).one.id]] });
  }
  const run = view.guarded(() => { write(); if (timer) timer = window.setTimeout(run, PACE); });
  const playing = () => { if (timer) return pause(); timer = 1; run(); };
  view.onDispose(() => clearTimeout(timer));

  const typing = { get: traits.get.bind(traits), save_changes: () => traits.save_changes(),
    set: (name, value) => { pause(); traits.set({ [name]: value, written: [] }); } };
  const field = typedText(view, typing, model, WORDS);
  const offers = WORDS.starts.filter(([, start]) => !model.encode(start).unknown.length)
    .map(([name, start]) => h("button", { type: "button", class: "p-button p-offer",
      onclick: () => retell([], { text: start }) }, name));
  field.box.append(h("div", { class: "p-starts" }, ...offers));
  const story = h("p", { class: "p-story", tabindex: 0, role: "group", "aria-label": WORDS.story });
  const press = (label, onclick) => h("button", { type: "button", class: "p-button", onclick }, label);
  const play = press(WORDS.play, playing);
  const step = press(WORDS.step, () => { pause(); write(); });
  const undo = press(WORDS.undo, () => retell(told(now()).slice(0, -1)));
  const again = press(WORDS.again, () => retell([]));
  const other = press(WORDS.other, () => put({ seed: now().seed < limits(traits, "seed").high
    ? now().seed + 1 : limits(traits, "seed").low }));
  const hand = h("div", { class: "p-hand" }, play, step, undo, again, other);
  const next = choices(view, { say: WORDS, take: (word) => { pause(); write(word); } });
  const line = drawLine(view, WORDS);
  const stops = STOPS.filter((stop) => stop < vocabulary.length && stop <= limits(traits, "top_k").high);
  slider(view, traits, "temperature", { label: WORDS.temperature });
  const ofAll = { get: () => now().k, set: traits.set.bind(traits),
    save_changes: () => traits.save_changes() };
  const last = (k) => k || Infinity; // all of them come after any number
  const kept = () => [...new Set([...stops, now().k])].sort((a, b) => last(a) - last(b));
  slider(view, ofAll, "top_k", { label: WORDS.topK, stops: kept, show: (k) => (k ? String(k) : WORDS.all) });
  slider(view, traits, "top_p", { label: WORDS.topP });
  const held = h("p", { class: "p-cache-say" });
  const blocks = h("div", { class: "p-cache-rows", "aria-hidden": "true" },
    ...Array.from({ length: model.layers }, () => h("span", {}, h("i", {}))));
  const cache = h("figure", { class: "p-pane p-cache" }, h("figcaption", {}, WORDS.cache), blocks, held);
  view.panes.before(field.box, story, hand);
  next.pointed(line.light);
  line.pointed(next.light);
  const settings = h("div", { class: "p-pane p-settings" }, view.controls, view.sentence);
  view.panes.append(next.pane, settings, line.pane);
  view.panes.after(cache);
  story.addEventListener("click", ({ target }) => {
    const at = /** @type {HTMLElement} */ (target).dataset?.written;
    if (at) retell(told(now()).slice(0, Number(at)));
  });

  /** The story as it is printed; a press on a written word goes back to before it. */
  let shown = "";
  function tell({ start }, { told: all, lost }) {
    const key = `${start.length} ${lost} ${all}`;
    if (key === shown) return;
    shown = key;
    story.replaceChildren(...prose(all).flatMap(({ gap, shown }, n) => {
      const given = n < start.length;
      const kind = given ? "p-given" : n === all.length - 1 ? "p-new" : "p-wrote";
      const off = lost < 0 || n < lost ? "" : n === lost ? " p-lost" : " p-after";
      return [gap, h("span", { class: kind + off, "data-written": given ? null : String(n - start.length),
        title: given ? null : WORDS.back }, shown)];
    }));
    story.scrollTop = story.scrollHeight;
  }
  /** The rows: the likeliest, and all others together. */
  function rowsOf({ list, one }, how) {
    const rows = list.slice(0, ROWS).map((each) =>
      ({ name: vocabulary[each.id], one: each, rest: false, drawn: each === one, how }));
    const rest = list.slice(ROWS);
    if (!rest.length) return rows;
    const sum = (key) => rest.reduce((all, each) => all + each[key], 0);
    const outside = rest.includes(one);
    const all = { id: -1, own: sum("own"), set: sum("set"), truth: one.truth === null ? null : sum("truth"),
      cut: !rest.every(({ cut }) => cut) ? "" : rest.every(({ cut }) => cut === rest[0].cut) ? rest[0].cut
        : WORDS.key[2][1] };
    const name = WORDS.others(rest.length, outside ? vocabulary[one.id] : "");
    return [...rows, { name, one: all, rest: true, drawn: outside, how }];
  }
  function sentence(state, { told: all, lost, list, full }, far) {
    const left = list.filter(({ cut }) => !cut).length;
    const moved = far && Math.abs(far.set - far.model) > 1e-6 ? WORDS.setApart(percents(far.set)) : "";
    const apart = far ? WORDS.apart(all.at(-1), percents(far.model)) + moved
      : lost < 0 ? WORDS.strange : WORDS.lost(all[lost]);
    return apart + (left < list.length ? WORDS.kept(left, list.length) : "")
      + (full ? WORDS.full(most, state.written.length > 0) : "");
  }
  fromPerfect(view, model);
  view.onDraw(() => {
    const state = now();
    const T = state.start.length;
    field.draw({ words: state.start.map(String), unknown: state.unknown, over: state.over });
    [story, hand, view.panes, cache].forEach((part) => { part.hidden = !T; });
    if (!T) return report(traits, { candidates: [], distance: null, draw: null, computed: 0 });
    const found = ahead(state);
    tell(state, found);
    const rows = rowsOf(found, state.temperature ? "drawn" : "taken");
    const far = distances(found.list);
    const word = vocabulary[found.one.id];
    next.draw(found.told.at(-1), rows);
    line.draw(rows, found.number, word);
    play.textContent = timer ? WORDS.pause : WORDS.play;
    [play, step].forEach((one) => { one.disabled = found.full; });
    [undo, again].forEach((one) => { one.disabled = !state.written.length; });
    other.disabled = !state.temperature;
    const all = found.ids.length;
    blocks.style.setProperty("--words", String(all));
    blocks.style.setProperty("--most", String(most));
    held.textContent = WORDS.held(all, model.layers, keptPerWord(model)) + WORDS.costs(all);
    view.say(sentence(state, found, far));
    report(traits, { distance: far, draw: [found.number, word], computed: found.computed,
      candidates: rows.filter(({ rest }) => !rest)
        .map(({ name, one }) => [name, one.own, one.set, one.truth]) });
  });
  const used = () => {
    const { temperature, k, p, seed, ...state } = now();
    return { temperature, top_k: k, top_p: p, seed, written: told(state) };
  };
  return live(traits, view, used);
}

export default guard(render);
