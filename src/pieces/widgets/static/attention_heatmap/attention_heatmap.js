/** AttentionHeatmap: where every head of a trained model looks, and what the model loses without it. */
import { arcs } from "../kit/arcs.js";
import { bars, button, chance, count, frame, guard, h, heatmap, limits, live, percent, report, select,
  setter, text } from "../kit/kit.js";
import { headTiles } from "./head_tiles.js";
import { loadModel, rowOf } from "../twin/model.js";
import { once } from "../twin/memo.js";
import { costs, likeliest, mapOf, reader, scoresOf } from "../twin/reading.js";
import { createSelection } from "../kit/selection.js";
import { followedWord } from "../kit/followed.js";
import { fromPerfect } from "../kit/perfect.js";
import { typedText } from "../kit/typed_text.js";
import { argmax } from "../twin/tensor.js";

const NAMED = 0.6; // the share of its weight from which a head is named
const NEEDED = 0.05; // what a guess must lose without a head, to hang on it
const ROWS = 6;
const heads = (list) => (list.length > 3 ? `these ${list.length} heads`
  : list.join(list.length === 2 ? " or " : ", "));
const WORDS = {
  title: "Where the heads look",
  typed: (n) => `A text in the ${n} words that the model knows`,
  story: "The words, and where the chosen one looks",
  head: (layer, head) => `${layer}.${head}`,
  named: (layer, head) => (head ? `head ${layer}.${head}` : `average of layer ${layer}`),
  on: (layer, head) => `Head ${layer}.${head} is on`,
  layer: (l) => (l ? `Layer ${l + 1} reads what layer ${l} wrote` : "Layer 1 reads the words"),
  tile: (layer, head, note, off) =>
    `Show head ${layer}.${head}${note ? `: ${note}` : ""}${off ? ", switched off" : ""}`,
  off: "off",
  cost: (lost) => {
    const points = Math.round(100 * Math.abs(lost));
    return `Without it the guess ${lost < 0 && points ? "gains" : "loses"} ${points} `
      + `point${points === 1 ? "" : "s"}`;
  },
  shown: "shown large",
  each: "What does each head do for this word?",
  map: "Each row is a word that looks",
  looks: "looks at",
  word: "word",
  next: "The next word",
  probability: "probability",
  kinds: {
    previous: "the word before", itself: "itself", first: "the first word",
    induction: "what followed last time", copy: "the same word before",
  },
  note: (kind, share) => `${kind} ${percent(share)}`,
  sure: (at, word, p) => `After “${at}” ${p > 0.9 ? `the model is sure of “${word}”.` : p > 0.45
    ? `the model leans towards “${word}”.` : `several words may follow; “${word}” is the likeliest.`}`,
  stays: (list, word, p) => `Without ${heads(list)}, “${word}” stays at ${percent(p)}.`,
  moves: (list, word, from, to) =>
    `Without ${heads(list)}, “${word}” ${to < from ? "falls" : "rises"} from ${percent(from)} to `
      + `${percent(to)}.`,
  leads: (word, p) => ` Now “${word}” leads with ${percent(p)}.`,
  needs: (word, head, from, to) =>
    `“${word}” depends most on head ${head}: without it ${percent(from)} becomes ${percent(to)}.`,
  spread: (word) =>
    `No single head is needed for “${word}”: without any one of them it loses less than 5 points.`,
};

/** The traits as they are used: within the model's layers and heads and the words in the text. */
function usedTraits(traits, model, read) {
  const real = (pair) => Array.isArray(pair) && pair.length === 2
    && pair.every((n, i) => Number.isInteger(n) && n >= 1 && n <= [model.layers, model.heads][i]);
  return () => {
    const given = traits.get("off");
    const off = (Array.isArray(given) ? given : []).filter(real);
    const reading = read(text(traits, "text"), off.map(([l, n]) => [l - 1, n - 1]));
    return {
      reading, off, layer: count(traits, "layer", undefined, model.layers),
      head: count(traits, "head", undefined, model.heads),
      tried: Math.min(count(traits, "tried"), reading.ids.length),
    };
  };
}

/** What is to be seen, in one sentence. */
function sentence({ after, before, off, word, tried, vocabulary, perLayer }) {
  const [was, is] = [before, after].map(argmax);
  const guess = vocabulary[was];
  if (off.length) {
    const names = off.map(([l, n]) => WORDS.head(l, n));
    if (Math.abs(after[was] - before[was]) < 0.01) return WORDS.stays(names, guess, after[was]);
    return WORDS.moves(names, guess, before[was], after[was])
      + (is === was ? "" : WORDS.leads(vocabulary[is], after[is]));
  }
  if (!tried) return WORDS.sure(word, guess, before[was]);
  const all = tried.costs.flat();
  const most = Math.max(...all);
  const at = all.indexOf(most);
  if (most < NEEDED) return WORDS.spread(guess);
  return WORDS.needs(guess, WORDS.head(Math.floor(at / perLayer) + 1, (at % perLayer) + 1), tried.p,
    tried.p - most);
}

async function render({ model: traits, el }) {
  const model = await loadModel(traits);
  const { vocabulary, layers, heads: perLayer } = model;
  const view = frame(el, { title: WORDS.title, name: "attention-heatmap" });
  const selection = createSelection();
  const now = usedTraits(traits, model, reader(model, limits(traits, "token").high));
  const put = setter(traits);
  /** What the head trials found stays while the words do: a run for each head is dear. */
  const trial = once((ids, t) => costs(model, now().reading, t));
  const followed = followedWord(view, traits, selection, () => now().reading.ids.length);

  // What was tried was tried for the old text: a run for each head at each letter typed would be too slow.
  const typing = { get: traits.get.bind(traits), save_changes: () => traits.save_changes(),
    set: (name, value) => traits.set({ [name]: value, tried: 0 }) };
  const field = typedText(view, typing, model, WORDS);
  const story = arcs(view, { caption: WORDS.story, selection, faint: 2 });
  const tiles = headTiles({
    layers, heads: perLayer, say: WORDS, show: (l, n) => put({ layer: l + 1, head: n + 1 }),
    turn(l, n) {
      const { off } = now();
      const others = off.filter(([a, b]) => a !== l + 1 || b !== n + 1);
      put({ off: others.length < off.length ? others : [...off, [l + 1, n + 1]] });
    },
  });
  const next = bars(view, { caption: WORDS.next, nameTitle: WORDS.word,
    columns: [{ title: WORDS.probability, role: "output" }], print: chance });
  const map = heatmap(view, {
    caption: WORDS.map, role: "weight", rowAxis: WORDS.word, columnAxis: WORDS.looks,
    selection, selects: { row: "token", column: "column" },
  });
  const options = Array.from({ length: layers }, (_, l) => Array.from({ length: perLayer + 1 }, (_, n) =>
    [`${l + 1}.${n}`, WORDS.named(l + 1, n)])).flat();
  const which = {
    get: () => `${now().layer}.${now().head}`, save_changes: () => traits.save_changes(),
    set(_, value) { const [layer, head] = value.split(".").map(Number); traits.set({ layer, head }); },
  };
  select(view, which, "layer.head", { label: WORDS.shown, options });
  const ask = button(view, { label: WORDS.each, press() {
    put({ off: [], tried: followed.at() + 1 });
  } });
  view.controls.before(field.box);
  next.pane.append(view.sentence);
  view.panes.append(story.pane, h("div", { class: "p-pane p-head-pane" }, tiles.box), next.pane, map.pane);

  view.onTheme(() => { tiles.fade(); view.redraw(); });
  fromPerfect(view, model);
  view.onDraw(() => {
    const { reading, off, layer, head, tried } = now();
    const { ids, words, maps } = reading;
    const T = ids.length;
    field.draw(reading);
    [...view.panes.children].forEach((pane) => { /** @type {HTMLElement} */ (pane).hidden = !T; });
    ask.box.disabled = !T;
    if (!T) return report(traits, { next_words: [], looks: [], losses: null });
    followed.mark();
    const t = followed.at();
    const shown = mapOf(maps[layer - 1], head ? head - 1 : null);
    const seen = (i, j) => ({ from: i, to: j, weight: shown.data[i * T + j] });
    const links = words.flatMap((_, i) => words.slice(0, i + 1).map((_, j) => seen(i, j)))
      .filter(({ weight }) => weight >= 0.02);
    story.draw({ words, links });
    const mask = words.map((_, i) => words.map((_, j) => j <= i));
    map.draw({ values: shown, mask, top: 1, rows: words, columns: words });
    const best = (weights, n) => Object.entries(scoresOf(weights, n, ids)).sort(([, a], [, b]) => b - a)[0];
    const notes = maps.map((weights) => Array.from({ length: perLayer }, (_, n) => {
      const [kind, share] = best(weights, n);
      return share >= NAMED ? WORDS.note(WORDS.kinds[kind], share) : null;
    }));
    const all = tried ? trial(ids, tried - 1) : null;
    const known = tried === t + 1 ? all : null;
    const offNames = new Set(off.map(([l, n]) => `${l - 1}.${n - 1}`));
    tiles.draw({ maps, shown: [layer - 1, head ? head - 1 : null], off: offNames, notes, costs: known?.costs,
      row: t });
    const [after, before] = [reading.now, reading.plain].map(({ probabilities }) => rowOf(probabilities, t));
    const rows = likeliest(after, before, vocabulary, ROWS);
    const ghost = off.length ? rows.map(([, , p]) => p) : null;
    next.draw({ names: rows.map(([word]) => word),
      series: [{ values: rows.map(([, p]) => p), top: 1, ghost }] });
    view.say(sentence({ after, before, off, word: words[t], tried: known, vocabulary, perLayer }));
    report(traits, { next_words: rows, looks: Array.from(shown.data.subarray(t * T, (t + 1) * T)),
      losses: all?.costs ?? null });
  });
  const used = () => {
    const { layer, head, off, tried } = now();
    return { layer, head, token: followed.wished(), off, tried };
  };
  return live(traits, view, used);
}

export default guard(render);
