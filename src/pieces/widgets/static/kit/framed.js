/** One number of a table in the reader's hand: slid, typed, and the whole change taken back. */
import { numberField, slider } from "./controls.js";
import { h, limits, setText, setter } from "./dom.js";
import { changes } from "./frames.js";

/** What changes the number of `trait` that stands at `row` and `column` of what is used, `read()`; the table
 *  as it was before goes into the trait `before`, once for a whole drag. `rows` are buttons that change each
 *  number of its row: [label, (x) => number].
 *  @param {Object} view @param {Object} model @param {string} trait
 *  @param {{read: () => any, words: {slide: string, number: string, undo: string},
 *    rows?: [string, (x: number) => number][]}} options */
export function framed(view, model, trait, { read, words, rows = [] }) {
  const { bound, step } = limits(model, trait);
  const put = setter(model);
  const begins = changes();
  const write = (of) => {
    const { [trait]: before, before: kept, row, column } = read();
    const table = before.map((line, i) => (i === row ? line.map((x, j) => of(x, j === column)) : line));
    put(begins() || !kept ? { [trait]: table, before } : { [trait]: table });
  };
  const value = () => { const { [trait]: table, row, column } = read(); return table[row][column]; };
  const set = (number) => write((x, mine) => (mine ? number : x));
  const title = h("p", { class: "p-framed-title" });
  const box = h("div", { class: "p-framed" }, title);
  slider(view, { get: value, set: (_, number) => set(number), save_changes() {} }, trait,
    { label: words.slide, min: -bound, max: bound, step, into: box });
  const note = h("p", { class: "p-note", role: "status" });
  const complain = () => {
    setText(note, field.input.getAttribute("aria-invalid") === "true" ? field.input.title : "");
  };
  const field = numberField({ label: words.number, low: -bound, high: bound, by: step, value, change: set,
    complain });
  const press = (label, act) => h("button", { type: "button", class: "p-button", onclick: act }, label);
  const undo = press(words.undo, () => put({ [trait]: read().before, before: [] }));
  const whole = rows.map(([label, of]) => ({ of, node: press(label, () => write(of)) }));
  box.append(field.input, ...whole.map(({ node }) => node), undo, note);
  let last = ""; // what was framed, and its table: another one is nothing that was typed wrong
  return {
    box,
    /** What is used, its name in words, and `also`, what makes it another number beside place and table. */
    draw(used, name, also = "") {
      const { [trait]: table, before, row, column } = used;
      setText(title, name);
      const now = JSON.stringify([row, column, table, also]);
      if (now !== last) field.input.setAttribute("aria-invalid", "false");
      last = now;
      field.update();
      complain();
      undo.disabled = !before;
      for (const { node, of } of whole) node.disabled = table[row].some((x) => Math.abs(of(x)) > bound);
    },
  };
}
