/** A whole number by hand or to the digit: a slider over round stops, and beside it a field. */
import { numberField, slider } from "./controls.js";
import { commit, h, limits, setText } from "./dom.js";

/** Round numbers from `low` to `high`, eight to a doubling, each a multiple of `unit`.
 *  @param {number} low @param {number} high @param {number} unit @returns {number[]} */
export function stops(low, high, unit = 1) {
  const found = new Set([low]);
  for (let octave = 1; octave <= high; octave *= 2) {
    for (let eighth = 0; eighth < 8; eighth++) {
      const value = octave * (1 + eighth / 8);
      if (value % unit === 0 && value >= low && value <= high) found.add(value);
    }
  }
  return [...found.add(high)].sort((a, b) => a - b);
}

/**
 * @param {Object} view @param {Object} model @param {string} trait
 * @param {{label: string, exactly: string, among: () => number[], used: () => number, into: Element,
 *   even?: boolean, mark?: () => string, complain?: (text: string) => void}} options `among` gives the stops
 *   of the slider, which stands at what is `used`; the field keeps what was wished, and `mark` says why the
 *   two differ; without `exactly` there is no field
 */
export function exact(view, model, trait, options) {
  const { label, exactly, among, used, into, even = false, mark, complain = () => {} } = options;
  const { low, high } = limits(model, trait);
  const value = () => model.get(trait);
  /** A value that was typed is a stop as well, so that an arrow key leads on from it. */
  const all = () => [...new Set([...among().filter((n) => n >= low && n <= high), used()])]
    .sort((a, b) => a - b);
  const thumb = { get: (name) => (name === trait ? used() : model.get(name)),
    set: (_, number) => model.set(trait, number), save_changes: () => model.save_changes() };
  const { box } = slider(view, thumb, trait,
    { label, stops: all, into, show: () => used().toLocaleString("en") });
  if (mark) {
    const note = h("p", { class: "p-mark", role: "status" });
    box.append(note);
    view.onDraw(() => { setText(note, mark()); });
  }
  if (!exactly) return;
  const field = numberField({ label: exactly, low, high, by: even ? 2 : 1, value, even,
    whole: true, change: (number) => commit(model, trait, number),
    complain: () => complain(field.input.title) });
  field.input.addEventListener("blur", () => view.redraw());
  box.classList.add("p-exact");
  box.querySelector("input[type=range]").after(field.input);
  view.onDraw(() => field.update());
}
