/** Alignment: a trained aligner translates in the page, and each word shows what it looked at. */
import { bridge } from "../kit/bridge.js";
import { grouped, offers } from "../kit/chinese.js";
import { chance, count, frame, guard, h, heatmap, limits, live, quoted, report, select,
  setter, text } from "../kit/kit.js";
import { loadModel } from "../twin/model.js";
import { createSelection } from "../kit/selection.js";
import { translator } from "./translated.js";
import { fromPerfect } from "../kit/perfect.js";
import { typedText } from "../kit/typed_text.js";

const [CLEAR, WORTH, SURE] = [0.5, 0.1, 0.5]; // weights: what leads, what is told beside it; a probability
const list = (parts) => [parts.slice(0, -1).join(", "), ...parts.slice(-1)].filter(Boolean).join(" and ");
const WORDS = {
  title: "What a word looked at",
  choose: "a sentence",
  own: "one of your own",
  /** Each sentence, and the English word that is followed at first. */
  examples: [
    ["昨天那个老师拿走了两本书。", 5], ["我是一个学生。", 4], ["每天两个老师听见那只小鸟。", 5],
    ["昨天那个新学生在学校里画了一朵花。", 6], ["明天那只大狗会在街上追两只鸟。", 7],
    ["昨天两个孩子在河边找到了一个大球。", 6],
  ],
  typed: (n) => `A sentence of the ${n} Chinese characters that the model knows`,
  hint: "Change a character, or type an English word such as dog: its Chinese is offered here.",
  unknown: (words) => `The model cannot read ${quoted(words)}`
    + `${words.length > 3 ? ` and ${words.length - 3} more` : ""},`
    + ` so it skips ${words.length > 1 ? "them" : "it"}.`,
  long: (most) => ` It reads the first ${most} characters.`,
  empty: "Choose a sentence, or write one of Chinese characters that the model knows.",
  bridge: "Which characters each word looked at",
  left: "The Chinese sentence",
  right: "Its English words, in the order in which they are written",
  map: "All the weights, a row for each word",
  press: "follows its word",
  row: "English word",
  column: "character",
  meaning: (word, gloss) => (gloss ? `${word} (${gloss})` : word),
  looked: (word, seen, weight, others) =>
    `“${word}” looked at ${seen} with ${weight}${others ? `, and at ${others}` : ""}.`,
  beside: (seen, weight) => `${seen} with ${weight}`,
  spread: (word, seen) => `“${word}” did not look at any one place; most at ${seen}.`,
  unsure: (word, p) => ` The model was not sure of “${word}”: it gave it ${p}.`,
  none: "Choose an English word to see what it looked at before it was written.",
  note: "The model wrote the English one word at a time. Each character stands for what two recurrent"
    + " networks remember at its place: one has read the sentence up to it, the other from the end back to"
    + " it. So a word may well look at a neighbour of the character that it came from.",
};

/** What a word looked at, by Chinese words: the weights of their characters together. */
function sentence({ words, sure, groups, values }, t) {
  let s = t * values.shape[1];
  const sum = (n) => { let all = 0; for (const to = s + n; s < to; s++) all += values.data[s]; return all; };
  const seen = groups.map(({ words: parts, gloss }) => {
    const [name, weight] = [WORDS.meaning(parts.join(""), gloss), sum(parts.length)];
    return { name, weight, said: WORDS.beside(name, chance(weight, 2)) };
  }).sort((a, b) => b.weight - a.weight);
  const [first, ...others] = seen;
  const beside = list(others.slice(0, 2).filter(({ weight }) => weight >= WORTH).map(({ said }) => said));
  const looked = first.weight >= CLEAR ? WORDS.looked(words[t], first.name, chance(first.weight, 2), beside)
    : WORDS.spread(words[t], list(seen.slice(0, 3).map(({ said }) => said)));
  return looked + (sure[t] < SURE ? WORDS.unsure(words[t], chance(sure[t], 2)) : "");
}

/** The sentences to choose from, and the reader's own among them. Each brings the word that is followed. */
function sentences(view, traits) {
  const own = ["", WORDS.own];
  const known = WORDS.examples.map(([chinese]) => chinese);
  const chosen = {
    get: () => text(traits, "text"), save_changes: () => traits.save_changes(),
    set: (_, chinese) => traits.set({ text: chinese,
      word: WORDS.examples.find(([one]) => one === chinese)?.[1] ?? traits.get("word") }),
  };
  view.onDraw(() => {
    if (!known.includes(chosen.get())) own[0] = chosen.get();
    /** @type {HTMLOptionElement} */ (view.controls.querySelector("option")).value = own[0];
  });
  const options = [own, ...known.map((chinese) => [chinese, chinese])];
  select(view, chosen, "text", { label: WORDS.choose, options });
}

async function render({ model: traits, el }) {
  const model = await loadModel(traits);
  const view = frame(el, { title: WORDS.title, name: "alignment" });
  const selection = createSelection();
  const { read, readable } = translator(model, limits(traits, "word").high);
  const reading = () => read(text(traits, "text"));
  const wished = () => count(traits, "word");
  /** A translation may be too short for the chosen word while its text is typed: its last one is followed. */
  const word = () => Math.min(wished(), reading().words.length);

  sentences(view, traits);
  const field = typedText(view, traits, { vocabulary: readable, encode: (typed) => model.encode(typed) },
    { ...WORDS, offers });
  const ink = bridge(view, {
    caption: WORDS.bridge, left: WORDS.left, right: WORDS.right, lang: "zh-Hans", selection,
  });
  const put = setter(traits);
  const follow = (n) => put({ word: n });
  const map = heatmap(view, {
    caption: WORDS.map, role: "weight", rowAxis: WORDS.row, columnAxis: WORDS.column, selection,
    press: (t) => follow(t + 1), presses: WORDS.press,
  });
  view.controls.after(field.box);
  view.panes.before(view.sentence);
  view.panes.append(ink.pane, map.pane);
  map.pane.append(h("p", { class: "p-aside" }, WORDS.note));

  /** What was marked when it was drawn: only what differs from it is a reader's choice.
   *  @type {number|null} */
  let marked = null;
  view.onDispose(selection.subscribe((now, before) => {
    const { row } = selection.picked;
    if (row !== marked) follow((row ?? -1) + 1);
    marked = row;
    if (now.row !== before.row && !view.drawing) view.redraw();
  }));
  fromPerfect({ sentence: view.panes }, model); // on a phone the picture stays near its words
  view.onDraw(() => {
    const said = reading();
    const { words, tokens, sure, values } = said;
    const row = (t) => Array.from(values.data.subarray(t * tokens.length, (t + 1) * tokens.length));
    field.draw({ ...said, words: tokens });
    report(traits, { translation: words, weights: words.map((_, t) => row(t)), probabilities: sure });
    [ink, map].forEach(({ pane }) => { pane.hidden = !words.length; });
    if (!words.length) { view.say(""); map.draw(null); return; }
    marked = word() ? word() - 1 : null;
    selection.pick({ row: marked, column: null });
    const groups = grouped(tokens);
    map.draw({ values, top: 1, rows: words, columns: tokens });
    const on = selection.now.row;
    view.say(on === null || on >= words.length ? WORDS.none : sentence({ ...said, groups }, on));
    ink.draw({ groups, rows: words, values }); // last: it asks the page where its words stand
  });
  return live(traits, view, () => ({ word: wished() }));
}

export default guard(render);
