/**
 * HiddenUnits: one hidden unit of a trained model at every word of a text, and what follows when it
 * is held.
 */
import { bars, button, chance, count, format, frame, guard, h, limits, live, percent, real, report, select,
  setter, slider, text } from "../kit/kit.js";
import { activations } from "../twin/flat.js";
import { once, textReader } from "../twin/memo.js";
import { loadModel, rowOf } from "../twin/model.js";
import { likeliest } from "../twin/reading.js";
import { createSelection } from "../kit/selection.js";
import { followedWord } from "../kit/followed.js";
import { fromPerfect } from "../kit/perfect.js";
import { typedText } from "../kit/typed_text.js";
import { short, unitWords } from "./unit_words.js";
import { argmax } from "../twin/tensor.js";

const ROWS = 6;
const WIDEST = 5; // units that are offered for a word
const WORDS = {
  title: "One hidden unit",
  typed: (n) => `A text in the ${n} words that the model knows`,
  name: (layer, unit) => `${layer}.${unit}`,
  words: (layer, unit, held) => `Unit ${layer}.${unit}${held ? `, held at ${held}` : ""} at each word`,
  each: "The unit at each word",
  hint: "Write a text of your own, and press a word below to follow it.",
  head: (name, held) => ["word", `unit ${name}`, ...(held ? ["held at"] : [])],
  at: (word, value) => `${word}, ${value}`,
  word: "word",
  next: (word) => `The next word after “${word}”`, likely: "The next word", probability: "probability",
  opens: "Widest open, on average over 200 stories, at", mean: "mean value",
  unmeasured: "No stories were read with this model, so nothing is known but this text.",
  layer: "layer", layers: (l) => `layer ${l}`, unit: "unit", hold: "hold the unit at", shut: "Shut it",
  go: "Let it go",
  widest: (word, layer) => `The units of layer ${layer} that this “${word}” opens widest by itself:`,
  take: (layer, unit) => `Show unit ${layer}.${unit}`,
  sum: ["gate", "up", "value"], instead: (value) => ` → held at ${value}`,
  free: (word, value, opened) => `At “${word}” the unit stands at ${value}. `
    + (opened ? "Move the slider to hold it somewhere else."
    : "It is all but shut there. Move the slider to open it by hand."),
  stays: (value, word, p) => `Held at ${value}, it leaves “${word}” at ${percent(p)}.`,
  moves: (value, word, from, to) =>
    `With it at ${value}, “${word}” ${to < from ? "falls" : "rises"} from ${percent(from)} to `
    + `${percent(to)}.`,
  leads: (word, p) => ` Now “${word}” leads with ${percent(p)}.`,
};

/** Reads a text with and without the unit held; what was computed stays while nothing changes. */
function reader(model, most) {
  const width = model.config.d_ff;
  const place = (l, part) => `stack.blocks.${l}.feed_forward.${part}`;
  const keep = Array.from({ length: model.layers },
    (_, l) => ["gate", "up", "dropout"].map((part) => place(l, part))).flat();
  const told = textReader(model, most);
  const plainly = once((ids) => model.run(ids, { keep }));
  const holding = once((ids, layer, unit, value) => model.run(ids, { clamp: [{ layer, unit, value }] }));
  return (typed, layer, unit, value) => {
    const read = told(typed);
    const plain = read.ids.length ? plainly(read.ids) : null;
    const held = plain && value !== null ? holding(read.ids, layer, unit, value) : plain;
    /** The hidden units [T, F] of a layer, or a part of them. */
    const inner = (part, l = layer) => plain.inner[place(l, part)]?.output.data;
    return { ...read, plain, now: held, inner,
      values: read.ids.map((_, t) => inner("dropout")[t * width + unit]) };
  };
}

async function render({ model: traits, el }) {
  const model = await loadModel(traits);
  const { vocabulary, layers } = model;
  const width = model.config.d_ff;
  const view = frame(el, { title: WORDS.title, name: "hidden-units" });
  const selection = createSelection();
  const read = reader(model, limits(traits, "token").high);
  const put = setter(traits);
  /** What many stories told of a unit, null where nothing is known. */
  function known(layer, unit) {
    const { size, words } = traits.get("opened")?.[`${layer}.${unit}`] ?? {};
    const told = Array.isArray(words) && words.every((pair) => vocabulary[pair?.[0]]
      && Number.isFinite(pair[1]));
    return told && size > 0 && size < 1e6 ? { size, words } : null;
  }
  function now() {
    const [layer, unit] = [count(traits, "layer", undefined, layers),
      count(traits, "unit", undefined, width)];
    const held = traits.get("held") === true;
    const value = real(traits, "value");
    const reading = read(text(traits, "text"), layer - 1, unit - 1, held ? value : null);
    return { reading, layer, unit, held, value };
  }
  const followed = followedWord(view, traits, selection, () => now().reading.ids.length);
  /** The size that fills the slider and the colour: that of the stories, or twice the largest here. */
  const bound = ({ reading, layer, unit }) =>
    known(layer, unit)?.size ?? Math.max(1, 2 * Math.max(0, ...reading.values.map(Math.abs)));

  // Who writes on wants to know what comes after the last word, whichever was followed in the old text.
  const typing = { get: traits.get.bind(traits), save_changes: () => traits.save_changes(),
    set: (name, value) => traits.set({ [name]: value, token: 0 }) };
  const field = typedText(view, typing, model, WORDS);
  const story = unitWords(view, { caption: WORDS.each, say: WORDS.at, selection,
    head: (held) => WORDS.head(WORDS.name(now().layer, now().unit), held) });
  const next = bars(view, { caption: WORDS.likely, nameTitle: WORDS.word,
    columns: [{ title: WORDS.probability, role: "output" }], print: chance });
  const opens = bars(view, { caption: WORDS.opens, nameTitle: WORDS.word,
    columns: [{ title: WORDS.mean, role: "output", signed: true }], digits: 1 });
  const unmeasured = h("p", { class: "p-unmeasured" }, WORDS.unmeasured);
  const sum = h("p", { class: "p-unit-sum" });
  const widest = h("div", { class: "p-widest", role: "group" });
  const hand = h("div", { class: "p-hand" });
  // The slider counts hundredths of what fills it, and stands at the unit's own value until it is taken.
  const grip = {
    get() {
      const state = now();
      const own = state.reading.ids.length ? state.reading.values[followed.at()] : 0;
      return (100 * (state.held ? state.value : own)) / bound(state);
    },
    set(_, share) {
      traits.set({ held: true, value: Number(((share * bound(now())) / 100).toPrecision(6)) });
    },
    save_changes: () => traits.save_changes(),
  };
  slider(view, grip, "value", { label: WORDS.hold, min: -100, max: 100, into: hand,
    show: (share) => short((share * bound(now())) / 100) });
  const shut = button(view, { label: WORDS.shut, press: () => put({ held: true, value: 0 }) });
  const go = button(view, { label: WORDS.go, press: () => put({ held: false }) });
  hand.append(shut.box, go.box);
  // Another unit is free, whatever was done to the last one.
  const choosing = (name) => ({
    get: (asked) => (asked !== name ? traits.get(asked) : name === "layer" ? String(now().layer)
      : now().unit),
    save_changes: () => traits.save_changes(),
    set: (_, value) => traits.set({ [name]: Number(value), held: false }),
  });
  select(view, choosing("layer"), "layer", { label: WORDS.layer,
    options: Array.from({ length: layers }, (_, l) => [String(l + 1), WORDS.layers(l + 1)]) });
  slider(view, choosing("unit"), "unit", { label: WORDS.unit, max: width });
  const about = h("div", { class: "p-pane p-opens" }, opens.pane, unmeasured);
  view.controls.before(field.box);
  next.pane.append(view.sentence);
  view.panes.append(story.pane, hand, next.pane, about);
  view.panes.after(sum, view.controls, widest);

  /** The units of the layer that a word opens widest, as buttons. */
  function offer({ reading, layer, unit }, t) {
    const row = reading.inner("dropout").subarray(t * width, (t + 1) * width);
    const order = [...row.keys()].sort((a, b) => Math.abs(row[b]) - Math.abs(row[a])).slice(0, WIDEST);
    const key = `${layer}.${order}.${order.map((n) => row[n])}.${unit}.${reading.words[t]}`;
    if (widest.dataset.key === key) return;
    widest.dataset.key = key;
    widest.replaceChildren(h("span", {}, WORDS.widest(reading.words[t], layer)), ...order.map((n) =>
      h("button", { type: "button", class: "p-button", "aria-label": WORDS.take(layer, n + 1),
        "aria-pressed": String(n + 1 === unit),
        onclick: () => put({ layer, unit: n + 1, held: false }) }, WORDS.name(layer, n + 1),
          h("small", {}, ` ${short(row[n])}`))));
  }
  /** Gate times up, where there is a gate; else the bend alone. */
  function reckon({ reading, unit, held, value: other }, t) {
    const at = (part) => reading.inner(part)[t * width + unit - 1];
    const value = at("dropout");
    if (!reading.inner("gate")) { sum.textContent = ""; return; }
    const open = activations.swish(at("gate"));
    const part = (role, name, shown) => h("span", { "data-role": role }, `${name} ${shown}`);
    sum.replaceChildren(`“${reading.words[t]}”: `, part("weight", WORDS.sum[0], format(open)), " × ",
      part("value", WORDS.sum[1], format(at("up"))), " = ", part("output", WORDS.sum[2], format(value)),
      held ? h("b", {}, WORDS.instead(short(other))) : "");
    sum.classList.toggle("p-undone", held);
  }
  fromPerfect(view, model);
  view.onDraw(() => {
    const state = now();
    const { reading, layer, unit, held, value } = state;
    const T = reading.ids.length;
    field.draw(reading);
    [...view.panes.children, sum, view.controls,
      widest].forEach((part) => { /** @type {HTMLElement} */ (part).hidden = !T; });
    if (!T) return report(traits, { values: [], next_words: [] });
    followed.mark();
    const t = followed.at();
    const top = bound(state);
    story.name(WORDS.words(layer, unit, held ? short(value) : ""));
    story.draw({ words: reading.words, values: reading.values, top, held: held ? value : null });
    const [after, before] = [reading.now, reading.plain].map(({ probabilities }) => rowOf(probabilities, t));
    const rows = likeliest(after, before, vocabulary, ROWS);
    next.pane.querySelector("figcaption").textContent = WORDS.next(reading.words[t]);
    next.draw({ names: rows.map(([word]) => word), series: [{ values: rows.map(([, p]) => p), top: 1,
      ghost: held ? rows.map(([, , p]) => p) : null }] });
    const found = known(layer, unit);
    [opens.pane.hidden, unmeasured.hidden] = [!found, Boolean(found)];
    if (found) opens.draw({ names: found.words.map(([id]) => vocabulary[id]),
      series: [{ values: found.words.map(([, mean]) => mean), top }] });
    shut.box.toggleAttribute("disabled", held && value === 0);
    go.box.toggleAttribute("disabled", !held);
    reckon(state, t);
    offer(state, t);
    const was = argmax(before);
    const is = argmax(after);
    const guess = vocabulary[was];
    const own = reading.values[t];
    view.say(!held ? WORDS.free(reading.words[t], short(own), Math.abs(own) > top / 20)
      : Math.abs(after[was] - before[was]) < 0.02 ? WORDS.stays(short(value), guess, after[was])
        : WORDS.moves(short(value), guess, before[was], after[was])
        + (is === was ? "" : WORDS.leads(vocabulary[is], after[is])));
    report(traits, { values: reading.values, next_words: rows });
  });
  return live(traits, view, () => {
    const { layer, unit, held, value } = now();
    return { layer, unit, token: followed.wished(), held, value };
  });
}

export default guard(render);
