/** The scores as a board of cells: those of the tile that is in memory, those that were, those to come. */
import { format, h, makeRamp } from "../kit/kit.js";

/** One digit behind the point, and no power of ten, for which a cell is too narrow. */
const tenths = (x) => x.toFixed(1).replace(/^-0\.0$/, "0.0").replace("-", "−");

/**
 * `draw(state)`: cells are made anew when the sizes change, else they stay. A press on a row's name, or on
 * one of its cells, chooses the query.
 * @param {Object} view
 * @param {{caption: string, press: (i: number) => void, point: (i: number|null) => void,
 *   words: {state: Record<string, string>, row: (name: string) => string,
 *   cell: (row: string, column: string, said: string) => string}}} options
 */
export function tileBoard(view, { caption, press, point, words }) {
  const grid = h("div", { class: "p-tiles" });
  const pane = h("figure", { class: "p-pane p-pane-tiles" }, h("figcaption", {}, caption), grid);
  let shape = "";
  /** @type {HTMLElement[][]} */
  let cells = [];
  /** @type {HTMLElement[]} */
  let names = [];
  let heads = [];
  const edge = h("span", { class: "p-tile-frame" });
  let ramp = null;
  view.onTheme(() => { ramp = null; view.redraw(); });

  function make(T, S) {
    heads = Array.from({ length: S }, () => h("span", { class: "p-tile-key" }, h("i", {})));
    names = Array.from({ length: T }, (_, i) => h("button", { type: "button", class: "p-tile-query",
      onclick: () => press(i), onfocus: () => point(i), onblur: () => point(null) }));
    cells = Array.from({ length: T }, (_, i) => Array.from({ length: S }, (_, j) =>
      h("span", { class: "p-tile-cell", "data-cell": `${i},${j}`, onclick: () => press(i),
        onpointerenter: () => point(i) })));
    grid.style.setProperty("--columns", String(S));
    grid.replaceChildren(h("span", {}), ...heads, ...names.flatMap((name, i) => [name, ...cells[i]]), edge);
  }
  grid.addEventListener("pointerleave", () => point(null));
  return {
    pane,
    /** @param {{rows: string[], columns: string[], state: (i: number, j: number) => string,
     *   value: (i: number, j: number) => number, top: number, row: number|null, chosen: number|null,
     *   tile: {i: number[], j: number[]}|null}} s `row` is followed, `chosen` was pressed */
    draw({ rows, columns, state, value, top, row, chosen, tile }) {
      if (shape !== `${rows.length} ${columns.length}`) {
        shape = `${rows.length} ${columns.length}`;
        make(rows.length, columns.length);
      }
      ramp ??= makeRamp(grid, "score", true);
      heads.forEach((head, j) => { head.firstElementChild.textContent = columns[j]; });
      names.forEach((name, i) => {
        name.textContent = rows[i];
        name.setAttribute("aria-label", words.row(rows[i]));
        name.setAttribute("aria-pressed", String(i === chosen));
        name.classList.toggle("p-on", i === row);
        name.classList.toggle("p-in-block", tile !== null && tile.i.includes(i));
      });
      edge.hidden = tile === null;
      if (tile) {
        const [top, left] = [tile.i[0] + 2, tile.j[0] + 2]; // behind the heads and the names
        edge.style.gridArea = `${top} / ${left} / ${top + tile.i.length} / ${left + tile.j.length}`;
      }
      cells.forEach((line, i) => line.forEach((cell, j) => {
        const is = state(i, j);
        cell.dataset.state = is;
        cell.classList.toggle("p-on", i === row);
        const shown = is === "now" ? ramp.shade(value(i, j), top) : null;
        if (shown) cell.style.cssText = `background:${shown.fill};color:${shown.text}`;
        else cell.style.cssText = "color:inherit";
        cell.textContent = shown ? tenths(value(i, j)) : "";
        cell.title = words.cell(rows[i], columns[j], shown ? format(value(i, j), 3) : words.state[is]);
      }));
    },
  };
}
