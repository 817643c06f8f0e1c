/** Small clocks side by side: each pair of columns as a hand, before and after a step. */
import { format, h, plain } from "../kit/kit.js";

const WORDS = {
  name: (i, degrees) => `pair ${i}: a turn of ${format(degrees, 1)} degrees`,
  degrees: (x) => (x > 0 && x < 0.01 ? "< 0.01°" : `${plain(x, 0, x < 1 ? 2 : x < 9.95 ? 1 : 0)}°`),
  pair: (i) => `n = ${i}`,
};
const R = 20;
// column 2i to the right, 2i + 1 upwards
const place = (angle, r = R) => [r * Math.sin(angle), -r * Math.cos(angle)];

/** The way of a hand from one angle to another, one whole turn at most. */
function arc(from, turn, r) {
  const whole = Math.min(turn, 1.999 * Math.PI);
  const [[x, y], [u, v]] = [place(from, r), place(from + whole, r)];
  return `M${x.toFixed(3)} ${y.toFixed(3)}A${r} ${r} 0 ${whole > Math.PI ? 1 : 0} 1 ${u.toFixed(3)} `
    + `${v.toFixed(3)}`;
}

/** @param {Object} frame @param {{caption: string, press: (i: number) => void}} options */
export function pairClocks(frame, { caption, press }) {
  const box = h("div", { class: "p-clocks" });
  const pane = h("figure", { class: "p-pane p-pane-clocks" }, h("figcaption", {}, caption), box);
  const faces = [];
  const make = (i) => {
    const hand = h("line", { class: "p-hand", x1: 0, y1: 0 });
    const later = h("line", { class: "p-hand p-hand-later", x1: 0, y1: 0 });
    const way = h("path", { class: "p-way" });
    const turn = h("b", {});
    const svg = h("svg", { viewBox: "-23 -23 46 46", "aria-hidden": "true" },
      h("circle", { class: "p-face", r: R }), way, later, hand);
    const face = h("button", { type: "button", class: "p-clock", onclick: () => press(i) }, svg,
      h("span", {}, WORDS.pair(i)), turn);
    return { face, hand, later, way, turn };
  };
  let rows = [];
  frame.table(caption, () => rows.length ? { head: ["n", "p", "p + k", "k"], rows } : null);
  return {
    pane,
    /** Draw the hands at p and at p + k; `null` puts the clocks away.
     *  @param {number[]|null} speeds in radians a step @param {{p: number, k: number, chosen: number}=} at */
    draw(speeds, { p, k, chosen } = { p: 0, k: 0, chosen: 0 }) {
      pane.hidden = !speeds;
      rows = [];
      if (!speeds) return;
      while (faces.length > speeds.length) faces.pop().face.remove();
      while (faces.length < speeds.length) {
        faces.push(make(faces.length));
        box.append(faces.at(-1).face);
      }
      const degrees = (angle) => (angle * 180) / Math.PI;
      faces.forEach(({ face, hand, later, way, turn }, i) => {
        const [from, step] = [p * speeds[i], k * speeds[i]];
        for (const [line, angle] of [[hand, from], [later, from + step]]) {
          const [x, y] = place(angle, R - 2);
          line.setAttribute("x2", x.toFixed(3));
          line.setAttribute("y2", y.toFixed(3));
        }
        way.setAttribute("d", arc(from, step, R - 7));
        turn.textContent = WORDS.degrees(degrees(step));
        face.setAttribute("aria-label", WORDS.name(i, degrees(step)));
        face.setAttribute("aria-pressed", String(i === chosen));
      });
      rows = speeds.map((v, i) => [String(i), ...[p, p + k, k].map((n) => `${format(degrees(n * v), 1)}°`)]);
    },
  };
}
