/**
 * The cells of a heat map on a canvas: numbers, hatching, what is no number, rings, and a ghost of
 * what was.
 */
import { css, format, h } from "./dom.js";
import { textWidth, write } from "./measure.js";

const SMALL = 8; // px; smaller cells are points of an image: thousands of boxes are slow, and have no room
const SIZE_OF_TEXT = 11;
const LEAST_NAME = 42; // px of a name that leans, before it is cut
const SMALLEST = 9; // px of a number: a smaller one is read in the tip

/** A number as a cell has room for it: 7.7·10⁻¹⁸ is 0.00 there, and whole in the table view. */
export const printed = (value, digits) => format(Math.abs(value) < 10 ** -digits / 2 ? 0 : value, digits);

/** The font of the labels. @param {string} family */
export const labelFont = (family) => `${SIZE_OF_TEXT}px ${family}`;

/** Whether names are numbers in a row: what is left out between two of them, a reader can count.
 *  @param {string[]} names */
export const counted = (names) => names.every((name, n) => name === String(Number(names[0]) + n));

/** Where the cells stand. Labels take what they need, up to a third of the width or, of what the largest
 * cells leave, 120 px.
 *  @param {number} width
 *  @param {{T: number, S: number, rows: string[], columns: string[], largest?: number}} picture @param
 * {string} family */
export function arrange(width, { T, S, rows, columns, largest = 56 }, family) {
  const font = labelFont(family);
  const widest = (names) => names.reduce((most, name) => Math.max(most, textWidth(name ?? "", font)), 0);
  const long = widest(rows);
  const left = long > 0
    ? Math.ceil(Math.min(Math.max(48, width * 0.3, Math.min(120, width - S * largest - 1)),
      Math.max(18, long + 9))) : T < 100 ? 18 : 27;
  const room = Math.min(largest, (width - left - 1) / Math.max(1, S));
  const needs = widest(columns);
  const tilted = needs > room - 4 && !counted(columns) && columns.some((name) => name?.length > 1);
  // A name that leans over the edge is not cut short: “p…” says nothing.
  const leaning = tilted ? columns.slice(0, S) : [];
  const cell = Math.max(0.25, leaning.reduce((most, name, j) => Math.min(most,
    (width - left - Math.min(LEAST_NAME, textWidth(name ?? "", font)) / 1.37) / (j + 0.5)), room));
  const top = tilted ? Math.ceil(Math.min(58, needs * 0.72 + 14)) : 18;
  const high = Math.min(cell, Math.max(0.25, 720 / Math.max(1, T)));
  return { cell, high, left, top, tilted, T, S, width, height: Math.ceil(top + high * T + 1),
    room: long > 0 ? left - 7 : left, gap: cell > 9 ? 1 : cell >= SMALL ? 0.4 : 0 };
}

/** @typedef {ReturnType<typeof arrange>} Layout
 *  @typedef {{value: (i: number, j: number) => number, open: (i: number, j: number) => boolean, top: number,
 *    print: boolean, least?: number, digits: number, ghost: ((i: number, j: number) => number)|null,
 *    mark: ((i: number, j: number) => boolean)|null}} Cells */

/** @param {CanvasRenderingContext2D} brush @param {Layout} layout @param {Cells} cells */
export function paintCells(brush, layout, cells, ramp, hatch, family) {
  if (Math.min(layout.cell, layout.high) < SMALL) paintPoints(brush, layout, cells, ramp, hatch);
  else paintBoxes(brush, layout, cells, ramp, hatch, family);
  if (cells.mark) rings(brush, layout, cells.mark, ramp);
}

function paintBoxes(brush, layout, cells, ramp, hatch, family) {
  const { cell, high, left, top: head, gap, T, S } = layout;
  const [w, t] = [cell - gap, high - gap];
  const fits = cells.print && cell >= (cells.least ?? 27) && high >= 16;
  const [paper, ink] = [css(ramp.paper), css(ramp.ink)];
  const size = Math.min(13, Math.max(SMALLEST, w * 0.34, Math.min(9.5, w * 0.4)), t * 0.6);
  if (fits) write(brush, `${size}px ${family}`);
  const masked = []; // where they stand: all are filled at once, for a pattern each is slow
  for (let i = 0; i < T; i++) {
    for (let j = 0; j < S; j++) {
      const [x, y] = [left + j * cell, head + i * high];
      const value = cells.value(i, j);
      if (!cells.open(i, j)) {
        masked.push([x, y]);
        continue;
      }
      const shade = Number.isNaN(value) ? { fill: paper, text: ink }
        : ramp.shade(value, cells.top);
      brush.fillStyle = shade.fill;
      brush.fillRect(x, y, w, t);
      const was = cells.ghost?.(i, j);
      if (Number.isFinite(was) && Math.abs(was - value) > cells.top / 50 && cell >= 9) notch(brush, x, y, w,
        t, ramp, ramp.shade(was, cells.top).fill);
      if (!Number.isFinite(value)) noNumber(brush, value, x, y, w, t, shade, fits);
      else if (fits) word(brush, printed(value, cells.digits), x, y, w, t, shade.text);
    }
  }
  brush.beginPath();
  for (const [x, y] of masked) brush.rect(x, y, w, t);
  for (const fill of [paper, hatch]) {
    brush.fillStyle = fill;
    brush.fill();
  }
}

function word(brush, text, x, y, w, t, colour) {
  brush.fillStyle = colour;
  brush.fillText(text, x + w / 2, y + t / 2 + 1, w - 2);
}

/** What is no number has a shape, not only a colour: × for NaN, ▲ for ∞, ▼ for −∞. */
function noNumber(brush, value, x, y, w, t, shade, fits) {
  if (fits) return word(brush, Number.isNaN(value) ? "NaN" : format(value), x, y, w, t, shade.text);
  const [cx, cy, r] = [x + w / 2, y + t / 2, Math.min(w, t) * 0.3];
  brush.beginPath();
  if (Number.isNaN(value)) {
    for (const side of [-1, 1]) { brush.moveTo(cx - r, cy - side * r); brush.lineTo(cx + r, cy + side * r); }
    brush.strokeStyle = shade.text;
    brush.lineWidth = 1.25;
    brush.stroke();
    return;
  }
  const up = value > 0 ? r : -r;
  brush.moveTo(cx, cy - up);
  brush.lineTo(cx + r, cy + up);
  brush.lineTo(cx - r, cy + up);
  brush.fillStyle = shade.text;
  brush.fill();
}

/** What a cell was: a corner in its old colour. */
function notch(brush, x, y, w, t, ramp, fill) {
  const side = Math.min(w, t) * 0.36;
  brush.beginPath();
  brush.moveTo(x + w, y + t - side);
  brush.lineTo(x + w, y + t);
  brush.lineTo(x + w - side, y + t);
  brush.closePath();
  brush.fillStyle = fill;
  brush.fill();
  brush.strokeStyle = css(ramp.faint);
  brush.lineWidth = 0.75;
  brush.stroke();
}

/** Many cells: one image, a point a cell. Masked ones let the hatching behind them through. */
function paintPoints(brush, { cell, high, left, top, T, S }, cells, ramp, hatch) {
  const image = new ImageData(Math.max(1, S), Math.max(1, T));
  for (let i = 0; i < T; i++) {
    for (let j = 0; j < S; j++) {
      if (!cells.open(i, j)) continue;
      const value = cells.value(i, j);
      const rgb = Number.isNaN(value) ? ramp.ink : Number.isFinite(value) ? ramp.shade(value, cells.top).rgb
        : ramp.faint;
      const at = 4 * (i * S + j);
      [image.data[at], image.data[at + 1], image.data[at + 2]] = rgb;
      image.data[at + 3] = 255;
    }
  }
  const points = h("canvas", { width: image.width, height: image.height });
  points.getContext("2d").putImageData(image, 0, 0);
  brush.fillStyle = hatch;
  brush.fillRect(left, top, cell * S, high * T);
  brush.imageSmoothingEnabled = Math.min(cell, high) < 1; // too many for one pixel each: their mean
  brush.imageSmoothingQuality = "high";
  brush.drawImage(points, left, top, cell * S, high * T);
}

/** A ring stands on a halo of paper, so that it is seen on any cell. */
function rings(brush, { cell, high, left, top, gap, T, S }, mark, ramp) {
  const wide = cell > 14 ? 2 : 1;
  const boxes = [];
  for (let i = 0; i < T; i++) {
    for (let j = 0; j < S; j++) {
      if (mark(i, j)) boxes.push([left + j * cell + 2, top + i * high + 2, Math.max(0.5, cell - gap - 4),
        Math.max(0.5, high - gap - 4)]);
    }
  }
  for (const [colour, line] of [[ramp.paper, wide + 2], [ramp.leak, wide]]) {
    brush.strokeStyle = css(colour);
    brush.lineWidth = line;
    boxes.forEach(([x, y, w, t]) => brush.strokeRect(x, y, w, t));
  }
}
