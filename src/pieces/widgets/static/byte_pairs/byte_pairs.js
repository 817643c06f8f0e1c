/** Merges learned from a text that a reader types, played one by one; and another word, cut by them. */
import {
  bars, choice, count, frame, guard, h, limits, live, report, select, setter, text,
} from "../kit/kit.js";
import { player } from "../kit/player.js";
import { characters, cutIntoPieces, learnMerges, spacedWords, utf8Bytes } from "./pairs.js";
import { shown, wordsOfPieces } from "./piece_chips.js";

const ROWS = 5; // of the table of pairs
const UNITS = { characters, bytes: utf8Bytes };
const quoted = (piece, unit) => `“${shown(piece, unit)}”`;
const times = (n) => (n === 1 ? "once" : n === 2 ? "twice" : `${n} times`);
const WORDS = {
  title: "Pieces of words, learned from a text",
  typed: "Type a text to learn from", unit: "begin with", units: { characters: "characters", bytes: "bytes" },
  play: "Merges", at: (n, of) => `${n} of ${of}`,
  pieces: "The text, in pieces; a dot ends each word", pairs: "The most frequent pairs now",
  pair: "pair", count: "count", joined: (left, right) => `${left} + ${right}`,
  learnt: "Learned so far", nothing: "nothing yet",
  made: (n, left, right, piece) => `${n}. ${left} + ${right} → ${piece}`,
  word: "Type a word it may not have seen", cut: "That word, in pieces",
  compare: "The same text, three ways", head: ["cut into", "tokens", "vocabulary", "your word"],
  rows: { characters: "characters", bytes: "bytes", pieces: "pieces", words: "words" },
  parts: (n) => `${n} ${n === 1 ? "token" : "tokens"}`, unknown: "unknown",
  partly: (n, m) => `${n} ${n === 1 ? "token" : "tokens"}, ${m} unknown`,
  strange: (sign) => `${sign}, a character that the text does not have`,
  empty: "Type a text, and its pairs are counted.",
  begin: (n, unit, best) => `No merge yet: the text is ${n} ${WORDS.units[unit]} long. ${best}`,
  next: (left, right, n) => `The pair ${left} + ${right} occurs ${times(n)}, so it will be `
    + "merged first.",
  none: "No pair occurs twice, so there is nothing to learn.",
  done: (n, left, right, times_, length, saved) => `Merge ${n} has joined ${left} and ${right}, which were `
    + `neighbours ${times(times_)}. The text is ${length} tokens long now, ${saved} fewer than before.`,
  tie: (n) => ` ${n === 1 ? "One other pair was" : `${n} other pairs were`} as frequent: `
    + "a tie goes to the pair with the older pieces.",
  end: " No pair is left that occurs twice.",
};

const table = (head) => {
  const body = h("tbody", {});
  return { body, node: h("table", { class: "p-compare" }, h("caption", {}, WORDS.compare), h("thead", {},
    h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)))), body) };
};

/** How a word stands in a vocabulary: how many tokens, and how many of them are unknown. */
const told = (tokens, strange) => (strange === tokens ? WORDS.unknown : strange
  ? WORDS.partly(tokens, strange) : WORDS.parts(tokens));

/** As much of a text as its trait may hold. */
const fitted = (model, trait, said) =>
  characters(said).slice(0, limits(model, trait).longest ?? Infinity).join("");
const mostOf = (model) => limits(model, "merges").high ?? 0;

/** What a reader typed, as traits allow it. */
function read(model) {
  const [typed, word] = ["text", "word"].map((trait) => fitted(model, trait, text(model, trait)));
  return { unit: choice(model, "unit"), typed, word, wished: count(model, "merges"), most: mostOf(model) };
}

/** Learn once for each text and unit. */
function learner(most) {
  let last = { key: "", found: null };
  return (typed, unit) => {
    const key = JSON.stringify([typed, unit]);
    if (last.key !== key) last = { key, found: learnMerges(typed, most, UNITS[unit]) };
    return /** @type {ReturnType<typeof learnMerges>} */ (last.found);
  };
}

/** The rows of the comparison: name, tokens, entries of the vocabulary, the other word. */
function compared(s, found, n, pieces, cut) {
  const symbols = UNITS[s.unit];
  const [words, known] = [spacedWords(s.typed), new Set(found.alphabet)];
  const [signs, mine] = [words.flatMap(symbols), spacedWords(s.word)];
  const strange = mine.flatMap(symbols).filter((sign) => !known.has(sign)).length;
  const bytes = s.unit === "bytes";
  const missing = mine.filter((word) => !words.includes(word)).length;
  const entries = bytes ? 256 - found.alphabet.length : 0; // all bytes are there, seen or not
  const unseen = bytes ? 0 : strange;
  return [
    [WORDS.rows[s.unit], signs.length, found.alphabet.length + entries,
      told(mine.flatMap(symbols).length, unseen)],
    [WORDS.rows.pieces, pieces.flat().length, found.steps[n].vocabulary + entries,
      told(cut.flat().length, unseen)],
    [WORDS.rows.words, words.length, found.kinds, told(mine.length, missing)],
  ];
}

function sentence(s, found, n) {
  const { merges, steps } = found;
  const name = (piece) => quoted(piece, s.unit);
  if (!steps[0].length) return WORDS.empty;
  const end = n === merges.length && n < s.most;
  if (!n) {
    const [best] = steps[0].pairs;
    return WORDS.begin(steps[0].length, s.unit, merges.length
      ? WORDS.next(name(best.left), name(best.right), best.count) : WORDS.none);
  }
  const { left, right, count: often } = merges[n - 1];
  const ties = steps[n - 1].pairs.filter((pair) => pair.count === often).length - 1;
  return WORDS.done(n, name(left), name(right), often, steps[n].length,
    steps[n - 1].length - steps[n].length) + (ties ? WORDS.tie(ties) : "") + (end ? WORDS.end : "");
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "byte-pairs" });
  const put = setter(model);
  const learn = learner(mostOf(model));
  const field = (trait, label, rows) => h("textarea", { class: "p-typed", rows, spellcheck: "false",
    autocapitalize: "off", autocomplete: "off", "aria-label": label, "data-lm-suppress-shortcuts": "true",
    oninput: (event) => put({ [trait]: fitted(model, trait, event.target.value) }) });
  const [typed, word] = [field("text", WORDS.typed, 3), field("word", WORDS.word, 1)];
  const head = (label, node) => h("div", { class: "p-typing" }, h("div", { class: "p-typing-head" },
    h("span", { "aria-hidden": "true" }, label)), node);
  const here = h("div", { class: "p-controls p-playing" });
  select(view, model, "unit", { label: WORDS.unit, options: Object.entries(WORDS.units) });
  view.controls.prepend(head(WORDS.typed, typed));
  view.controls.after(here);
  here.after(view.sentence);
  let drawing = false;
  const states = () => { const s = read(model); return learn(s.typed, s.unit).merges.length + 1; };
  const play = player(view, { label: WORDS.play, states: states(), tween: 0, dwell: 900, into: here,
    name: (n) => WORDS.at(n, states() - 1),
    // A text with fewer merges than were wished for leaves the wish alone.
    show: (place) => { if (!drawing && place !== read(model).wished) put({ merges: place }); } });

  let pointed = null; // the piece that the pointer is on
  const point = (piece) => { if (piece !== pointed) { pointed = piece; view.redraw(); } };
  const whole = wordsOfPieces({ label: WORDS.pieces, point });
  const mine = wordsOfPieces({ label: WORDS.cut, point });
  const pairs = bars(view, { caption: WORDS.pairs, nameTitle: WORDS.pair, digits: 0,
    columns: [{ title: WORDS.count, role: "score" }] });
  const learnt = h("ol", { class: "p-learnt", tabindex: "0", "aria-label": WORDS.learnt });
  const three = table(WORDS.head);
  const pane = (caption, node, name) => h("figure", { class: `p-pane ${name}` },
    h("figcaption", {}, caption), node);
  view.panes.append(pane(WORDS.pieces, whole.box, "p-pane-text"), pairs.pane,
    pane(WORDS.learnt, learnt, "p-pane-learnt"));
  const below = h("div", { class: "p-panes p-below" }, h("div", { class: "p-pane" }, head(WORDS.word, word),
    mine.box), h("div", { class: "p-pane" }, three.node));
  view.panes.after(below);
  /** @type {any[][]} */
  let rows = [];
  view.table(WORDS.compare, () => ({ head: WORDS.head, rows: rows.map((row) => row.map(String)) }));
  let drawn = "";
  view.onDraw(() => {
    const s = read(model);
    const found = learn(s.typed, s.unit);
    const n = Math.min(s.wished, found.merges.length);
    const done = found.merges.slice(0, n);
    const symbols = UNITS[s.unit];
    const [pieces, cut] = [s.typed, s.word].map((one) => cutIntoPieces(one, done, symbols));
    if (typed.value !== s.typed) typed.value = s.typed;
    if (word.value !== s.word) word.value = s.word;
    drawing = true;
    play.limit(found.merges.length + 1);
    if (play.position !== n) play.jump(n);
    drawing = false;
    const fresh = n ? done[n - 1].left + done[n - 1].right : null;
    const known = new Set(found.alphabet);
    const strange = (piece) => s.unit !== "bytes" && characters(piece).some((sign) => !known.has(sign));
    whole.draw(pieces, { unit: s.unit, fresh, pointed, strange, name: WORDS.strange });
    mine.draw(cut, { unit: s.unit, fresh, pointed, strange, name: WORDS.strange });
    const name = (piece) => shown(piece, s.unit);
    const listed = found.steps[n].pairs.slice(0, ROWS);
    pairs.draw({ names: listed.map(({ left, right }) => WORDS.joined(name(left), name(right))),
      series: [{ values: listed.map((pair) => pair.count) }], focus: listed[0]?.count > 1 ? 0 : null });
    const key = JSON.stringify([done, s.unit]);
    if (key !== drawn) {
      drawn = key;
      learnt.replaceChildren(...(n ? done : []).map(({ left, right }, i) => h("li",
        { "data-piece": left + right, onpointerenter: () => point(left + right),
          onpointerleave: () => point(null) },
        WORDS.made(i + 1, name(left), name(right), name(left + right)))), ...(n ? []
        : [h("li", {}, WORDS.nothing)]));
      learnt.scrollTop = learnt.scrollHeight;
    }
    for (const li of learnt.children) li.classList.toggle("p-on",
      /** @type {HTMLElement} */ (li).dataset.piece === pointed && pointed !== null);
    rows = compared(s, found, n, pieces, cut);
    three.body.replaceChildren(...rows.map(([title, ...cells]) => h("tr", {},
      h("th", { scope: "row" }, title),
      ...cells.map((cell) => h("td", {}, String(cell))))));
    view.say(sentence(s, found, n));
    report(model, { learnt: done.map(({ left, right, count: often }) => [left, right, often]), pieces,
      cut: cut.flat() });
  });
  return live(model, view, () => ({ unit: choice(model, "unit"), merges: count(model, "merges") }));
}

export default guard(render);
