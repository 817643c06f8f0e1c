/** A whole number by hand or to the digit: a slider over round stops, and beside it a field. */
import { numberField, slider } from "./kit.js";

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
 * @param {{label: string, exactly: string, among: () => number[],
 *   low: number, high: number|(() => number), into: Element, by?: number,
 *   complain?: (text: string) => void}} options `among` gives the stops of the slider; without `exactly`
 *   there is no field
 */
export function exact(view, model, trait, options) {
  const { label, exactly, among, low, high, into, by = 1, complain = () => {} } = options;
  const value = () => model.get(trait);
  const put = (number) => { model.set(trait, number); model.save_changes(); };
  /** A value that was typed is a stop as well, so that an arrow key leads on from it. */
  const all = () => [...new Set([...among(), value()])].sort((a, b) => a - b);
  const { box } = slider(view, model, trait,
    { label, stops: all, into, show: () => value().toLocaleString("en") });
  if (!exactly) return;
  const field = numberField({ label: exactly, low, high, by, value,
    whole: true, change: put, complain: () => complain(field.input.title) });
  field.input.addEventListener("blur", () => view.redraw());
  box.classList.add("p-exact");
  box.append(field.input);
  view.onDraw(() => field.update());
}
