/** The stack as a picture: the stream with its sublayers, and two rows of lamps below it. */
import { give, h } from "../kit/kit.js";

// Of the picture its height; y of the stream and of boxes that hang on it; the height of a box.
const [HEIGHT, STREAM, HANG, BOX] = [150, 44, 12, 13];
const [FIRST, SECOND, LAMP] = [82, 124, 20]; // y of the two rows of lamps, and how tall they are
const [EDGE, ALL] = [3, 1]; // px at the sides; a size from which a lamp has its full light

/**
 * `draw({ depth, skip, norm, forward, backward, at })`. `point(place)` follows the pointer, null when it
 * leaves; `press(place)` is a click.
 * @param {Object} frame
 * @param {{label: () => string, rows: string[], point: (place: number|null) => void,
 *   press: (place: number) => void}} options
 */
export function lamps(frame, { label, rows, point, press }) {
  const stream = h("path", { class: "p-flow-stream" });
  const branch = h("path", { class: "p-flow-branch" });
  const parts = h("g", {});
  const lights = ["residual", "score"].map((role) => h("g", { "data-role": role }));
  const ring = h("rect", { class: "p-flow-at", rx: 2 });
  const names = rows.map((name, n) => h("text", { class: "p-flow-name", x: EDGE,
    y: [FIRST, SECOND][n] - 6, "text-anchor": ["start", "end"][n] }, name));
  const svg = h("svg", { class: "p-flow", height: HEIGHT, role: "img" }, stream, branch, parts, ...lights,
    ring, ...names);
  const [boxes, dots, cells] = [[], [], [[], []]];
  let [data, width] = [null, 0];

  /** As many nodes as there are places; those that stay keep their light, and glide. */
  function keep(list, into, count, make) {
    while (list.length > count) list.pop().remove();
    while (list.length < count) into.append(list[list.push(make(list.length)) - 1]);
  }
  const gap = () => (width - 2 * EDGE) / (data.depth + 1);
  const middle = (place) => EDGE + (place + 0.5) * gap();
  function paintStack() {
    const { depth, skip, norm } = data;
    const y = skip ? HANG : STREAM - BOX / 2;
    const wide = Math.min(22, 0.56 * gap());
    const bent = (n) => {
      const [a, b, top] = [middle(n), middle(n + 1), HANG + BOX / 2];
      return `M${a} ${STREAM}C${a} ${top} ${a} ${top} ${(a + b) / 2 - wide / 2} ${top}`
        + `M${(a + b) / 2 + wide / 2} ${top}C${b} ${top} ${b} ${top} ${b} ${STREAM}`;
    };
    give(stream, { d: `M${middle(0)} ${STREAM}H${middle(depth)}` });
    stream.toggleAttribute("data-thin", !skip);
    give(branch, { d: skip ? Array.from({ length: depth }, (_, n) => bent(n)).join("") : "" });
    keep(boxes, parts, depth, () => h("rect", { class: "p-flow-box", height: BOX, rx: 2 }));
    boxes.forEach((box, n) => give(box, { x: (middle(n) + middle(n + 1)) / 2 - wide / 2, width: wide, y }));
    keep(dots, parts, norm === "none" ? 0 : depth, () => h("circle", { class: "p-flow-norm" }));
    const r = Math.min(4, 0.2 * gap());
    dots.forEach((dot, n) => give(dot, norm === "post" ? { cx: middle(n + 1), cy: STREAM, r }
      : { cx: middle(n) + (skip ? 0.12 : 0.2) * gap(), cy: skip ? STREAM - 16 : STREAM, r }));
  }
  function paintLamps() {
    const [each, tall] = [gap(), LAMP];
    const thin = each > 8 ? 1.5 : 0.5;
    [data.forward, data.backward].forEach((sizes, row) => {
      keep(cells[row], lights[row], data.depth + 1,
        () => h("rect", { class: "p-lamp", height: tall, rx: 2 }));
      cells[row].forEach((cell, n) => {
        give(cell, { x: middle(n) - each / 2 + thin / 2, width: each - thin, y: [FIRST, SECOND][row] });
        const light = Math.min(ALL, sizes[n]);
        cell.style.fillOpacity = String(Number.isFinite(light) ? light : 1);
        cell.style.transitionDelay = `${5 * (row ? data.depth - n : n)}ms`;
      });
    });
  }
  function paint() {
    if (!data || !width) return;
    give(svg, { viewBox: `0 0 ${width} ${HEIGHT}`, "aria-label": label() });
    give(names[1], { x: width - EDGE }); // what comes from the loss is named at its end
    paintStack();
    paintLamps();
    mark();
  }
  function mark() {
    give(ring, { x: middle(data.at) - gap() / 2, width: gap(), y: FIRST - 2,
      height: SECOND + LAMP - FIRST + 4 });
  }
  const under = (event) => {
    const left = event.clientX - svg.getBoundingClientRect().left;
    return Math.min(data.depth, Math.max(0, Math.floor((left - EDGE) / gap())));
  };
  svg.addEventListener("pointermove", (event) => { if (data && width) point(under(event)); });
  svg.addEventListener("pointerleave", () => point(null));
  svg.addEventListener("click", (event) => { if (data && width) press(under(event)); });
  frame.onWidth(svg, (now) => { width = now; paint(); });
  return {
    pane: h("div", { class: "p-flow-pane" }, svg),
    draw(next) { data = next; paint(); },
    /** Move the ring alone. */
    mark(place) { if (data && width) { data.at = place; mark(); } },
  };
}
