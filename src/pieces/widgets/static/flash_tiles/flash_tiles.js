/** Attention tile by tile, played: of each row a largest score, a sum and an output so far are carried on. */
import { arithmetic } from "../kit/arithmetic.js";
import { choice, clamp, count, format, frame, guard, h, legend, limits, live, numbers, report, select, setter,
  slider, toggle, words as wordsOf } from "../kit/kit.js";
import { parts, whole } from "../kit/parts.js";
import { player } from "../kit/player.js";
import { keptRows } from "./kept_rows.js";
import { rowLines } from "./row_lines.js";
import { tileBoard } from "./tile_board.js";
import { after, score, seen } from "./tiled.js";

const LONGER = 3; // times: what `late` does to the last key
const WORDS = {
  title: "A softmax that never sees the whole row", rows: "queries in a block", columns: "keys in a block",
  mask: "mask", none: "none", causal: "causal", late: "a long last key",
  player: "Tiles done", at: (n, of) => (n > of ? "divided" : `tile ${n} of ${of}`),
  board: "The scores that are on the chip", kept: "What is carried along each row",
  heads: ["query", "m", "ℓ", "o, the output so far"],
  token: (n) => `token ${n}`, quoted: (word) => `“${word}”`,
  longer: (name) => `${name} × ${LONGER}`, row: (name) => `Work out the row of ${name}`,
  cell: (row, column, said) => `${row} · ${column}: ${said}`,
  state: { past: "computed, used and forgotten", next: "not computed yet", hidden: "hidden by the mask",
    left: "left out: the mask hides the whole tile" },
  was: (x) => `was ${x}`,
  key: ["on the chip now", "forgotten", "still to come", "hidden by the mask", "changed by this tile"],
  work: (name) => `The row of ${name} in this tile`,
  last: (name, n) => `The row of ${name} in tile ${n}, its last`,
  lines: { m: "m", l: "ℓ", o: "o, first number", end: "o / ℓ" },
  divided: "o / ℓ",
  moved: "Numbers moved between memory and processor", unit: "numbers",
  ways: ["tiles, so far", "the whole matrix"],
  parts: ["queries, keys, values, output", "scores and weights"],
  begin: (of, mask) => `Tiles to do: ${of}, row by row`
    + `${mask ? "; those that the mask hides are left out" : ""}. Press Play, or step.`,
  tile: (n, of, queries, keys, many) => `Tile ${n} of ${of}: ${queries} meet${many ? "" : "s"} ${keys}. `,
  first: (name, m) => `For ${name} the largest score so far is ${m}. `,
  same: (name, m) => `For ${name} the largest score stays ${m}, so nothing is shrunk. `,
  rises: (name, was, m, shrink) => `For ${name} the largest score rises from ${was} to ${m}, `
    + `so what was summed before is multiplied by ${shrink}. `,
  blind: (name) => `${name} sees none of these keys. `,
  done: (name) => `This was its last tile: o divided by ℓ finishes the row of ${name}.`,
  later: (name, n) => `${name} has to wait: its row begins with tile ${n}.`,
  over: (name) => `The row of ${name} is finished.`,
  never: (name) => `The mask hides every key from ${name}.`,
  end: "Each o has been divided by its ℓ. The result is exactly that of the plain equation.",
  table: ["query", "m", "ℓ", "o"],
};

const quoted = (word) => WORDS.quoted(word);

/** @returns {any} */
function read(model) {
  const size = (name) => {
    const given = model.get(name);
    const { most, widest } = limits(model, name);
    const side = (list, longest) => (Array.isArray(list) ? clamp(list.length, 1, longest) : 1);
    return [side(given, most), side(given?.[0], widest)];
  };
  const [[T, width], [S]] = [size("Q"), size("K")];
  const table = (name, rows) => numbers(model, name, rows, width);
  const late = model.get("late") === true;
  const K = table("K", S).map((row, j) => (late && j === S - 1 ? row.map((x) => LONGER * x) : row));
  const g = { Q: table("Q", T), K, V: table("V", S), causal: choice(model, "mask") === "causal",
    rows: count(model, "rows"), columns: count(model, "columns") };
  const given = wordsOf(model, "words");
  const names = (n) => Array.from({ length: n },
    (_, i) => (given.length === n && given[i]) || WORDS.token(i + 1));
  const keys = names(S).map((name, j) => (late && j === S - 1 ? WORDS.longer(name) : name));
  return { ...g, names: names(T), keys, wished: count(model, "step"), row: count(model, "row") };
}

const listed = (names) => (names.length > 2 ? `${quoted(names[0])} … ${quoted(names.at(-1))}`
  : names.map(quoted).join(" and "));

/** What is said of a row that is not in the tile. */
function apart(is, i, name) {
  const first = is.all.findIndex((tile) => tile.i.includes(i));
  return is.output[i] ? WORDS.over(name) : first < 0 ? WORDS.never(name) : WORDS.later(name, first + 1);
}

function sentence(s, is, step, i) {
  if (is.end) return WORDS.end;
  if (!is.tile) return WORDS.begin(is.all.length, s.causal);
  const [was, now, name] = [is.before[i], is.now[i], quoted(s.names[i])];
  const tile = WORDS.tile(step, is.all.length, listed(is.tile.i.map((n) => s.names[n])),
    listed(is.tile.j.map((n) => s.keys[n])), is.tile.i.length > 1);
  if (!is.tile.i.includes(i)) return tile + apart(is, i, name);
  const [from, to] = [format(was.m, 2), format(now.m, 2)];
  const told = !now.open.length ? WORDS.blind(name) : !Number.isFinite(was.m) ? WORDS.first(name, to)
    : now.m > was.m ? WORDS.rises(name, from, to, format(now.shrink, 2)) : WORDS.same(name, to);
  return tile + told + (is.tile.last ? WORDS.done(name) : "");
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "flash-tiles" });
  const put = setter(model);
  let now = read(model);
  /** @type {any} */
  let is = null;
  let step = -1;
  const stage = h("div", { class: "p-stage" });
  view.controls.after(stage);
  const process = player(view, { into: stage, label: WORDS.player, states: 2, tween: 0, dwell: 900,
    show: (at) => { if (Math.round(at) !== step) put({ step: Math.round(at) }); },
    name: (n) => WORDS.at(n, is?.all.length ?? 0) });
  slider(view, model, "rows", { label: WORDS.rows, max: () => now.Q.length });
  slider(view, model, "columns", { label: WORDS.columns, max: () => now.K.length });
  select(view, model, "mask",
    { label: WORDS.mask, options: [["none", WORDS.none], ["causal", WORDS.causal]] });
  toggle(view, model, "late", { label: WORDS.late });

  /** @type {number|null} */
  let hovered = null;
  const point = (i) => { if (i !== hovered) { hovered = i; view.redraw(); } };
  const press = (i) => put({ row: count(model, "row") === i + 1 ? 0 : i + 1 });
  const board = tileBoard(view, { caption: WORDS.board, press, point, words: WORDS });
  const kept = keptRows(view, { caption: WORDS.kept, heads: WORDS.heads, point, press, words: WORDS });
  const key = legend(["residual", WORDS.key[0]], ["residual", WORDS.key[1]], ["residual", WORDS.key[2]],
    ["mask", WORDS.key[3]], ["leak", WORDS.key[4]]);
  key.children[0].firstElementChild.classList.add("p-key-now");
  key.children[2].firstElementChild.classList.add("p-key-next");
  const title = h("p", { class: "p-work-title" });
  const written = arithmetic(view, { label: WORDS.lines.m, most: 4, point() {}, press() {} });
  const moved = parts(view, { caption: WORDS.moved, unit: WORDS.unit, show: whole });
  view.panes.append(board.pane, kept.pane);
  view.panes.after(key);
  view.sentence.after(title, written.list, moved.pane);

  const stateOf = (i, j) => {
    if (!seen(now, i, j)) return "hidden";
    const at = is.all.findIndex((tile) => tile.i.includes(i) && tile.j.includes(j));
    return at < 0 ? "left" : at + 1 === step ? "now" : at + 1 < step ? "past" : "next";
  };
  const rowState = (i) => (is.tile?.i.includes(i) ? "now" : is.output[i] ? "done" : "next");
  view.table(WORDS.kept, () => is && { head: WORDS.table, rows: now.names.map((name, i) => {
    const row = rowState(i);
    const o = row === "done" ? is.output[i] : row === "now" ? is.now[i].o : [];
    return [name, ...["m", "l"].map((n) => (row === "now" ? format(is.now[i][n], 4) : "–")),
      o.map((x) => format(x, 4)).join(", ") || "–"];
  }) });
  view.onDraw(() => {
    now = read(model);
    const all = after(now, 0).all.length;
    step = Math.min(now.wished, all + 1); // one more than there are tiles: the division
    is = after(now, step);
    process.limit(all + 2);
    if (process.position !== step && !process.playing) process.jump(step);
    const block = is.tile?.i ?? [];
    const chosen = now.row && now.row <= now.Q.length ? now.row - 1 : null;
    const i = hovered !== null && (is.end || block.includes(hovered)) ? hovered
      : chosen ?? (is.tile ?? is.all.at(-1))?.i[0] ?? 0;
    const marked = is.tile || is.end || chosen !== null ? i : null;
    board.draw({ rows: now.names, columns: now.keys, state: stateOf, value: (a, b) => score(now, a, b),
      top: 3, row: marked, chosen, tile: is.tile });
    const most = Math.max(1, ...now.V.flat().map(Math.abs));
    kept.draw(now.names.map((name, n) => {
      const state = rowState(n);
      const mine = state === "done" ? { m: 0, l: 0, o: is.output[n] }
        : is.now[n] ?? { m: 0, l: 0, o: now.V[0] };
      const old = is.before[n];
      const was = state === "now" && !is.tile.first ? [old.m, old.l, ...old.o] : null;
      return { name, state, m: mine.m, l: mine.l, o: mine.o, was, on: n === marked };
    }), most);
    const last = is.all.findLastIndex((tile) => tile.i.includes(i)) + 1;
    title.textContent = block.includes(i) ? WORDS.work(quoted(now.names[i]))
      : is.output[i] ? WORDS.last(quoted(now.names[i]), last) : "";
    written.draw(rowLines(now, is, i, WORDS.lines), null);
    const io = 2 * now.Q[0].length * (now.Q.length + now.K.length);
    moved.draw([{ name: WORDS.ways[0], parts: [{ name: WORDS.parts[0], role: "query", value: is.moved }] },
      { name: WORDS.ways[1], parts: [{ name: WORDS.parts[0], role: "query", value: io },
        { name: WORDS.parts[1], role: "score", value: is.matrix - io }] }]);
    view.say(sentence(now, is, step, i));
    report(model, { tiles: all, moved: [is.moved, is.matrix], held: is.held,
      output: is.output.filter(Boolean),
      kept: block.map((n) => [is.now[n].m, is.now[n].l, ...is.now[n].o]) });
  });
  return live(model, view, () => ({ rows: count(model, "rows"), columns: count(model, "columns"),
    mask: choice(model, "mask"), late: model.get("late") === true, step: count(model, "step"),
    row: count(model, "row") }));
}

export default guard(render);
