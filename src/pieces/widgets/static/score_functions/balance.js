/** A weighted average as a balance: weights lie on a beam at their values, and it rests on their average. */
import { format, give, h } from "../kit/kit.js";

const HEIGHT = 92;
const BEAM = 46;
const SIDE = 22;

/**
 * `draw({ values, weights, output, ghost, unit })`; `ghost` is the average before.
 * @param {Object} view @param {{caption: string, digits?: number}} options
 */
export function balance(view, { caption, digits = 1 }) {
  const beam = h("line", { class: "p-beam", y1: BEAM, y2: BEAM });
  const loads = h("g", {});
  const was = h("path", { class: "p-was-at", d: "M0 0L-7 12H7Z" });
  const rest = h("g", { "data-role": "output", "data-lit": "output", class: "p-rest" },
    h("path", { d: "M0 0L-9 15H9Z" }), h("text", {}));
  const svg = h("svg", { class: "p-balance", height: HEIGHT, role: "img" }, beam, was, loads, rest);
  const pane = h("figure", { class: "p-pane p-pane-balance" }, h("figcaption", {}, caption), svg);
  let width = 0;
  let data = null;
  function paint() {
    if (!data || !width) return;
    const { values, weights, output, ghost, unit } = data;
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const at = (v) => (high > low ? SIDE + (v - low) / (high - low) * (width - 2 * SIDE) : width / 2);
    give(svg, { viewBox: `0 0 ${width} ${HEIGHT}` });
    svg.setAttribute("aria-label", `${caption}: ${format(output, digits)}${unit}`);
    beam.setAttribute("x1", "4");
    beam.setAttribute("x2", String(width - 4));
    const order = values.map((_, i) => i).sort((a, b) => weights[b] - weights[a]);
    const named = [];
    const clear = (i) => named.every((j) => Math.abs(at(values[i]) - at(values[j])) > 22);
    for (const i of order) if (clear(i)) named.push(i);
    loads.replaceChildren(...values.map((value, i) => {
      const r = 2 + 14 * Math.sqrt(weights[i]);
      const put = `translate(${at(value).toFixed(2)} ${BEAM})`;
      return h("g", { "data-role": "value", "data-lit": "value", "data-key": i, transform: put },
        h("circle", { r: r.toFixed(2), cy: (-r).toFixed(2) }),
        named.includes(i)
          ? h("text", { y: -2 * r - 5 }, format(value, Number.isInteger(value) ? 0 : digits)) : null);
    }));
    rest.setAttribute("transform", `translate(${at(output).toFixed(2)} ${BEAM})`);
    was.toggleAttribute("hidden", !Number.isFinite(ghost));
    if (Number.isFinite(ghost)) was.setAttribute("transform", `translate(${at(ghost).toFixed(2)} ${BEAM})`);
    const number = rest.lastElementChild;
    number.textContent = `${format(output, digits)}${unit}`;
    const half = 6 + number.textContent.length * 5.5;
    number.setAttribute("x", String(Math.max(half - at(output), Math.min(width - half - at(output), 0))));
    number.setAttribute("y", "34");
  }
  view.onWidth(svg, (now) => { width = now; paint(); });
  return { pane, draw(next) { data = next; paint(); } };
}
