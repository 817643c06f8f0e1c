/** Change one number of a table, and see which numbers of the normalised table move. */
import { arithmetic } from "../kit/arithmetic.js";
import { framed } from "../kit/framed.js";
import { button, choice, clamp, count, frame, guard, h, heatmap, legend, limits, live, numbers, real, report,
  select, setter, slider, words as wordsOf } from "../kit/kit.js";
import { cube } from "./norm_cube.js";
import { dots } from "./norm_dots.js";
import { small, work } from "./norm_work.js";
import { averaged, normalised, picked, statistics } from "./norms.js";

const MOVED = 1e-3;
const NARROW = 608; // px; the rows of the second table are numbered there, to leave its numbers room
const PAD = "pad";
const REAL = 4; // tokens before the padding
/** Tables to begin with: that of Python's traits, the same with its end padded, and one for sums by hand. */
const startsOf = (X, words) => ({
  two: { X, words, texts: 2 },
  padded: { X: X.map((row, i) => (i < REAL ? row : row.map(() => 0))), texts: 2,
    words: words.map((word, i) => (i < REAL ? word : PAD)) },
  hand: { X: [[1, 2, 3], [4, 5, 6]], words: [], texts: 1 },
});
const WORDS = {
  title: "Who is averaged with whom?", norm: "norm",
  kinds: { batch: "BatchNorm", layer: "LayerNorm", rms: "RMSNorm", text: "one mean for the whole text" },
  starts: { two: "Two texts", padded: "With padding", hand: "[[1, 2, 3], [4, 5, 6]]" },
  framed: (name, j) => `Change the framed number: ${name}, feature ${j + 1}`,
  slide: "slide it", number: "type it", twice: "Row × 2", plus: "Row + 3", undo: "Undo",
  eps: "ε", gain: "gain γ of its feature", shift: "shift β of its feature",
  input: "The numbers", result: "After the norm", token: "token", feature: "feature",
  presses: "chooses that number",
  cube: "As a batch of texts", axes: ["features", "tokens", "texts"],
  dots: "The averaged numbers on a line", after: "after",
  before: (kind) => `before: ${kind === "rms" ? "0 and RMS" : "mean and spread"}`,
  table: ["number", "before", "after"], work: "The arithmetic of the framed number",
  told: (n) => `${n} little cubes are filled: the numbers that are averaged together`,
  key: ["input", "result", "averaged together", "moved by your last change"],
  token_: (i) => `token ${i + 1}`, quoted: (word) => `“${word}”`,
  who: {
    batch: (s, name) => `BatchNorm averages feature ${s.column + 1} over all ${s.T} tokens of the batch`
      + (s.words.includes(PAD) ? ", padding among them." : "."),
    layer: (s, name) => `LayerNorm averages the ${s.D} features of ${name}, and nothing else.`,
    rms: (s, name) =>
      `RMSNorm averages the squares of the ${s.D} features of ${name}, and subtracts no mean.`,
    text: (s) => `Here all ${s.D * s.T / s.texts} numbers of a text share one mean. `
      + "The Transformers in this book do not do this: a token would depend on later ones.",
  },
  nothing: " Your last change moves nothing here.",
  moves: (n, all, where) => ` Your last change moves ${n} of ${all} numbers, ${where}.`,
  where: { column: (j, n) => `${n > 1 ? "all " : ""}in column ${j + 1}`,
    row: (name, n) => `${n > 1 ? "all " : ""}in the row of ${name}`,
    rows: (n) => `in ${n} rows` },
};

/** What is used of the traits: a cell that is no number is 0, and what is no table has one cell. */
function read(model) {
  const { most, bound } = limits(model, "X");
  const side = (list) => (Array.isArray(list) ? clamp(list.length, 1, most) : 1);
  const given = model.get("X");
  const [T, D] = [side(given), side(given?.[0])];
  const inside = (x) => typeof x === "number" && Math.abs(x) <= bound;
  const old = model.get("before");
  const fits = Array.isArray(old) && old.length === T
    && old.every((row) => Array.isArray(row) && row.length === D && row.every(inside));
  const along = (trait, usual) => Array.from({ length: D }, (_, j) =>
    clamp(model.get(trait)?.[j], -limits(model, trait).bound, limits(model, trait).bound, usual));
  const texts = count(model, "texts");
  const words = wordsOf(model, "words");
  return {
    kind: choice(model, "kind"), X: numbers(model, "X", T, D), T, D,
    before: fits ? numbers(model, "before", T, D) : null,
    texts: T % texts ? 1 : texts,
    row: count(model, "row", undefined, T) - 1, column: count(model, "column", undefined, D) - 1,
    eps: real(model, "eps"), gain: along("gain", 1), shift: along("shift", 0),
    words: words.length === T && words.every(Boolean) ? words : [],
  };
}
const used = (model) => {
  const { kind, texts, row, column, eps } = read(model);
  return { kind, texts, row: row + 1, column: column + 1, eps };
};
const nameOf = (s, i) => (s.words[i] ? WORDS.quoted(s.words[i]) : WORDS.token_(i));

/** Which numbers of the result the last change has moved, in words. */
function change(s, moved) {
  if (!s.before) return "";
  if (!moved.length) return WORDS.nothing;
  const [rows, columns] = [0, 1].map((axis) => [...new Set(moved.map((cell) => cell[axis]))]);
  const where = rows.length === 1 ? WORDS.where.row(nameOf(s, rows[0]), moved.length)
    : columns.length === 1 ? WORDS.where.column(columns[0], moved.length) : WORDS.where.rows(rows.length);
  return WORDS.moves(moved.length, s.T * s.D, where);
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "norm-axes" });
  const put = setter(model);
  select(view, model, "kind", { label: WORDS.norm, options: Object.entries(WORDS.kinds) });
  const fresh = { before: [], gain: [], shift: [], row: 1, column: 1, eps: limits(model, "eps").default };
  const starts = Object.entries(startsOf(limits(model, "X").default, limits(model, "words").default))
    .map(([name, start]) => ({ start,
      node: button(view, { label: WORDS.starts[name], press: () => put({ ...start, ...fresh }) }).box }));

  /** @type {[number, number]|null} */
  let hovered = null;
  const point = (i, j) => {
    if (i === (hovered?.[0] ?? null) && j === (hovered?.[1] ?? null)) return;
    hovered = i === null ? null : [i, j];
    view.redraw();
  };
  const press = (i, j) => put({ row: i + 1, column: j + 1 });
  let [narrow, cell] = [false, 0]; // the second table's cells follow those of the first
  const both = { signed: true, press, point, rowAxis: WORDS.token, columnAxis: WORDS.feature,
    presses: WORDS.presses };
  const input = heatmap(view, { caption: WORDS.input, role: "residual", digits: 1, ...both,
    arranged: (layout) => {
      if (layout.cell === cell) return;
      cell = layout.cell;
      if (!view.drawing) view.redraw();
    } });
  const result = heatmap(view, { caption: WORDS.result, role: "output", ...both });
  view.onWidth(view.panes, (width) => { narrow = width < NARROW; view.redraw(); });
  const block = cube({ caption: WORDS.cube, axes: WORDS.axes, tell: WORDS.told, point, press });
  const hand = framed(view, model, "X", { read: () => read(model), words: WORDS,
    rows: [[WORDS.twice, (x) => 2 * x], [WORDS.plus, (x) => x + 3]] });
  const key = legend(...["residual", "output", "residual", "leak"].map((role, n) => [role, WORDS.key[n]]));
  key.children[2].firstElementChild.classList.add("p-key-frame");
  const named = (s) => { view.panes.dataset.named = String(s.words.length > 0); };
  named(read(model)); // before the widths are asked for
  view.panes.append(input.pane, result.pane, block.pane, hand.box);
  view.panes.after(key);
  const written = arithmetic(view, { label: WORDS.work, most: 3, point() {}, press() {} });
  const strip = dots(view, { caption: WORDS.dots, table: WORDS.table });
  const more = h("div", { class: "p-controls p-more" });
  view.sentence.after(written.list, strip.pane, more);
  slider(view, model, "eps", { label: WORDS.eps, scale: "ten", into: more, show: small });
  const [, shift] = ["gain", "shift"].map((trait) => slider(view, {
    get: () => { const s = read(model); return s[trait][s.column]; },
    set(_, value) { const s = read(model); put({ [trait]: s[trait].with(s.column, value) }); },
    save_changes() {},
  }, trait, { label: WORDS[trait], min: -limits(model, trait).bound, max: limits(model, trait).bound,
    step: limits(model, trait).step, into: more }));

  view.onDraw(() => {
    const s = read(model);
    const near = hovered && hovered[0] < s.T && hovered[1] < s.D;
    const at = near ? { ...s, row: hovered[0], column: hovered[1] } : s;
    const Y = normalised(s.X, s.kind, s);
    const was = s.before && normalised(s.before, s.kind, s);
    const marks = Y.map((row, i) => row.map((y, j) => Boolean(was) && Math.abs(was[i][j] - y) > MOVED));
    const moved = marks.flatMap((row, i) => row.flatMap((is, j) => (is ? [[i, j]] : [])));
    const group = averaged(s.kind, s, at.row, at.column);
    const framedCell = { i: at.row, j: at.column };
    const focus = s.kind === "batch" ? { column: at.column, cell: framedCell }
      : { row: group.rows[0], rows: group.rows.length, cell: framedCell };
    named(s);
    input.draw({ values: s.X, ghost: s.before, focus, rows: s.words, largest: 46, least: 22 });
    result.draw({ values: Y, ghost: was, marks, rows: narrow ? [] : s.words,
      largest: cell || 46, least: 22,
      // a frame would hide the ring of what has moved
      focus: marks[at.row][at.column] ? {} : { cell: framedCell } });
    block.draw({ ...s, chosen: [at.row, at.column], moved: (i, j) => marks[i][j],
      average: (i, j) => group.rows.includes(i) && group.columns.includes(j) });
    const [before, after] = [picked(s.X, group), picked(Y, group)];
    const of = statistics(before);
    const spread = ({ mean, square, variance }) =>
      (s.kind === "rms" ? [0, Math.sqrt(square)] : [mean, Math.sqrt(variance)]);
    strip.draw({ lines: [WORDS.before(s.kind), WORDS.after], before, after, was: was && picked(was, group),
      spread: [spread(of), spread(statistics(after))],
      on: group.rows.indexOf(at.row) * group.columns.length + group.columns.indexOf(at.column) });
    written.draw(work(at, before, of, Y[at.row][at.column]), null);
    hand.draw(s, WORDS.framed(nameOf(s, s.row), s.column));
    shift.show(s.kind !== "rms"); // RMSNorm has no shift
    const key = JSON.stringify(s.X);
    for (const { start, node } of starts) node.disabled = JSON.stringify(start.X) === key;
    view.say(WORDS.who[s.kind](at, nameOf(at, at.row)) + change(s, moved));
    report(model, { result: Y, mean: of.mean, spread: spread(of)[1], moved });
  });
  return live(model, view, used);
}

export default guard(render);
