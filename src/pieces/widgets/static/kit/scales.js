/** Axes: from numbers to places, linear or logarithmic, and the round numbers that are named on them. */
import { ten } from "./dom.js";

/** @typedef {{low: number, high: number, log: boolean, fits: (v: number) => boolean, share: (v: number) =>
 * number,
 *   invert: (share: number) => number}} Scale */

/** A scale over [low, high]. On a logarithmic one what is not positive has no place.
 *  @param {number} low @param {number} high @param {boolean} log @returns {Scale} */
export function makeScale(low, high, log = false) {
  if (!(Number.isFinite(low) && Number.isFinite(high))) [low, high] = log ? [1, 10] : [0, 1];
  if (low === high) [low, high] = log ? [low / 2, high * 2]
    : [low - (Math.abs(low) / 2 || 0.5), high + (Math.abs(high) / 2 || 0.5)];
  const of = log ? Math.log10 : (v) => v;
  const [from, to] = [of(low), of(high)];
  return {
    low, high, log,
    fits: (v) => Number.isFinite(v) && (!log || v > 0),
    share: (v) => (of(v) - from) / (to - from),
    invert: (share) => (log ? 10 ** (from + share * (to - from)) : from + share * (to - from)),
  };
}

/** A round step that makes at most `most` steps of `span`. @param {number} span @param {number} most */
function roundStep(span, most) {
  const rough = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((n) => n * power >= rough * (1 - 1e-9));
}

/** At most about `most` round numbers within the scale.
 *  @param {Scale} scale @param {number} most @returns {number[]} */
export function ticks({ low, high, log }, most) {
  if (log) {
    const powers = logTicks(low, high, most);
    if (powers.length >= 2) return powers;
  }
  const step = roundStep(high - low, most);
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, n) => (first + n) * step);
}

/** 1, 2, 5 of each power of ten where there is room; else powers, perhaps not each. */
function logTicks(low, high, most) {
  const [from, to] = [Math.floor(Math.log10(low) + 1e-9), Math.ceil(Math.log10(high) - 1e-9)];
  const within = (v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9);
  const over = (every, parts) => {
    const found = [];
    for (let power = from; power <= to; power++) {
      if (power % every === 0) for (const part of parts) if (within(part * 10 ** power)) found.push(
        part * 10 ** power);
    }
    return found;
  };
  for (const parts of [[1, 2, 5], [1, 3], [1]]) {
    const found = over(1, parts);
    if (found.length <= most) return found;
  }
  return over(Math.ceil((to - from) / Math.max(1, most - 1)), [1]);
}

/** The decimals that a number needs to be told whole, six at most. @param {number} value */
const needed = (value) => [0, 1, 2, 3, 4, 5].find((n) =>
  Math.abs(Number(value.toFixed(n)) - value) < 1e-9 * Math.abs(value)) ?? 6;

/** A tick in words: 0.25, 4,000, 10⁻⁵.
 *  @param {number} value @param {number} [step] the distance to the next one; without it, as it is */
export function tickName(value, step) {
  if (value === 0 || Math.abs(value) < (step ?? 0) * 1e-9) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 9.9e-4) {
    const power = Math.floor(Math.log10(size) + 1e-9);
    const part = Number((value / 10 ** power).toPrecision(3));
    return `${part === 1 ? "" : part === -1 ? "−" : `${String(part).replace("-", "−")}·`}${ten(power)}`;
  }
  const digits = step === undefined ? needed(value)
    : Math.min(6, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace(
    "-", "−");
}

/** The whole numbers that divide `n`: stops of a slider. @param {number} n */
export const divisors = (n) =>
  Array.from({ length: n }, (_, i) => i + 1).filter((i) => n % i === 0);
