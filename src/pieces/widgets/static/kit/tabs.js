/** Views of which one is open: buttons in a row that set one trait. */
import { choice, commit, h } from "./dom.js";

/**
 * @param {Object} frame @param {Object} model @param {string} trait
 * @param {{label: string, options: string[][]}} options value and name of each view
 */
export function tabs(frame, model, trait, { label, options }) {
  const values = options.map(([value]) => value);
  const buttons = options.map(([value, name]) =>
    h("button", { type: "button", class: "p-tab", "data-view": value,
      onclick: () => commit(model, trait, value) }, name));
  const box = h("div", { class: "p-tabs", role: "group", "aria-label": label }, ...buttons);
  frame.onDraw(() => buttons.forEach((one, n) =>
    one.setAttribute("aria-pressed", String(values[n] === choice(model, trait, values)))));
  return { box };
}
