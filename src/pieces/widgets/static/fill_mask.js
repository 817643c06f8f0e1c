/** A mask to fill in: press the cells that may attend, then check. */
import { frame, guard, h, heatmap, legend, live, numbers, remembered, report, text as read, words } from "./kit.js";

const LARGEST = 40; // px of a cell

function render({ model, el }) {
  const view = frame(el, { title: "Fill in the mask", name: "fill-mask", heading: false });
  const side = (list) => Math.min(12, Math.max(1, Array.isArray(list) ? list.length : 0));
  const [T, S] = [side(model.get("answer")), side(model.get("answer")?.[0])];
  const kept = remembered(`mask:${read(model, "question")}`);
  let filled = sized(kept.read()) ?? Array.from({ length: T }, () => Array(S).fill(false));
  let marks = null;

  function sized(text) {
    try {
      const mask = JSON.parse(text);
      return mask.length === T && mask.every((row) => row.length === S) ? mask.map((row) => row.map(Boolean)) : null;
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
    view.say(words);
    view.redraw();
  }
  function check() {
    const errors = wrong().flat().filter(Boolean).length;
    const count = `✗ ${errors} cell${errors > 1 ? "s are" : " is"} wrong. ${read(model, "hint")}`;
    if (errors) verdict("wrong", count.trim());
    else verdict("right", `✓ Right. ${read(model, "why")}`);
    report(model, { correct: errors === 0, filled });
  }
  const name = (list, at) => words(model, list)[at] || String(at + 1);
  const grid = heatmap(view, {
    caption: "Press the cells that may attend", role: "query", press: put, tellInCaption: true,
    speak: (i, j) => `query ${name("rows", i)}, key ${name("columns", j)}: ${filled[i][j] ? "may attend" : "masked"}`,
  });
  grid.pane.style.maxWidth = `${S * LARGEST + 66}px`; // the frame of the focus fits the grid
  const question = h("p", { class: "p-question" });
  const press = (words, onclick) => h("button", { type: "button", class: "p-button", onclick }, words);
  const show = press("Show which", () => { marks = wrong(); view.redraw(); });
  show.hidden = true;
  view.panes.append(question, grid.pane, h("div", { class: "p-side" },
    legend(["query", "may attend"], ["mask", "masked"], ["leak", "wrong"]),
    h("div", { class: "p-answer" }, press("Check", check), show), view.sentence));
  view.onDraw(() => {
    question.textContent = read(model, "question");
    grid.draw({ values: filled.map((row) => row.map(Number)), mask: filled, marks, top: 1, print: false, largest: LARGEST,
      rows: words(model, "rows"), columns: words(model, "columns") });
  });
  return live(model, view);
}

export default guard(render);
