/**
 * PronounArcs: where a word of a story looks under one head of a trained model; the last word can
 * be another.
 */
import { arcs } from "../kit/arcs.js";
import { bars, chance, count, frame, guard, h, limits, live, percent, report, setter,
  text, words } from "../kit/kit.js";
import { loadModel, rowOf } from "../twin/model.js";
import { likeliest, mapOf, reader } from "../twin/reading.js";
import { createSelection } from "../kit/selection.js";
import { followedWord } from "../kit/followed.js";
import { fromPerfect } from "../kit/perfect.js";
import { typedText } from "../kit/typed_text.js";

const ROWS = 3;
const SMALL = 0.005; // less than this is not worth a line
const WORDS = {
  title: "Where one word looks",
  typed: (n) => `A story in the ${n} words that the model knows`,
  story: "Press a word to see where it looks", last: "The last word is", edit: "Change any other word",
  next: "What the model expects next", word: "word", probability: "probability",
  looks: (word, other, share) => `“${word}” looks at “${other}” with ${percent(share)} of its weight.`,
  expects: (word, p) => ` After it the model expects “${word}” (${percent(p)}).`,
};

async function render({ model: traits, el }) {
  const model = await loadModel(traits);
  const { vocabulary, layers, heads } = model;
  const view = frame(el, { title: WORDS.title, name: "pronoun-arcs" });
  const selection = createSelection();
  const read = reader(model, limits(traits, "token").high);
  const put = setter(traits);
  const now = () => {
    const reading = read(text(traits, "text"), []);
    return { reading, layer: count(traits, "layer", undefined, layers),
      head: count(traits, "head", undefined, heads) };
  };
  const followed = followedWord(view, traits, selection, () => now().reading.ids.length);
  const field = typedText(view, traits, model, WORDS);
  const story = arcs(view, { caption: WORDS.story, selection, faint: 2 });
  const exchange = (other) => put({ text: text(traits, "text").replace(/\S+\s*$/u, other), token: 0 });
  const choices = words(traits, "others").filter(Boolean).map((other) => ({ other,
    node: h("button", { type: "button", class: "p-button", "aria-pressed": "false",
      onclick: () => exchange(other) }, other) }));
  const swap = h("div", { class: "p-swap", role: "group", "aria-label": WORDS.last },
    h("span", {}, WORDS.last), ...choices.map(({ node }) => node));
  const next = bars(view, { caption: WORDS.next, nameTitle: WORDS.word,
    columns: [{ title: WORDS.probability, role: "output" }], print: chance });
  view.panes.append(story.pane, swap, next.pane);
  view.foot.before(h("details", { class: "p-details" }, h("summary", {}, WORDS.edit), field.box));

  fromPerfect(view, model);
  view.onDraw(() => {
    const { reading, layer, head } = now();
    const { ids, words: read, maps, plain } = reading;
    const T = ids.length;
    field.draw(reading);
    [...view.panes.children].forEach((pane) => { /** @type {HTMLElement} */ (pane).hidden = !T; });
    if (!T) { view.say(""); return report(traits, { looks: [], next_words: [] }); }
    followed.mark();
    const t = followed.at();
    const { data } = mapOf(maps[layer - 1], head - 1);
    story.draw({ words: read, links: read.flatMap((_, i) => read.slice(0, i + 1)
      .map((_, j) => ({ from: i, to: j, weight: data[i * T + j] }))).filter(({ weight }) =>
        weight >= 0.02) });
    // A reader's own last word stays, and so does one that is not read or stands behind what is.
    const last = /\S+\s*$/u.exec(text(traits, "text"))?.[0] ?? "";
    const { ids: [own, ...more] } = model.encode(last);
    swap.hidden = reading.over || own !== ids[T - 1] || more.length > 0
      || choices.every(({ other }) => other !== read[T - 1]);
    choices.forEach(({ other, node }) => node.setAttribute("aria-pressed", String(read[T - 1] === other)));
    const row = Array.from(data.subarray(t * T, (t + 1) * T));
    const after = rowOf(plain.probabilities, t);
    const rows = likeliest(after, after, vocabulary,
      ROWS).map(([word, p]) => /** @type {[string, number]} */ ([word, p]))
      .filter(([, p], n) => !n || p >= SMALL);
    next.draw({ names: rows.map(([word]) => word), series: [{ values: rows.map(([, p]) => p), top: 1 }] });
    const most = Math.max(...row);
    view.say(WORDS.looks(read[t], read[row.indexOf(most)], most) + WORDS.expects(rows[0][0], rows[0][1]));
    report(traits, { looks: row, next_words: rows });
  });
  return live(traits, view, () => {
    const { layer, head } = now();
    return { layer, head, token: followed.wished() };
  });
}

export default guard(render);
