/** The heat map: a canvas that reads like a table. Masked cells are hatched, never just pale. */
import { h, writes } from "./dom.js";
import { arrange, labelFont, paintCells } from "./heatmap_cells.js";
import { overlay } from "./heatmap_overlay.js";
import { makeRamp, stripes } from "./ramp.js";
import { moved, rowInShort, seen } from "./heatmap_read.js";
import { extent, fromNested } from "../twin/tensor.js";
import { words } from "./words.js";

const WHOLE = 4096; // cells; the table view of a larger map has a line for each row

/** A grid of answers from what a picture holds: a tensor, nested lists, or nothing. */
function reader(given) {
  if (!given) return null;
  const t = fromNested(given);
  const [down, across] = t.strides;
  return { T: t.shape[0], S: t.shape[1] ?? 0, tensor: t,
    at: (i, j) => t.data[t.offset + i * down + j * across] };
}

/**
 * @param {Object} frame
 * @param {{caption: string, role: string, rowAxis?: string, columnAxis?: string, signed?: boolean,
 *   digits?: number, press?: (i: number, j: number) => void, presses?: string, point?: (i: number|null, j:
 * number|null) => void,
 *   speak?: (i: number, j: number) => string, tellInCaption?: boolean,
 *   selection?: ReturnType<typeof import("./selection.js").createSelection>, selects?: {row?: string,
 * column?: string},
 *   states?: string[],
 *   arranged?: (layout: import("./heatmap_cells.js").Layout) => void}} options `arranged` hears where the
 * cells stand; `states` are the words for an open and a masked cell, where cells have no numbers
 * `draw({ values, mask, top, rows, columns, focus, marks, ghost, least })`: `mask` false = hatched; `marks`
 * outlines cells;
 * `least` is the side of the smallest cell that has its number;
 * `focus` is a row, or { row, column, cell: { i, j } }; `ghost` the values before. Values are a tensor or
 * nested lists.
 * A cell is read in a tip beside it, or in the caption, where cells are drawn by hand and none may be
 * covered.
 */
export function heatmap(frame, options) {
  const { caption, role, rowAxis = "query", columnAxis = "key", signed = false, digits = 2, selection,
    selects = { row: "row", column: "column" }, states } = options;
  const text = words.heatmap;
  const write = writes(role);
  const canvas = h("canvas", { "aria-hidden": "true", width: 0, height: 0 });
  const over = overlay();
  const voice = h("span", { class: "p-hidden", role: "status" });
  const tip = h("div", { class: "p-tip", hidden: true });
  const board = h("div", { class: "p-board", tabindex: "0", role: "application",
    "aria-roledescription": text.kind, "aria-label": caption }, canvas, over.svg, tip);
  const label = h("figcaption", {}, caption);
  const note = h("p", { class: "p-odd", hidden: true });
  const pane = h("figure", { class: "p-pane" }, label, board, note, voice);
  const brush = canvas.getContext("2d");
  let picture = null;
  let grid = null;
  let open = (i, j) => true;
  let width = 0;
  let look = null;
  let layout = null;
  let cursor = null; // the cell that the keyboard is on
  let pointed = null; // the cell that is told
  let pressed = null; // the cell whose change is said once it is drawn
  let byKeys = false;

  function paint() {
    if (!grid || !width) return;
    look ??= { ramp: makeRamp(board, role, signed), hatch: null, family: getComputedStyle(board).fontFamily };
    look.hatch ??= stripes(brush, look.ramp.mask);
    const { rows = [], columns = [], largest } = picture;
    layout = arrange(width, { T: grid.T, S: grid.S, rows, columns, largest }, look.family);
    const ratio = window.devicePixelRatio || 1;
    const [w, t] = [Math.round(width * ratio), Math.round(layout.height * ratio)];
    if (canvas.width !== w || canvas.height !== t) {
      [canvas.width, canvas.height] = [w, t];
      canvas.style.height = `${layout.height}px`;
    }
    frame.paint(fillCells);
    over.label(layout, rows, columns, labelFont(look.family));
    options.arranged?.(layout);
    focus();
  }
  function fillCells() {
    if (!grid || !layout || !look) return;
    const ratio = window.devicePixelRatio || 1;
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, width, layout.height);
    const [ghost, marks] = [reader(picture.ghost), picture.marks];
    paintCells(brush, layout, {
      value: grid.at, open, digits, print: picture.print !== false, least: picture.least,
      top: picture.top ?? (picture.extent.most || 1e-9),
      ghost: ghost && ghost.T === grid.T && ghost.S === grid.S ? ghost.at : null,
      mark: marks ? (i, j) => Boolean(marks[i]?.[j]) : null,
    }, look.ramp, look.hatch, look.family);
  }
  /** Frame what is followed: what the picture says, else what is selected, and the keyboard's cell. */
  function focus() {
    if (!picture) return;
    const told = typeof picture.focus === "number" ? { row: picture.focus } : picture.focus ?? {};
    const shared = selection ? { row: selection.now[selects.row], column: selection.now[selects.column] }
      : {};
    const keys = cursor && byKeys && document.activeElement === board ? { cell: cursor } : {};
    over.frame({ ...shared, ...told, ...keys });
  }
  /** How many cells are masked; of two kinds of cells, how many there are of each. */
  function counted() {
    const { masked } = picture;
    if (!states) return masked ? [text.hidden(masked)] : [];
    return [grid.T * grid.S - masked, masked].map((n, kind) => text.count(n, states[kind]));
  }
  function announce() {
    const { T, S } = grid;
    const { low, high, nan, infinite, finite } = picture.extent;
    const odd = text.odd(nan, infinite);
    note.hidden = !odd && T * S > 0;
    note.textContent = T * S === 0 ? text.empty : odd;
    board.setAttribute("aria-label", [caption, text.rowsBy(T, rowAxis, S, columnAxis),
      finite && !states ? text.range(write(low), write(high)) : "",
      odd, ...counted()].filter(Boolean).join(", ")
      + `. ${text.help(options.press ? options.presses ?? text.changes : "", Boolean(states))}`);
  }

  function cellAt(event) {
    if (!grid || !layout) return null;
    const box = board.getBoundingClientRect();
    const j = Math.floor((event.clientX - box.left - layout.left) / layout.cell);
    const i = Math.floor((event.clientY - box.top - layout.top) / layout.high);
    return i >= 0 && j >= 0 && i < grid.T && j < grid.S ? { i, j } : null;
  }
  const nameOf = (list, n) => (list?.[n] ? list[n] : String(n + 1));
  const valueOf = (i, j) => (states ? states[open(i, j) ? 0 : 1] : !open(i, j) ? text.masked
    : Number.isNaN(grid.at(i, j)) ? text.nan : write(grid.at(i, j), digits + 1));
  const spoken = (i, j) => options.speak?.(i, j)
    ?? text.cell(rowAxis, nameOf(picture.rows, i), columnAxis, nameOf(picture.columns, j), valueOf(i, j));

  /** Say in words what stands in a cell, beside it or in the caption; `null` takes it back. */
  function tell(place) {
    pointed = place;
    const said = place ? spoken(place.i, place.j) : "";
    if (options.tellInCaption) {
      label.textContent = !said ? caption : byKeys ? text.change(said) : said;
      return;
    }
    tip.hidden = !place;
    if (!place) return;
    tip.textContent = said;
    const x = layout.left + (place.j + 0.5) * layout.cell;
    const y = layout.top + place.i * layout.high;
    tip.style.transform = `translate(${Math.min(x, width)}px, ${y}px) `
      + `translate(${-100 * (x / Math.max(1, width))}%, -110%)`;
  }
  function point(place) {
    if (selection && place) selection.point({ [selects.row]: place.i, [selects.column]: place.j });
    else selection?.leave();
    options.point?.(place?.i ?? null, place?.j ?? null);
  }
  function pick(place) {
    options.press?.(place.i, place.j);
    selection?.pick({ [selects.row]: place.i, [selects.column]: place.j });
  }
  const leave = () => { tell(null); point(null); focus(); };
  const forget = (event) => { if (!board.contains(event.target)) tell(null); };

  board.addEventListener("pointermove", (event) => {
    const place = cellAt(event);
    // the same cell: nothing to draw
    if (place && pointed && place.i === pointed.i && place.j === pointed.j) return;
    if (!place && !pointed) return;
    tell(place);
    point(place);
  });
  board.addEventListener("pointerdown", () => { byKeys = false; focus(); });
  board.addEventListener("pointerleave", leave);
  board.addEventListener("click", (event) => {
    const place = cellAt(event);
    if (!place) return;
    cursor = place;
    pick(place);
    tell(place);
    // A finger leaves no pointer behind: what was said goes with the next touch elsewhere.
    if (event.pointerType !== "mouse") document.addEventListener("pointerdown", forget,
      { once: true, capture: true });
  });
  board.addEventListener("keydown", (event) => {
    if (!grid?.T || !grid.S || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = moved(event, cursor, grid);
    if (next) {
      cursor = next;
      byKeys = true;
      point(cursor);
    } else if ((event.key === "Enter" || event.key === " ") && cursor && (options.press || selection)) {
      byKeys = true;
      pressed = { ...cursor };
      pick(cursor);
    } else if (event.key === "Escape") {
      cursor = null;
      leave();
      return;
    } else return;
    event.preventDefault();
    voice.textContent = spoken(cursor.i, cursor.j);
    tell(cursor);
    focus();
  });
  board.addEventListener("focus", () => {
    if (grid?.T && grid.S && board.matches(":focus-visible")) {
      byKeys = true;
      tell(cursor ??= { i: 0, j: 0 });
    }
    focus();
  });
  board.addEventListener("blur", leave);

  frame.onWidth(board, (now) => { width = now; paint(); });
  frame.onTheme(() => { look = null; paint(); });
  if (selection) frame.onDispose(selection.subscribe(frame.guarded(focus)));
  frame.table(caption, () => grid && (grid.T * grid.S <= WHOLE ? whole() : inShort()));
  const whole = () => ({
    head: [`${rowAxis} \\ ${columnAxis}`, ...Array.from({ length: grid.S },
      (_, j) => nameOf(picture.columns, j))],
    rows: Array.from({ length: grid.T }, (_, i) =>
      [nameOf(picture.rows, i), ...Array.from({ length: grid.S }, (_, j) => valueOf(i, j))]),
  });
  const inShort = () => ({
    head: [rowAxis, ...text.summary],
    rows: Array.from({ length: grid.T }, (_, i) =>
      [nameOf(picture.rows, i), ...rowInShort(grid, open, i, (j) => nameOf(picture.columns, j), write)]),
  });
  return {
    pane,
    board,
    /** Draw a picture; `null` puts the map away, out of the page and out of the table view. */
    draw(next) {
      picture = next && { ...next };
      pane.hidden = !next;
      grid = next && reader(next.values);
      if (!next) {
        canvas.width = canvas.height = 0;
        canvas.removeAttribute("style");
        board.setAttribute("aria-label", caption);
        note.hidden = true;
        over.clear();
        return;
      }
      const mask = reader(next.mask);
      open = mask ? (i, j) => mask.at(i, j) !== 0 : () => true;
      const shown = mask ? seen(grid, open) : null;
      picture.masked = shown ? grid.T * grid.S - shown.length : 0;
      picture.extent = extent(shown ?? grid.tensor);
      if (cursor && (cursor.i >= grid.T || cursor.j >= grid.S)) cursor = null;
      announce();
      paint();
      if (pressed && pressed.i < grid.T && pressed.j < grid.S) voice.textContent = spoken(pressed.i,
        pressed.j);
      pressed = null;
      if (pointed) tell(pointed.i < grid.T && pointed.j < grid.S ? pointed : null);
    },
    describe(said) { board.setAttribute("aria-description", said); },
  };
}
