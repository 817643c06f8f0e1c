/** The numbers that are averaged, as dots on a line: before the norm and after it, with mean and spread. */
import { format, give, h } from "../kit/kit.js";
import { makeScale, tickName, ticks } from "../kit/scales.js";

const [SIDE, UPPER, LOWER, HEIGHT] = [14, 44, 112, 142];
const R = 5;

/** How high each dot stands above its line, so that dots in one place are stacked.
 *  @param {number[]} places in px */
function stacked(places) {
  const order = places.map((_, n) => n).sort((a, b) => places[a] - places[b] || a - b);
  const level = Array(places.length).fill(0);
  order.forEach((n, at) => {
    const near = order.slice(0, at).flatMap((m) =>
      (Math.abs(places[m] - places[n]) < 2 * R - 1 ? [level[m]] : []));
    while (near.includes(level[n])) level[n] += 1;
  });
  return level;
}

/**
 * `draw({ lines, before, after, spread, was, on })`: `lines` are their names, `spread` is [middle, width] of
 * each line, `was` the lower
 * dots before the last change, `on` which dot is chosen.
 * @param {Object} view @param {{caption: string, table: string[]}} options
 */
export function dots(view, { caption, table }) {
  const plot = h("g", {});
  const svg = h("svg", { class: "p-dots", height: HEIGHT, role: "img" }, plot);
  const pane = h("figure", { class: "p-pane p-pane-dots" }, h("figcaption", {}, caption), svg);
  let [width, data] = [0, null];

  function line(y, name, values, [middle, wide], at, role, on) {
    const places = values.map(at);
    const level = stacked(places);
    const circle = (x, n) => h("circle", { class: n === on ? "p-dot p-on" : "p-dot", cx: x.toFixed(2),
      cy: (y - 12 - Math.min(level[n], 2) * (2 * R - 1)).toFixed(2), r: R });
    return h("g", { class: "p-dot-line", "data-role": role },
      h("line", { class: "p-ground", x1: SIDE - 8, x2: width - SIDE + 8, y1: y, y2: y }),
      h("rect", { class: "p-spread", x: at(middle - wide).toFixed(2), y: y - 3, height: 6,
        width: Math.max(0.5, at(middle + wide) - at(middle - wide)).toFixed(2) }),
      h("path", { class: "p-middle", d: `M${at(middle).toFixed(2)} ${y - 7}v14` }),
      ...places.map(circle), h("text", { class: "p-line-name", x: SIDE - 8, y: y - 32 }, name));
  }
  function paint() {
    if (!data || !width) return;
    const { lines, before, after, was, spread, on } = data;
    const all = [...before, ...after, ...(was ?? []), -2, 2, ...spread.flatMap(([m, w]) => [m - w, m + w])];
    const scale = makeScale(Math.min(...all), Math.max(...all));
    const at = (v) => SIDE + scale.share(v) * (width - 2 * SIDE);
    const marks = ticks(scale, 8);
    const step = marks.length > 1 ? marks[1] - marks[0] : 1;
    const ghosts = was ? was.map((v, n) => (Math.abs(v - after[n]) > 1e-3
      ? h("circle", { class: "p-was", cx: at(v).toFixed(2), cy: LOWER - 12, r: R }) : null)) : [];
    give(svg, { viewBox: `0 0 ${width} ${HEIGHT}` });
    svg.setAttribute("aria-label", `${caption}: ${[before, after].map((list, n) =>
      `${lines[n]}: ${list.map((v) => format(v)).join(", ")}`).join("; ")}`);
    plot.replaceChildren(
      ...marks.flatMap((v) => [h("line", { class: "p-grid", x1: at(v), x2: at(v), y1: 14, y2: LOWER }),
        h("text", { class: "p-tick", x: at(v), y: HEIGHT - 12 }, tickName(v, step))]),
      ...before.map((v, n) => h("line", { class: n === on ? "p-way p-on" : "p-way", x1: at(v), y1: UPPER,
        x2: at(after[n]), y2: LOWER - 12 - R })),
      ...ghosts.filter(Boolean),
      line(UPPER, lines[0], before, spread[0], at, "residual", on),
      line(LOWER, lines[1], after, spread[1], at, "output", on));
  }
  view.onWidth(svg, (now) => { width = now; paint(); });
  view.table(caption, () => data && ({ head: table,
    rows: data.before.map((v, n) => [String(n + 1), format(v, 3), format(data.after[n], 3)]) }));
  return { pane, draw(next) { data = next; paint(); } };
}
