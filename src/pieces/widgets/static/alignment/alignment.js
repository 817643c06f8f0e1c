/** Alignment: a trained aligner translates in the page, and each word shows what it looked at. */
import { bridge } from "../kit/bridge.js";
import { grouped } from "../kit/chinese.js";
import { chineseSentence } from "../kit/chinese_sentence.js";
import { chance, count, frame, guard, h, heatmap, limits, listed, live, report, setter,
  text } from "../kit/kit.js";
import { fromPerfect } from "../kit/perfect.js";
import { createSelection } from "../kit/selection.js";
import { loadModel } from "../twin/model.js";
import { sourceReader } from "../twin/source_text.js";
import { translator } from "./translated.js";

const [CLEAR, WORTH, SURE] = [0.5, 0.1, 0.5]; // weights: what leads, what is told beside it; a probability
const WORDS = {
  title: "What a word looked at",
  /** Each sentence, and the English word that is followed at first. */
  examples: [
    ["昨天那个老师拿走了两本书。", 5], ["我是一个学生。", 4], ["每天两个老师听见那只小鸟。", 5],
    ["昨天那个新学生在学校里画了一朵花。", 6], ["明天那只大狗会在街上追两只鸟。", 7],
    ["昨天两个孩子在河边找到了一个大球。", 6],
  ],
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
  spread: (word, seen) => `“${word}” looked at several places, most at ${seen}.`,
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
  const beside = listed(others.slice(0, 2).filter(({ weight }) => weight >= WORTH).map(({ said }) => said));
  const looked = first.weight >= CLEAR ? WORDS.looked(words[t], first.name, chance(first.weight, 2), beside)
    : WORDS.spread(words[t], listed(seen.slice(0, 3).map(({ said }) => said)));
  return looked + (sure[t] < SURE ? WORDS.unsure(words[t], chance(sure[t], 2)) : "");
}

async function render({ model: traits, el }) {
  const model = await loadModel(traits);
  const view = frame(el, { title: WORDS.title, name: "alignment" });
  const selection = createSelection();
  const most = limits(traits, "word").high;
  const { read, readable } = sourceReader(model, most);
  const written = translator(model, most);
  const reading = () => {
    const { ids, words: tokens, unknown, over } = read(text(traits, "text"));
    return { tokens, unknown, over, ...written(ids) };
  };
  const wished = () => count(traits, "word");
  /** A translation may be too short for the chosen word while its text is typed: its last one is followed. */
  const word = () => Math.min(wished(), reading().words.length);

  const examples = WORDS.examples.map(([chinese]) => /** @type {[string, string]} */ ([chinese, chinese]));
  const field = chineseSentence(view, traits, model, { readable, examples,
    also: (chinese) => Object.fromEntries(WORDS.examples.filter(([one]) => one === chinese)
      .map(([, word]) => ["word", word])) });
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
