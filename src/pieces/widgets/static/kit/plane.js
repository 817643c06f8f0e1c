/** A query among its keys in the plane: dragged, tapped or moved by arrow keys. */
import { clamp, format, h, setText } from "./dom.js";
import { fontOf, textWidth } from "./measure.js";
import { words } from "./words.js";

const SPAN = 3.3; // keys beyond it stand at the edge
const SIZE = 240;
/** What the edge of the picture stands for. */
export const EDGE = SPAN * (SIZE / 2) / (SIZE / 2 - 10);

/**
 * Keys stand still; lines as wide as the weights lead to them.
 * `draw({ x, y, keys, weights, flat, ghost, names, places })`; `flat` where there is no second coordinate;
 * `ghost` is
 * where the query was; `names` stand at the keys, in place of their numbers; `places` are named spots
 * without a key.
 * @param {Object} view
 * @param {{caption: string, where: () => {x: number, y: number}, move: (x: number, y: number) => void,
 *   reach: number, backdrop?: Element}} options the query stays within ±`reach`; `backdrop` lies behind
 *   everything, as large as the plane
 */
export function plane(view, { caption, where, move, reach, backdrop }) {
  const text = words.plane;
  const place = (v) => SIZE / 2 + (clamp(v, -SPAN, SPAN, 0) / SPAN) * (SIZE / 2 - 10);
  const round = (v) => Math.round(clamp(v, -reach, reach, 0) * 100) / 100;
  const value = (at, length) => round(((at / length - 0.5) * SIZE * SPAN) / (SIZE / 2 - 10));
  const lines = h("g", {});
  const spots = h("g", { class: "p-spots" });
  const dots = h("g", {});
  const query = h("g", { class: "p-query", "data-role": "query", "data-lit": "query" },
    h("circle", { class: "p-grip", r: 24 }), h("circle", { r: 11 }), h("text", {}, text.letter));
  const trail = h("line", { class: "p-trail" });
  const was = h("g", { class: "p-was", "data-role": "query" }, trail, h("circle", { r: 10 }));
  const svg = h("svg", { class: "p-plane", viewBox: `0 0 ${SIZE} ${SIZE}`, tabindex: "0",
    role: "application" },
    h("path", { class: "p-axes", d: `M0 ${SIZE / 2}H${SIZE}M${SIZE / 2} 0V${SIZE}` }), spots, lines, was,
      dots, query);
  const box = h("div", { class: "p-plane-box" }, backdrop, svg);
  const pane = h("figure", { class: "p-pane p-pane-plane" }, h("figcaption", {}, caption), box);
  const marks = [];
  let data = null;
  let font = ""; // of the names
  let spotted = ""; // the spots that are drawn

  function follow(event) {
    const box = svg.getBoundingClientRect();
    move(value(event.clientX - box.left, box.width), -value(event.clientY - box.top, box.height));
  }
  // A finger beside the query scrolls the page; a tap or the mouse calls the query anywhere.
  let dragging = false; // a finger is captured at once wherever it lands, so capture says nothing
  svg.addEventListener("pointerdown", (event) => {
    dragging = event.pointerType !== "touch" || query.contains(/** @type {Node} */ (event.target));
    if (!dragging) return;
    svg.setPointerCapture(event.pointerId);
    follow(event);
  });
  svg.addEventListener("pointermove", (event) => { if (dragging) follow(event); });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { dragging = false; });
  // a finger on it drags it
  query.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
  svg.addEventListener("click", follow);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1],
      ArrowDown: [0, -0.1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const { x, y } = where();
    move(round(x + step[0]), round(y + step[1]));
  });
  view.table(text.table, () => data && {
    head: text.head,
    rows: [[text.query, data.x, data.y],
      ...data.keys.map((k, i) => [data.names?.[i] ?? text.key(i + 1), k[0], k[1]])].map(([name, x, y]) =>
      [name, format(x), data.flat ? text.none : format(y)]),
  });
  return {
    pane,
    draw(next) {
      data = next;
      const { x, y, keys, weights, flat, ghost, names, places = [] } = next;
      while (marks.length > keys.length) Object.values(marks.pop()).forEach((node) => node.remove());
      while (marks.length < keys.length) {
        const i = marks.length;
        const line = h("line", { "data-role": "weight", "data-lit": "weight", "data-key": i });
        const dot = h("g", { "data-role": "key", "data-lit": "key", "data-key": i }, h("circle", { r: 8.5 }),
          h("text", {}));
        lines.append(line);
        dots.append(dot);
        marks.push({ line, dot });
      }
      const at = (a, b) => [place(a), place(flat ? 0 : -b)];
      const wanted = JSON.stringify([flat, places]);
      if (wanted !== spotted) spots.replaceChildren(...places.map((spot) => {
        const [sx, sy] = at(spot.x, spot.y);
        return h("g", { transform: `translate(${sx} ${sy})` }, h("circle", { r: 2.6 }),
          h("text", { y: 11 }, spot.name));
      }));
      spotted = wanted;
      const [qx, qy] = at(x, y);
      was.toggleAttribute("hidden", !ghost);
      if (ghost) {
        const [gx, gy] = at(ghost[0], ghost[1]);
        was.lastElementChild.setAttribute("transform", `translate(${gx} ${gy})`);
        for (const [name, v] of Object.entries({ x1: gx, y1: gy, x2: qx, y2: qy })) trail.setAttribute(name,
          String(v));
      }
      query.setAttribute("transform", `translate(${qx} ${qy})`);
      svg.setAttribute("aria-label", text.label(format(x), flat ? null : format(y)));
      marks.forEach(({ line, dot }, i) => {
        const [kx, ky] = at(keys[i][0], keys[i][1]);
        dot.setAttribute("transform", `translate(${kx} ${ky})`);
        const label = dot.lastElementChild;
        setText(label, names?.[i] ?? String(i + 1));
        label.classList.toggle("p-key-name", Boolean(names));
        // A name keeps within the picture, on the side of its key that is away from the middle.
        if (names) font ||= fontOf(label);
        const half = names ? textWidth(names[i] ?? String(i + 1), font) / 2 + 4 : 0;
        label.setAttribute("x", String(names ? clamp(kx, half, SIZE - half) - kx : 0));
        label.setAttribute("y", String(names ? (ky < SIZE / 2 ? -17 : 17) : 0));
        const ends = { x1: qx, y1: qy, x2: kx, y2: ky, "stroke-width": (0.3 + 8 * weights[i]).toFixed(2) };
        for (const [name, v] of Object.entries(ends)) line.setAttribute(name, v);
      });
    },
  };
}
