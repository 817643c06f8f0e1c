/**
 * A clock with two hands, query and key, and the angle between them. It begins at twelve and runs
 * clockwise.
 */
import { h } from "../kit/kit.js";

const [SIZE, MIDDLE, RADIUS] = [100, 50, 46];
const TURN = 2 * Math.PI;
/** Where a hand of this length points. */
const tip = (angle, length) =>
  [MIDDLE + length * Math.sin(angle), MIDDLE - length * Math.cos(angle)].map((x) => x.toFixed(2));

/**
 * A wedge from the key's hand on to the query's, the angle of their distance: a whole ring from one
 * turn on.
 */
function wedge(from, by, radius) {
  if (Math.abs(by) >= TURN) return `M${MIDDLE - radius} ${MIDDLE}a${radius} ${radius} 0 1 1 `
    + `${2 * radius} 0a${radius} ${radius} 0 1 1 ${-2 * radius} 0Z`;
  const [start, end] = [tip(from, radius), tip(from + by, radius)];
  return `M${MIDDLE} ${MIDDLE}L${start.join(" ")}A${radius} ${radius} 0 `
    + `${Math.abs(by) > Math.PI ? 1 : 0} ${by < 0 ? 0 : 1} ${end.join(" ")}Z`;
}

/** @param {string} name what kind of clock it is, for the style */
export function clock(name) {
  const known = h("path", { class: "p-known", "data-role": "residual" });
  const between = h("path", { class: "p-between", "data-role": "score" });
  const line = (role, kind) => h("line",
    { class: `p-hand ${kind}`, "data-role": role, x1: MIDDLE, y1: MIDDLE });
  const was = { query: line("query", "p-was-hand"), key: line("key", "p-was-hand") };
  const hands = { query: line("query", "p-now-hand"), key: line("key", "p-now-hand") };
  const svg = h("svg", { class: `p-clock ${name}`, viewBox: `0 0 ${SIZE} ${SIZE}`, "aria-hidden": "true" },
    known, h("circle", { class: "p-face", cx: MIDDLE, cy: MIDDLE, r: RADIUS }),
    h("line", { class: "p-noon", x1: MIDDLE, x2: MIDDLE, y1: 4, y2: 9 }),
    between, was.key, was.query, hands.key, hands.query,
      h("circle", { class: "p-pin", cx: MIDDLE, cy: MIDDLE, r: 2.4 }));
  const point = (node, angle, length) => {
    const [x, y] = tip(angle, length);
    node.setAttribute("x2", x);
    node.setAttribute("y2", y);
  };
  return {
    svg,
    /** @param {{query: number, key: number, ghost?: {query: number, key: number}|null, known?: number|null}}
     * angles
     *   in radians, not reduced; `known` is the largest difference that training has shown */
    draw({ query, key, ghost = null, known: seen = null }) {
      point(hands.query, query, 41);
      point(hands.key, key, 31);
      between.setAttribute("d", wedge(key, query - key, 22));
      known.toggleAttribute("hidden", seen === null);
      if (seen !== null) known.setAttribute("d", wedge(key, seen, RADIUS));
      for (const [role, node] of Object.entries(was)) {
        node.toggleAttribute("hidden", !ghost);
        if (ghost) point(node, ghost[role], role === "query" ? 41 : 31);
      }
    },
  };
}
