/** Lines of arithmetic whose numbers are tiles in the colours of the cells that they stand for. */
import { h } from "./dom.js";
import { makeRamp } from "./ramp.js";

/** @typedef {{value: number, text: string, role: string, top: number}} Tile a number as it is written; `top`
 * has the full colour
 *  @typedef {string|Tile|{raised: string}|any[]} Part a list of parts stays on one line
 *  @typedef {{result: Part, how: Part[]}} Line */

/**
 * `draw(lines, on)`: as many lines as there are, the one that is followed marked. The nodes stay.
 * @param {Object} view
 * @param {{label: string, most: number, point: (line: number|null) => void, press: (line: number) => void}}
 *   options
 */
export function arithmetic(view, { label, most, point, press }) {
  let ramps = {};
  let theme = 0;
  view.onTheme(() => { ramps = {}; theme += 1; view.redraw(); });
  const rows = Array.from({ length: most }, (_, n) => {
    const [result, how] = [h("b", {}), h("span", {})];
    const node = h("li", {
      class: "", tabindex: "0", onpointerenter: () => point(n), onfocus: () => point(n),
      onblur: () => point(null), onclick: () => press(n),
    }, result, how);
    return { result, how, node, key: "" };
  });
  const list = h("ul", { class: "p-work", "aria-label": label, onpointerleave: () => point(null) },
    ...rows.map(({ node }) => node));

  function part(given) {
    if (typeof given === "string") return given;
    if (Array.isArray(given)) return h("span", { class: "p-together" }, ...given.map(part));
    if ("raised" in given) return h("sup", {}, given.raised);
    const { fill, text } = (ramps[given.role] ??= makeRamp(list, given.role, true)).shade(given.value,
      given.top);
    return h("i", { class: "p-tile", "data-role": given.role, style: `background:${fill};color:${text}` },
      given.text);
  }
  return {
    list,
    /** @param {Line[]} lines @param {number|null} on */
    draw(lines, on) {
      rows.forEach((row, n) => {
        const line = lines[n];
        row.node.hidden = !line;
        row.node.classList.toggle("p-on", n === on);
        const key = line ? JSON.stringify([line, theme]) : "";
        if (!line || key === row.key) return;
        row.result.replaceChildren(part(line.result));
        row.how.replaceChildren(...line.how.map(part));
        row.key = key;
      });
    },
  };
}
