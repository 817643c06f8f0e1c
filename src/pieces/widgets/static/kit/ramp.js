/**
 * From numbers to colours: one ramp for each sign, from paper to the role's colour, and text that
 * can be read on it.
 */
import { css, h, mix, readColours } from "./dom.js";

/** @typedef {[number, number, number]} Colour red, green, blue, 0 to 255 */

const NAMES = ["paper", "ink", "accent", "faint", "line", "negative", "query", "key", "value", "score",
  "weight", "output",
  "residual", "mask", "leak"];
const STEPS = 64;
/** @type {Colour} */
const BLACK = [0, 0, 0];
/** @type {Colour} */
const WHITE = [255, 255, 255];

/** Relative luminance as WCAG defines it, 0 to 1. @param {Colour} colour */
function luminance(colour) {
  const [r, g, b] = colour.map((x) => (x <= 10.31475 ? x / 3294.6 : ((x / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** @param {Colour} a @param {Colour} b */
export function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** Ink or paper, where one of them can be read on `ground`; else black or white, of which one always can.
 *  @param {Colour} ground @param {Colour} ink @param {Colour} paper */
export function readable(ground, ink, paper) {
  const better = (a, b) => (contrast(ground, a) >= contrast(ground, b) ? a : b);
  const usual = better(ink, paper);
  return contrast(ground, usual) >= 4.5 ? usual : better(BLACK, WHITE);
}

/**
 * The colours of a map where `node` stands, in the theme in force.
 * @param {Element} node @param {string} role @param {boolean} signed
 */
export function makeRamp(node, role, signed) {
  const c = readColours(node, NAMES);
  const shades = (end) => Array.from({ length: STEPS + 1 }, (_, i) => {
    const fill = mix(c.paper, end, (i / STEPS) ** 0.85);
    return { rgb: fill, fill: css(fill), text: css(readable(fill, c.ink, c.paper)) };
  });
  const up = shades(c[role] ?? c.weight);
  // The residual stream is grey, and ink on its way from the paper is grey too: its negative
  // numbers are blue.
  const down = signed ? shades(role === "residual" ? c.accent : c.negative) : up.slice(0, 1);
  return {
    ...c,
    /** The shade of a number: its size against `top`; a negative one is paper where the map has no signs. */
    shade(value, top) {
      const share = top > 0 ? Math.min(1, Math.abs(value) / top) : 0;
      const side = value < 0 ? down : up;
      return side[Math.min(side.length - 1, Math.round((Number.isFinite(share) ? share : 1) * STEPS))];
    },
  };
}

/** Diagonal stripes as a pattern: one fill a cell, however many cells there are.
 *  @param {CanvasRenderingContext2D} brush @param {Colour} colour */
export function stripes(brush, colour) {
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
