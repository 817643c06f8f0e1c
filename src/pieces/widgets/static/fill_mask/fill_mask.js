/** A mask to fill in: press the cells that may attend, then check. */
import { frame, guard, h, heatmap, legend, live, numbers, remembered, report, text as read,
  words } from "../kit/kit.js";

const [LARGEST, LETTER] = [40, 7.2]; // px of a cell, and of a wide letter of a name
const TRIES = 2; // wrong answers after which the right one may be seen
const WORDS = {
  title: "Fill in the mask", cells: "Fill in the cells", row: "row", column: "column",
  press: "Press the cells that may attend", pressed: "Press the cells", check: "Check", which: "Show which",
  answer: "Show the answer", may: "may attend", masked: "masked", wrong: "wrong",
  cell: (query, key, state) => `query ${query}, key ${key}: ${state}`,
  other: (row, column, state) => `${row}, ${column}: ${state}`,
  right: (why) => `✓ Right. ${why}`,
  count: (n, hint) => `✗ ${n} cell${n > 1 ? "s are" : " is"} wrong. ${hint}`,
  shown: (why) => `This is the answer. ${why}`,
  begin: "No cell is pressed yet. Press the first one that you are sure of.",
};

function render({ model, el }) {
  const given = words(model, "marks"); // what a pressed cell means, where this is no mask
  const other = given.length === 2;
  const view = frame(el, { title: other ? WORDS.cells : WORDS.title, name: "fill-mask", heading: false });
  const side = (list) => Math.min(12, Math.max(1, Array.isArray(list) ? list.length : 0));
  const [T, S] = [side(model.get("answer")), side(model.get("answer")?.[0])];
  const kept = remembered("mask", read(model, "question"));
  let filled = sized(kept.read()) ?? Array.from({ length: T }, () => Array(S).fill(false));
  let marks = null;
  const tries = new Set(); // the same wrong mask twice is one try

  function sized(text) {
    try {
      const mask = JSON.parse(text);
      return mask.length === T && mask.every((row) => row.length === S) ? mask.map((row) => row.map(Boolean))
        : null;
    } catch { return null; }
  }
  function put(i, j) {
    filled = filled.map((row, a) => row.map((x, b) => (a === i && b === j ? !x : x)));
    kept.write(JSON.stringify(filled));
    const others = marks?.map((row, a) => row.map((x, b) => x && (a !== i || b !== j)));
    verdict("", "", others);
  }
  function wrong() {
    const answer = numbers(model, "answer", T, S);
    return filled.map((row, i) => row.map((x, j) => x !== Boolean(answer[i][j])));
  }
  function verdict(kind, words, outlined = null) {
    marks = outlined;
    view.root.dataset.verdict = kind;
    show.hidden = kind !== "wrong";
    if (kind === "right") reveal.hidden = true;
    view.say(words);
    view.redraw();
  }
  function check() {
    const errors = wrong().flat().filter(Boolean).length;
    if (errors && !filled.flat().some(Boolean)) { // no try: the count would tell the answer's
      verdict("", WORDS.begin, marks);
      report(model, { correct: false, filled });
      return;
    }
    if (errors) tries.add(JSON.stringify(filled));
    if (errors) verdict("wrong", WORDS.count(errors, diagnosis() || read(model, "hint")).trim());
    else {
      kept.solve();
      verdict("right", WORDS.right(read(model, "why")));
    }
    reveal.hidden = !errors || tries.size < TRIES;
    report(model, { correct: errors === 0, filled });
  }
  /** What is said to a typical slip. */
  function diagnosis() {
    const slips = Array.isArray(model.get("slips")) ? model.get("slips") : [];
    const same = ([mask]) => filled.every((row, i) => row.every((x, j) => x === Boolean(mask?.[i]?.[j])));
    return slips.find(same)?.[1] ?? "";
  }
  function answer() {
    filled = numbers(model, "answer", T, S).map((row) => row.map(Boolean));
    verdict("shown", WORDS.shown(read(model, "why")));
    reveal.hidden = true;
  }
  const [open, closed] = other ? given : [WORDS.may, WORDS.masked];
  const name = (list, at) => words(model, list)[at] || String(at + 1);
  const grid = heatmap(view, {
    caption: other ? WORDS.pressed : WORDS.press, role: "query", press: put, tellInCaption: true,
    states: [open, closed],
    ...(other ? { rowAxis: WORDS.row, columnAxis: WORDS.column } : {}),
    speak: (i, j) => (other ? WORDS.other : WORDS.cell)(name("rows", i), name("columns", j),
      filled[i][j] ? open : closed),
  });
  // The frame of the focus fits the grid and its names; what is read above them may be wider.
  const long = (list) => Math.max(1, ...words(model, list).map((one) => one.length)) * LETTER;
  const aslant = long("columns") > LARGEST ? Math.max(0, 0.72 * long("columns") - LARGEST / 2) : 0;
  grid.board.style.maxWidth = `${Math.ceil(S * LARGEST + long("rows") + 12 + aslant)}px`;
  const question = h("p", { class: "p-question" });
  const press = (words, onclick) => h("button", { type: "button", class: "p-button", onclick }, words);
  const show = press(WORDS.which, () => { marks = wrong(); view.redraw(); });
  const reveal = press(WORDS.answer, answer);
  show.hidden = reveal.hidden = true;
  view.panes.append(question, grid.pane, h("div", { class: "p-side" },
    legend(["query", open], ["mask", closed], ["leak", WORDS.wrong]),
    h("div", { class: "p-answer" }, press(WORDS.check, check), show, reveal), view.sentence));
  view.onDraw(() => {
    question.textContent = read(model, "question");
    grid.draw({ values: filled.map((row) => row.map(Number)), mask: filled, marks, top: 1, print: false,
      largest: LARGEST,
      rows: words(model, "rows"), columns: words(model, "columns") });
  });
  return live(model, view);
}

export default guard(render);
