/** The heat map: a canvas that reads like a table. Masked cells are hatched, never just pale. */
import { css, format, h, lightness, mix, readColours } from "./dom.js";

const COLOURS = ["paper", "ink", "faint", "line", "negative", "query", "key", "value", "score", "weight", "output", "residual", "mask", "leak"];
const STEPS = 48;

/**
 * @param {Object} frame
 * @param {{caption: string, role: string, rowAxis?: string, columnAxis?: string, signed?: boolean,
 *   digits?: number, press?: (i: number, j: number) => void, presses?: string, point?: (i: number|null, j: number|null) => void,
 *   speak?: (i: number, j: number) => string, tellInCaption?: boolean}} options
 * `draw({ values, mask, top, rows, columns, focus, marks })`: `mask` false = hatched; `marks` outlines cells.
 * A cell is read in a tip beside it, or in the caption, where cells are drawn by hand and none may be covered.
 */
export function heatmap(frame, options) {
  const { caption, role, rowAxis = "query", columnAxis = "key", signed = false, digits = 2 } = options;
  const canvas = h("canvas", { "aria-hidden": "true", width: 0, height: 0 });
  const voice = h("span", { class: "p-hidden", role: "status" });
  const tip = h("div", { class: "p-tip", hidden: true });
  const board = h("div", {
    class: "p-board", tabindex: "0", role: "application", "aria-roledescription": "heat map",
    "aria-label": `${caption}. Arrow keys read the cells${options.press ? `, Enter ${options.presses ?? "changes one"}` : ""}. The same numbers stand in the table view.`,
  }, canvas, tip);
  const label = h("figcaption", {}, caption);
  const pane = h("figure", { class: "p-pane" }, label, board, voice);
  const brush = canvas.getContext("2d");
  let picture = null;
  let width = 0;
  let ramp = null;
  let cursor = null;
  let pointed = null;
  let pressed = null;
  let byKeys = false;
  let layout = { cell: 0, left: 0, top: 0 };

  function colours() {
    const c = readColours(board, COLOURS);
    const end = c[role] ?? c.weight;
    const shade = (to) => Array.from({ length: STEPS + 1 }, (_, i) => mix(c.paper, to, (i / STEPS) ** 0.85));
    return { ...c, up: shade(end), down: shade(c.negative), hatch: stripes(c.mask), family: getComputedStyle(board).fontFamily };
  }
  /** Diagonal stripes as a pattern: one fill a cell, however many cells there are. */
  function stripes(colour) {
    const ratio = window.devicePixelRatio || 1;
    const side = Math.round(5 * ratio);
    const tile = h("canvas", { width: side, height: side });
    const pen = tile.getContext("2d");
    pen.strokeStyle = css(colour);
    pen.lineWidth = ratio;
    pen.beginPath();
    for (const at of [-side, 0, side]) { pen.moveTo(at - 1, side + 1); pen.lineTo(at + side + 1, -1); }
    pen.stroke();
    const pattern = brush.createPattern(tile, "repeat");
    pattern.setTransform(new DOMMatrix().scale(1 / ratio));
    return pattern;
  }
  const tint = (value, top) => {
    const share = Math.min(1, Math.abs(value) / (top || 1));
    return (value < 0 && signed ? ramp.down : ramp.up)[Math.round(share * STEPS)];
  };

  /** In a cell there is no room for 7.7e−18: it is 0.00 there, and whole in the table view. */
  const printedAs = (value) => format(Math.abs(value) < 10 ** -digits / 2 ? 0 : value, digits);

  function paint() {
    if (!picture || !width) return;
    ramp ??= colours();
    const { values, mask, focus, marks, rows = [], columns = [] } = picture;
    const T = values.length;
    const S = values[0]?.length ?? 0;
    const named = Math.max(0, ...rows.map((name) => name.length)) > 0;
    const left = named ? Math.min(64, 10 + 7 * Math.max(...rows.map((name) => name.length))) : 18;
    const cell = Math.max(3, Math.min(picture.largest ?? 56, (width - left - 1) / S));
    const tilted = columns.some((name) => name.length > 2 && 7 * name.length > cell - 4);
    const head = tilted ? 46 : 18;
    const height = Math.ceil(head + cell * T + 1);
    const ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = `${height}px`;
    }
    layout = { cell, left, top: head, tilted };
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, width, height);
    const gap = cell > 9 ? 1 : 0.4;
    const top = picture.top ?? Math.max(1e-9, ...values.flat().filter(Number.isFinite).map(Math.abs));
    brush.textBaseline = "middle";
    brush.textAlign = "center";
    const printed = cell >= 27;
    const { family } = ramp;
    for (let i = 0; i < T; i++) {
      for (let j = 0; j < S; j++) {
        const x = left + j * cell;
        const y = head + i * cell;
        const open = !mask || mask[i][j];
        const colour = open ? tint(values[i][j], top) : ramp.paper;
        brush.fillStyle = css(colour);
        brush.fillRect(x, y, cell - gap, cell - gap);
        if (!open) hatch(x, y, cell - gap);
        else if (printed && picture.print !== false) {
          brush.font = `${Math.min(13, cell * 0.33)}px ${family}`;
          brush.fillStyle = css(Math.abs(lightness(colour) - lightness(ramp.ink)) > 0.45 ? ramp.ink : ramp.paper);
          brush.fillText(printedAs(values[i][j]), x + (cell - gap) / 2, y + (cell - gap) / 2 + 1);
        }
        if (marks?.[i]?.[j]) ring(x, y, cell - gap, ramp.leak);
      }
    }
    labels(T, S, family);
    if (focus != null && focus < T) frameRow(focus, S);
    if (cursor && byKeys && document.activeElement === board) {
      const [x, y] = [left + cursor.j * cell, head + cursor.i * cell];
      ring(x, y, cell - gap, ramp.ink);
      if (marks?.[cursor.i]?.[cursor.j]) ring(x + 3, y + 3, cell - gap - 6, ramp.leak);
    }
  }

  function hatch(x, y, size) {
    brush.fillStyle = ramp.hatch;
    brush.fillRect(x, y, size, size);
  }
  function ring(x, y, size, colour) {
    brush.strokeStyle = css(colour);
    brush.lineWidth = 2;
    brush.strokeRect(x + 1, y + 1, Math.max(1, size - 2), Math.max(1, size - 2));
  }
  function frameRow(i, S) {
    brush.strokeStyle = css(ramp.ink);
    brush.lineWidth = 2;
    brush.strokeRect(layout.left - 1, layout.top + i * layout.cell - 1, S * layout.cell + 1, layout.cell + 1);
  }
  function labels(T, S, family) {
    const { rows = [], columns = [] } = picture;
    const { cell, left, top, tilted } = layout;
    brush.fillStyle = css(ramp.faint);
    brush.font = `11px ${family}`;
    const every = cell >= 13 ? 1 : cell >= 7 ? 2 : 4;
    brush.textAlign = "right";
    for (let i = 0; i < T; i += every) brush.fillText(rows[i] ?? String(i + 1), left - 5, top + (i + 0.5) * cell, left - 6);
    for (let j = 0; j < S; j += every) {
      const name = columns[j] ?? String(j + 1);
      brush.save();
      brush.translate(left + (j + 0.5) * cell, top - 5);
      if (tilted && name.length > 1) { brush.rotate(-Math.PI / 4); brush.textAlign = "left"; brush.translate(-2, 0); } else brush.textAlign = "center";
      brush.fillText(name, 0, tilted && name.length > 1 ? 0 : -3, 52);
      brush.restore();
    }
  }

  function cellAt(event) {
    if (!picture) return null;
    const box = canvas.getBoundingClientRect();
    const j = Math.floor((event.clientX - box.left - layout.left) / layout.cell);
    const i = Math.floor((event.clientY - box.top - layout.top) / layout.cell);
    return i >= 0 && j >= 0 && i < picture.values.length && j < picture.values[0].length ? { i, j } : null;
  }
  const nameOf = (list, at) => (list?.[at] ? list[at] : String(at + 1));
  function words(i, j) {
    if (options.speak) return options.speak(i, j);
    const value = picture.mask && !picture.mask[i][j] ? "masked" : format(picture.values[i][j], digits + 1);
    return `${rowAxis} ${nameOf(picture.rows, i)}, ${columnAxis} ${nameOf(picture.columns, j)}: ${value}`;
  }
  /** Say in words what stands in a cell, beside it or in the caption; `null` takes it back. */
  function tell(at) {
    pointed = at;
    const said = at ? words(at.i, at.j) : "";
    if (options.tellInCaption) {
      label.textContent = !said ? caption : byKeys ? `${said} (Enter: change)` : said;
      return;
    }
    tip.hidden = !at;
    if (!at) return;
    tip.textContent = said;
    const x = layout.left + (at.j + 0.5) * layout.cell;
    const y = layout.top + at.i * layout.cell;
    tip.style.transform = `translate(${Math.min(x, width)}px, ${y}px) translate(${-100 * (x / Math.max(1, width))}%, -110%)`;
  }
  const forget = (event) => { if (!board.contains(event.target)) tell(null); };
  board.addEventListener("pointermove", (event) => {
    const at = cellAt(event);
    tell(at);
    options.point?.(at?.i ?? null, at?.j ?? null);
  });
  board.addEventListener("pointerdown", () => { byKeys = false; });
  board.addEventListener("pointerleave", () => { tell(null); options.point?.(null, null); });
  board.addEventListener("click", (event) => {
    const at = cellAt(event);
    if (!at) return;
    cursor = at;
    options.press?.(at.i, at.j);
    tell(at);
    // A finger leaves no pointer behind: what was said goes with the next touch elsewhere.
    if (event.pointerType !== "mouse") document.addEventListener("pointerdown", forget, { once: true, capture: true });
  });
  board.addEventListener("keydown", (event) => {
    if (!picture) return;
    byKeys = true;
    const [di, dj] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
    if (di || dj) {
      const at = cursor ?? { i: 0, j: 0 };
      cursor = {
        i: Math.min(picture.values.length - 1, Math.max(0, at.i + (cursor ? di : 0))),
        j: Math.min(picture.values[0].length - 1, Math.max(0, at.j + (cursor ? dj : 0))),
      };
      event.preventDefault();
      options.point?.(cursor.i, cursor.j);
      voice.textContent = words(cursor.i, cursor.j);
      tell(cursor);
      paint();
    } else if ((event.key === "Enter" || event.key === " ") && cursor && options.press) {
      event.preventDefault();
      pressed = { ...cursor }; // what has become of it is said when it is drawn
      options.press(cursor.i, cursor.j);
      tell(cursor);
    } else if (event.key === "Escape") { cursor = null; tell(null); options.point?.(null, null); paint(); }
  });
  board.addEventListener("focus", () => {
    if (picture && board.matches(":focus-visible")) {
      byKeys = true;
      tell(cursor ??= { i: 0, j: 0 });
    }
    paint();
  });
  board.addEventListener("blur", () => { tell(null); options.point?.(null, null); paint(); });

  frame.onWidth(board, (now) => { width = now; paint(); });
  frame.onTheme(() => { ramp = null; paint(); });
  frame.table(caption, () => picture && {
    head: [`${rowAxis} \\ ${columnAxis}`, ...picture.values[0].map((_, j) => nameOf(picture.columns, j))],
    rows: picture.values.map((row, i) => [nameOf(picture.rows, i),
      ...row.map((x, j) => (picture.mask && !picture.mask[i][j] ? "masked" : format(x, digits + 1)))]),
  });
  return {
    pane,
    /** Draw a picture; `null` puts the map away, out of the page and out of the table view. */
    draw(next) {
      picture = next;
      pane.hidden = !next;
      if (!next) {
        canvas.width = canvas.height = 0;
        canvas.removeAttribute("style");
        return;
      }
      if (cursor && (cursor.i >= next.values.length || cursor.j >= next.values[0].length)) cursor = null;
      paint();
      if (pressed) voice.textContent = words(pressed.i, pressed.j);
      pressed = null;
      if (pointed) tell(pointed.i < next.values.length && pointed.j < next.values[0].length ? pointed : null);
    },
    describe(text) { board.setAttribute("aria-description", text); },
  };
}
