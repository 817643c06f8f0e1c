/** What is carried along: of each query its largest score, its sum and its output so far. */
import { format, h, makeRamp } from "../kit/kit.js";

/**
 * @param {Object} view
 * @param {{caption: string, heads: string[], point: (i: number|null) => void, press: (i: number) => void,
 *   words: {was: (x: string) => string, divided: string}}} options
 */
export function keptRows(view, { caption, heads, point, press, words }) {
  const body = h("tbody", {});
  const columns = heads.map((name) => h("th", { scope: "col" }, name));
  const head = h("thead", {}, h("tr", {}, ...columns));
  const pane = h("figure", { class: "p-pane p-pane-kept" }, h("figcaption", {}, caption),
    h("table", { class: "p-kept", onpointerleave: () => point(null) }, head, body));
  let shape = "";
  let ramps = null;
  view.onTheme(() => { ramps = null; view.redraw(); });
  const cell = () => h("td", {});
  return {
    pane,
    /** @param {{name: string, state: string, m: number, l: number, o: number[], was: number[]|null,
     *   on: boolean}[]} rows @param {number} top */
    draw(rows, top) {
      const width = rows[0].o.length;
      if (shape !== `${rows.length} ${width}`) {
        shape = `${rows.length} ${width}`;
        columns.at(-1).setAttribute("colspan", String(width));
        body.replaceChildren(...rows.map((_, i) => h("tr", { onpointerenter: () => point(i),
          onclick: () => press(i) }, h("th", { scope: "row" }), ...Array.from({ length: width + 2 }, cell))));
      }
      ramps ??= { o: makeRamp(pane, "output", true), s: makeRamp(pane, "score", true) };
      rows.forEach((row, i) => {
        const line = /** @type {HTMLTableRowElement} */ (body.children[i]);
        line.dataset.state = row.state;
        line.className = row.on ? "p-on" : "";
        const [name, ...cells] = [...line.children].map((one) => /** @type {HTMLElement} */ (one));
        name.textContent = row.name;
        const values = [row.m, row.l, ...row.o];
        cells.forEach((one, n) => {
          const there = row.state === "now" || (row.state === "done" && n > 1);
          const divided = row.state === "done" && n === 1; // says what the numbers beside it are
          one.textContent = there ? format(values[n], 2) : divided ? words.divided : "";
          const shade = there && n !== 1 ? ramps[n ? "o" : "s"].shade(values[n], n ? top : 3) : null;
          if (shade) one.style.cssText = `background:${shade.fill};color:${shade.text}`;
          else one.style.cssText = divided ? "color:var(--p-faint)" : "color:inherit";
          const was = row.was?.[n];
          const moved = there && was !== undefined && Math.abs(was - values[n]) > 5e-7;
          one.className = moved ? "p-moved" : "";
          one.title = moved ? words.was(format(was, 2)) : "";
        });
      });
    },
  };
}
