/**
 * Where everything stands. The words are at the foot; above them the stream of each word rises through the
 * layers. A phone shows one layer at a time.
 *
 * @typedef {{y: number, h: number}} Span
 * @typedef {{name: string, y: number, h: number, strip: Span, index: number}} Floor a part that writes to the
 *   stream: its band, and above it the strip where the stream has what it wrote
 * @typedef {Object} Layout
 * @property {number} width @property {number} height @property {boolean} phone
 * @property {number} left where the columns begin @property {number} right where they end
 * @property {number} each the width of a column @property {(t: number) => number} x its middle
 * @property {Span} guess @property {Span|null} norm @property {Floor[]} floors from below
 * @property {Span & {index: number}} ground the strip below: the embedding, or what the layer before left
 * @property {Span} words
 * @property {boolean} turned whether the words are turned @property {boolean} told whether the strips have
 *   room for the word of the lens
 */

const LENS = 30; // px a column, below which the lens leaves its strips
const WIDEST = 66;
export const PHONE = 560; // px, below which it is one
const DESK = { guess: 72, norm: 24, attention: 50, feed_forward: 30, strip: 18, words: 26 };
const LINE = 20; // px, above the words of the lens: what the followed word would say
const TALL = { guess: 54, norm: 0, attention: 124, feed_forward: 74, strip: 30, words: 30 };

/** @param {number} width @param {number} T @param {string[]} strips
 *  @param {{layer: number, experts: boolean}} shown `layer` is the one that a phone shows, from 1
 *  @returns {Layout} */
export function layoutOf(width, T, strips, { layer, experts }) {
  const phone = width < PHONE;
  const high = { ...(phone ? TALL : DESK), ...(experts && !phone ? { feed_forward: 50 } : {}) };
  const left = phone ? 4 : width < 800 ? 132 : 172;
  const side = phone ? 4 : width < 800 ? 180 : Math.min(330, width * 0.28);
  const right = width - side;
  const each = Math.min(WIDEST, (right - left) / Math.max(1, T));
  const turned = each < LENS;
  if (phone && !turned) high.strip += LINE;
  let y = 0;
  const take = (h) => { const span = { y, h }; y += h; return span; };
  const guess = take(high.guess);
  const norm = phone ? null : take(high.norm);
  const shown = strips.slice(1).filter((name) => !phone || name.startsWith(`layer.${layer}.`));
  const floors = [...shown].reverse().map((name) => {
    const strip = take(high.strip);
    return { name, index: strips.indexOf(name), strip, ...take(high[name.split(".")[2]]) };
  }).reverse();
  const ground = { ...take(high.strip), index: Math.max(0, strips.indexOf(shown[0]) - 1) };
  const words = take(turned ? 50 : high.words);
  return { width, height: y, phone, left, right, each, x: (t) => left + (t + 0.5) * each, guess, norm, floors,
    ground, words, turned, told: each >= LENS };
}

/** Half the width of the pipe for a stream of this size: its logarithm, so that 0.1 and 100 both show.
 *  @param {number} size @param {Layout} layout */
export const pipe = (size, { each }) =>
  Math.max(0.6, Math.min(1, (Math.log10(Math.max(size, 1e-9)) + 1) / 3.2) * Math.min(each, 50) * 0.34);
