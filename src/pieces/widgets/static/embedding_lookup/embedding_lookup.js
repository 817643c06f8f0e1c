/** A typed text as ids, one-hot rows and rows of a table, with the sum that goes into the first layer. */
import { arithmetic } from "../kit/arithmetic.js";
import { chips } from "../kit/chips.js";
import { framed } from "../kit/framed.js";
import { createSelection } from "../kit/selection.js";
import { choice, clamp, count, frame, guard, h, heatmap, legend, limits, live, numbers, report, select,
  setter, text, toggle } from "../kit/kit.js";
import { typedText } from "../kit/typed_text.js";
import { sinusoidal } from "../twin/position_twin.js";
import { matmul, matrix } from "../twin/twin.js";
import { vocabularyOf } from "../twin/vocabulary.js";
import { work } from "./lookup_work.js";

const BASE = 10000;
const WORDS = {
  title: "From words to vectors", language: "vocabulary",
  languages: { english: "English words", chinese: "Chinese characters" },
  typed: (n) => `Type a text from the ${n} entries of W`,
  unknown: (list) => `${list.map((word) => `“${word.slice(0, 12)}”`).slice(0, 3).join(", ")}`
    + `${list.length > 1 ? " have" : " has"} no row in this small table and `
    + `${list.length > 1 ? "are" : "is"} left out.`,
  long: (n) => ` Only the first ${n} are read.`, empty: "Type one of the entries of W.",
  hint: "Use the entries of W, as often as you like.",
  positions: "add positions",
  tokens: "Its tokens, each with its id", chip: (word, id) => `${word} ${id}`,
  one: "One-hot rows O, with a 1 at the id", W: "W: a row per entry",
  rows: "O W: the rows picked", P: "Code of the place", X: "Sum: what goes in",
  token: "token", entry: "entry", feature: "feature", id: "id",
  followed: "follows this token", framed: "frames this number",
  hand: (word, j) => `Change the framed number of W: ${word}, feature ${j + 1}`,
  slide: "slide it", number: "type it", undo: "Undo",
  work: "The arithmetic of one number", key: ["one-hot", "row of W", "code of the place", "sum"],
  follow: (word, id, place) => `“${word}” has the id ${id}, so its one-hot row has its 1 at column `
    + `${id}, and `
    + `multiplied by W it gives row ${id} and nothing else.`,
  cost: (T, product, copied) => ` For ${T} ${T === 1 ? "token" : "tokens"} the product multiplies `
    + `${product} times; picking rows copies ${copied} numbers.`,
  changed: (word, n) => ` Your change to “${word}” has reached ${n === 0
    ? "no token: the word is not in the text" : n === 1 ? "one token"
      : `${n} tokens: every place where the word stands`}.`,
  none: "Type one of the entries of W, and its row is picked.",
};

/** The vocabularies by their language, each with a text, as Python's trait tells them. */
const vocabulariesOf = (model) => Object.fromEntries(
  Object.entries(limits(model, "language").vocabularies).map(([language, { words, example }]) =>
    [language, { words, example, ...vocabularyOf(words), vocabulary: words }]));

/** How many tokens are read. */
const mostOf = (model) => limits(model, "token").high;

/** What is used of the traits. */
function read(model, vocabularies) {
  const language = choice(model, "language");
  const known = vocabularies[language];
  const { tokens, ids: all, unknown } = known.encode(text(model, "text"));
  const most = mostOf(model);
  const ids = all.slice(0, most);
  const T = ids.length;
  const { bound, rows: V, columns: D } = limits(model, "W");
  const within = (x) => clamp(x, -bound, bound, 0);
  const W = numbers(model, "W", V, D).map((row) => row.map(within));
  const old = model.get("before");
  const fits = Array.isArray(old) && old.length === V && old.every((row) => Array.isArray(row)
    && row.length === D && row.every((x) => typeof x === "number" && Math.abs(x) <= bound));
  return {
    language, known, ids, T, V, D, W, before: fits ? numbers(model, "before", V, D) : null, unknown, tokens,
    over: all.length > most, words: ids.map((id) => known.words[id]),
    row: count(model, "row") - 1, column: count(model, "column") - 1,
    token: Math.min(count(model, "token"), Math.max(1, T)) - 1, positions: model.get("positions") === true,
  };
}

/** The traits once a text is read: the word that was typed last is followed, and its row is framed. */
function typed(known, was, text, most) {
  const [old, ids] = [known.encode(was).ids, known.encode(text).ids].map((all) => all.slice(0, most));
  if (ids.join() === old.join() || !ids.length) return { text };
  const same = ids.findIndex((id, t) => id !== old[t]); // the first that is new; -1 where some went
  let last = same < 0 ? ids.length - 1 : same;
  if (ids.length > old.length) last += ids.length - old.length - 1;
  return { text, token: last + 1, row: ids[last] + 1 };
}

/** One-hot rows, the rows they pick, codes and sums. */
function computed({ ids, T, V, D, positions }, W) {
  const one = matrix(T, V, (t, v) => Number(ids[t] === v));
  const rows = matmul(one, W);
  const code = sinusoidal(Array.from({ length: T }, (_, t) => t), D, BASE);
  const P = positions ? code : code.map((row) => row.map(() => 0));
  return { one, rows, P, X: rows.map((row, t) => row.map((x, j) => x + P[t][j])) };
}

function sentence(s, at) {
  if (!s.T) return WORDS.none;
  const id = s.ids[at];
  const cells = !s.before ? []
    : s.W.flatMap((row, i) => (row.some((x, j) => x !== s.before[i][j]) ? [i] : []));
  const told = cells.length === 1 ? WORDS.changed(s.known.words[cells[0]],
    s.ids.filter((one) => one === cells[0]).length) : "";
  return WORDS.follow(s.words[at], id, at) + WORDS.cost(s.T, s.T * s.V * s.D, s.T * s.D) + told;
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "embedding-lookup" });
  const put = setter(model);
  const vocabularies = vocabulariesOf(model);
  const reading = () => read(model, vocabularies);
  const languages = { get: (trait) => model.get(trait), save_changes: () => model.save_changes(),
    set: (_, language) => {
      const known = vocabularies[language];
      model.set({ language, before: [], ...typed(known, "", known.example, mostOf(model)) });
    } };
  select(view, languages, "language", { label: WORDS.language, options: Object.entries(WORDS.languages) });
  toggle(view, model, "positions", { label: WORDS.positions });
  const texts = { get: (trait) => model.get(trait), save_changes: () => model.save_changes(),
    set: (_, now) => model.set(typed(reading().known, text(model, "text"), now, mostOf(model))) };
  const field = typedText(view, texts, { get vocabulary() { return reading().known.words; },
    encode: (typed) => reading().known.encode(typed) }, WORDS);
  view.controls.append(field.box);
  const selection = createSelection();
  const row = chips({ label: WORDS.tokens, selection });
  view.onDispose(row.stop);
  view.controls.after(row.box);

  let column = null; // the feature that the pointer is on
  const point = (t, j, whole = false) => {
    const s = reading();
    column = j !== null && whole ? j : null;
    if (t === null || t >= s.T) selection.leave(); else selection.point({ token: t });
    view.redraw();
  };
  const follow = (t) => put({ token: t + 1, row: reading().ids[t] + 1 });
  const of = { rowAxis: WORDS.token, columnAxis: WORDS.feature, presses: WORDS.followed, press: follow };
  const map = (caption, role, more = {}) => heatmap(view, { caption, role, signed: true, digits: 1,
    point: (t, j) => point(t, j, true), ...of, ...more });
  const one = map(WORDS.one, "query", { columnAxis: WORDS.id, digits: 0, point: (t) => point(t, null) });
  const table = map(WORDS.W, "residual", { rowAxis: WORDS.entry, presses: WORDS.framed,
    point: (id, j) => {
      const t = id === null ? -1 : reading().ids.indexOf(id);
      point(t < 0 ? null : t, j, true);
    },
    press: (i, j) => put({ row: i + 1, column: j + 1 }) });
  const [rows, P, X] = [map(WORDS.rows, "residual"), map(WORDS.P, "key"), map(WORDS.X, "output")];
  const maps = [one, table, rows, P, X];
  maps.forEach(({ pane }, n) => pane.classList.add(`p-map-${n}`));
  const hand = framed(view, model, "W", { read: reading, words: WORDS });
  const told = h("div", { class: "p-told" });
  view.panes.append(one.pane, table.pane, rows.pane, hand.box, P.pane, X.pane, told);
  view.panes.after(legend(...["query", "residual", "key", "output"].map((role, n) => [role, WORDS.key[n]])));
  const written = arithmetic(view, { label: WORDS.work, most: 2, point() {}, press() {} });
  told.append(view.sentence, written.list);

  view.onDispose(selection.subscribe(() => {
    const picked = selection.picked.token;
    if (picked !== null && picked + 1 !== count(model, "token")) follow(picked);
    if (!view.drawing) view.redraw();
  }));
  view.onDraw(() => {
    const s = reading();
    field.draw({ words: s.words, unknown: s.unknown, over: s.over });
    row.draw(s.words.map((word, t) => ({ text: WORDS.chip(word, s.ids[t]) })));
    if (s.T) selection.pick({ token: s.token });
    const at = Math.min(selection.now.token ?? s.token, Math.max(0, s.T - 1));
    const now = computed(s, s.W);
    const was = s.before && computed(s, s.before);
    hand.draw(s, WORDS.hand(s.known.words[s.row], s.column), s.language);
    const ids = Array.from({ length: s.V }, (_, v) => String(v));
    const focus = { row: at };
    const largest = 31;
    const cell = { i: s.row, j: s.column };
    table.draw({ values: s.W, ghost: s.before, rows: s.known.words.map((word, v) => `${v} ${word}`), largest,
      least: 18, focus: s.T ? { row: s.ids[at], cell } : { cell } });
    one.draw(s.T ? { values: now.one, top: 1, rows: s.words, columns: ids, focus, largest, least: 14 }
      : null);
    const draw = (picture, values, ghost, more = {}) => picture.draw(s.T
      ? { values, ghost, focus, largest, least: 18, rows: s.words, ...more } : null);
    draw(rows, now.rows, was?.rows);
    draw(P, now.P, null);
    draw(X, now.X, was?.X);
    const j = column ?? s.column;
    written.draw(s.T ? work({ ...s, ...now, t: at, j }) : [], null);
    view.say(sentence(s, at));
    report(model, { ids: s.ids, x: now.X });
  });
  return live(model, view, () => {
    const s = reading();
    const token = s.T ? { token: s.token + 1 } : {};
    return { language: s.language, row: s.row + 1, column: s.column + 1, ...token };
  });
}

export default guard(render);
