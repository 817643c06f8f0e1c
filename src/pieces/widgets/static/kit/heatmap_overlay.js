/** What lies over the cells of a heat map: labels, and frames of a row, a column and a cell. SVG, so that a
 *  pointer that moves paints no cell again. */
import { h } from "./dom.js";
import { counted } from "./heatmap_cells.js";
import { shortened } from "./measure.js";

/** @typedef {import("./heatmap_cells.js").Layout} Layout
 *  @typedef {{row?: number|null, rows?: number, column?: number|null, cell?: {i: number, j: number}|null}}
 * Focus */

export function overlay() {
  const names = h("g", { class: "p-names" });
  const frame = (kind) => h("g", { class: `p-frame p-frame-${kind}`, "data-frame": kind },
    h("rect", { class: "p-halo", rx: 4 }), h("rect", { class: "p-ring", rx: 4 }));
  const frames = { column: frame("column"), row: frame("row"), cell: frame("cell") };
  const svg = h("svg", { class: "p-over", "aria-hidden": "true" }, names, ...Object.values(frames));
  /** @type {Layout|null} */
  let layout = null;
  let labels = { row: new Map(), column: new Map() };
  let labelled = ""; // what the labels were made for

  function put(group, box) {
    group.toggleAttribute("hidden", !box);
    if (!box) {
      for (const rect of group.children) for (
        const name of ["x", "y", "width", "height"]) rect.removeAttribute(name);
      return;
    }
    for (const rect of group.children) {
      for (const [name, value] of Object.entries(box)) rect.setAttribute(name, String(Math.max(0, value)));
    }
  }
  return {
    svg,
    /** As if nothing had been drawn. */
    clear() {
      layout = null;
      labelled = "";
      labels = { row: new Map(), column: new Map() };
      names.replaceChildren();
      for (const name of ["viewBox", "width", "height"]) svg.removeAttribute(name);
      for (const group of Object.values(frames)) {
        group.removeAttribute("hidden");
        for (const rect of group.children) for (
          const name of ["x", "y", "width", "height"]) rect.removeAttribute(name);
      }
    },
    /** Names beside and above the cells.
     *  @param {Layout} next @param {string[]} rows @param {string[]} columns @param {string} font */
    label(next, rows, columns, font) {
      layout = next;
      const wanted = JSON.stringify([next, rows, columns, font]);
      if (wanted === labelled) return; // new nodes are a new layout of the page
      labelled = wanted;
      const { cell, high, left, top, tilted, T, S, width, height, room } = layout;
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("width", String(width));
      svg.setAttribute("height", String(height));
      names.replaceChildren();
      if (!T || !S) return;
      labels = { row: new Map(), column: new Map() };
      const every = (side, need = 12.5) => [1, 2, 5, 10, 20, 50, 100].find((n) => n * side >= need) ?? 200;
      const add = (map, at, name, attributes, space) => {
        const node = h("text", { "data-at": at, ...attributes }, shortened(name, space, font));
        names.append(node);
        map.set(at, node);
      };
      const steps = (count, side, list, need) => {
        const step = every(side, need);
        const start = list.length || step === 1 ? 0 : step - 1; // numbers: 5, 10, 15; names: from the first
        return Array.from({ length: Math.max(0, Math.ceil((count - start) / step)) },
          (_, n) => start + n * step);
      };
      for (const i of steps(T, high, rows)) {
        add(labels.row, i, rows[i] || String(i + 1),
          { x: left - 5, y: top + (i + 0.5) * high, "text-anchor": "end", "data-axis": "row" }, room);
      }
      const longest = columns.reduce((most, name) => Math.max(most, name?.length ?? 0), String(S).length);
      for (const j of steps(S, cell, columns, counted(columns) ? 7 * longest + 1 : 12.5)) {
        const [x, name] = [left + (j + 0.5) * cell, columns[j] || String(j + 1)];
        const lean = tilted && name.length > 1;
        const turn = lean ? { transform: `translate(${x - 2} ${top - 5}) rotate(-45)` }
          : { x, y: top - 9, "text-anchor": "middle" };
        add(labels.column, j, name, { ...turn, "data-axis": "column" },
          lean ? Math.min((top - 12) / 0.72, 1.38 * (width - x)) : Infinity);
        const node = labels.column.get(j);
        // “3…” says nothing
        if (name.length < 6 && node.textContent !== name) { node.remove(); labels.column.delete(j); }
      }
    },
    /** `rows` of them from `row` on are framed together. @param {Focus} focus */
    frame({ row = null, rows = 1, column = null, cell = null }) {
      if (!layout) return;
      const { left, top, T, S, gap } = layout;
      const [w, t] = [layout.cell, layout.high];
      const inside = (n, most) => n !== null && n !== undefined && n >= 0 && n < most;
      put(frames.row, inside(row, T) ? { x: left - 1, y: top + row * t - 1, width: S * w - gap + 2,
        height: rows * t - gap + 2 } : null);
      put(frames.column, inside(column, S) ? {
        x: left + column * w - 1, y: top - 1, width: w - gap + 2, height: T * t - gap + 2 } : null);
      put(frames.cell, cell && inside(cell.i, T) && inside(cell.j, S)
        ? { x: left + cell.j * w, y: top + cell.i * t, width: w - gap, height: t - gap } : null);
      for (const [map, at] of /** @type {[Map<number, Element>, number|null][]} */ (
        [[labels.row, cell?.i ?? row], [labels.column, cell?.j ?? column]])) {
        map.forEach((node, n) => {
          if (n === at) node.setAttribute("class", "p-on"); else node.removeAttribute("class");
        });
      }
    },
  };
}
