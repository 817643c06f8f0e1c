/** A batch as little cubes, texts × tokens × features; those that are averaged together are filled. */
import { h } from "../kit/kit.js";

const [PITCH, SIDE, DEEP] = [34, 17, 5]; // a text stands half a pitch behind the one before: in its gaps
const [LEFT, BELOW, RIGHT] = [16, 20, 22];

/**
 * `draw({ T, D, texts, average, chosen, moved })`: cells by [row, column] of the table.
 * @param {{caption: string, axes: string[], tell: (count: number) => string,
 *   point: (i: number|null, j: number|null) => void, press: (i: number, j: number) => void}} options
 */
export function cube({ caption, axes, tell, point, press }) {
  const cells = h("g", {});
  const names = axes.map((name) => h("text", {}, name));
  const svg = h("svg", { class: "p-cube", role: "img", onpointerleave: () => point(null, null) }, cells,
    ...names);
  const pane = h("figure", { class: "p-pane p-pane-cube" }, h("figcaption", {}, caption), svg);
  let made = "";

  /** Front, top and right side of a cube whose front begins at 0, 0. */
  const faces = () => [
    h("rect", { class: "p-front", width: SIDE, height: SIDE }),
    h("path", { class: "p-top", d: `M0 0l${DEEP} ${-DEEP}h${SIDE}l${-DEEP} ${DEEP}Z` }),
    h("path", { class: "p-side", d: `M${SIDE} 0l${DEEP} ${-DEEP}v${SIDE}l${-DEEP} ${DEEP}Z` }),
  ];
  function make(T, D, texts) {
    const long = T / texts;
    const back = (texts - 1) * PITCH / 2;
    const [wide, high] = [D * PITCH + back, long * PITCH + back];
    svg.setAttribute("viewBox", `0 0 ${LEFT + wide + RIGHT} ${high + BELOW}`);
    svg.style.maxWidth = `${1.15 * (LEFT + wide + RIGHT)}px`;
    const order = Array.from({ length: texts }, (_, b) => texts - 1 - b); // from the back to the front
    cells.replaceChildren(...order.flatMap((b) => Array.from({ length: long * D }, (_, n) => {
      const [t, j] = [Math.floor(n / D), n % D];
      const i = b * long + t;
      const [x, y] = [LEFT + j * PITCH + b * PITCH / 2, back + t * PITCH + DEEP + 2 - b * PITCH / 2];
      return h("g", { class: "p-little", "data-cell": `${i},${j}`, transform: `translate(${x} ${y})`,
        onpointerenter: () => point(i, j), onclick: () => press(i, j) }, ...faces());
    })));
    const places = [[LEFT + D * PITCH / 2 - 8, high + BELOW - 5, 0], [9, back + long * PITCH / 2, -90],
      [LEFT + D * PITCH + 6, high - 2, -45]];
    names.forEach((name, n) => {
      const [x, y, turn] = places[n];
      name.setAttribute("transform", `translate(${x} ${y}) rotate(${turn})`);
      name.setAttribute("text-anchor", n === 2 ? "start" : "middle");
    });
    names[2].toggleAttribute("hidden", texts === 1);
  }
  return {
    pane,
    draw({ T, D, texts, average, chosen, moved }) {
      const key = [T, D, texts].join();
      if (made !== key) make(T, D, texts);
      made = key;
      let count = 0;
      for (const one of cells.children) {
        const [i, j] = one.getAttribute("data-cell").split(",").map(Number);
        const inside = average(i, j);
        count += Number(inside);
        one.classList.toggle("p-in", inside);
        one.classList.toggle("p-chosen", i === chosen[0] && j === chosen[1]);
        one.classList.toggle("p-moved", moved(i, j));
      }
      svg.setAttribute("aria-label", tell(count));
    },
  };
}
