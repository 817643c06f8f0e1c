/** How wide a text is, and the font of a canvas: asked so that the page is not laid out anew. */
import { h } from "./dom.js";

const MANY = 5000;
/** @type {CanvasRenderingContext2D|null} */
let brush = null;
const known = new Map();

/** The font of a node, as a canvas wants it. @param {Element} node */
export function fontOf(node) {
  const { fontWeight, fontSize, fontFamily } = getComputedStyle(node);
  return `${fontWeight} ${fontSize} ${fontFamily}`;
}

/** The width of a text in px; asked once for each. @param {string} text @param {string} font */
export function textWidth(text, font) {
  if (!brush) {
    brush = h("canvas").getContext("2d");
    document.fonts?.addEventListener("loadingdone", () => known.clear());
  }
  const key = `${font}|${text}`;
  if (!known.has(key)) {
    if (known.size > MANY) known.clear();
    brush.font = font;
    known.set(key, brush.measureText(text).width);
  }
  return known.get(key);
}

/** As much of a name as there is room for. @param {string} name @param {number} room @param {string} font */
export function shortened(name, room, font) {
  if (name.length < 2 || textWidth(name, font) <= room) return name;
  let [low, high] = [1, name.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(`${name.slice(0, middle)}…`, font) <= room) low = middle; else high = middle - 1;
  }
  return `${name.slice(0, low)}…`;
}

/** @type {WeakMap<CanvasRenderingContext2D, string>} */
const fonts = new WeakMap();

/** The font of what stands in the middle of cells. To give a canvas its font lays the page out, so it is
 * given where it is another one, or where a new size of the canvas has taken it away with all else that was
 * set. */
export function write(brush, font) {
  if (brush.textAlign === "center" && fonts.get(brush) === font) return;
  fonts.set(brush, font);
  [brush.font, brush.textBaseline, brush.textAlign] = [font, "middle", "center"];
}
