/** Elements, numbers and the theme: what the rest of the kit stands on. */

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "path", "line", "circle", "rect", "text", "title", "polyline"]);
// What can have the focus keeps its keys: Notebook 7 asks for this attribute before it takes them.
const FOCUSABLE = new Set(["input", "select", "button", "summary"]);

/** Make an element. Text children become text nodes, so nothing a reader types is ever parsed.
 *  @template {string} K
 *  @param {K} tag @param {Object=} attributes `on…` functions listen; others are set
 *  @param {...(Node|string|null)} children
 *  @returns {K extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[K]
 *    : K extends keyof SVGElementTagNameMap ? SVGElementTagNameMap[K] : HTMLElement} */
export function h(tag, attributes = {}, ...children) {
  const node = /** @type {any} */ (SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag)
    : document.createElement(tag));
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  if (FOCUSABLE.has(tag) || "tabindex" in attributes) node.setAttribute("data-lm-suppress-shortcuts", "true");
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** A text in a node, where it is another one, and in the text node that is there: a new one is a new layout.
 *  @param {Node} node @param {string} text */
export function setText(node, text) {
  if (node.textContent === text) return;
  const first = node.firstChild;
  if (first instanceof Text && !first.nextSibling) first.data = text;
  else node.textContent = text;
}

/** Attributes of a node, where they are others: the same viewBox again lays a whole drawing out anew. One
 *  that is null goes; a number is written in hundredths, of a pixel for the most part.
 *  @param {Element} node @param {Record<string, string|number|null>} attributes */
export function give(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const text = typeof value === "number" ? String(Math.round(value * 100) / 100) : value;
    if (node.getAttribute(name) === text) continue;
    if (text === null) node.removeAttribute(name);
    else node.setAttribute(name, text);
  }
}

/** `value` as a finite number within [low, high]; `fallback` where it is none. */
export function clamp(value, low, high, fallback = low) {
  const number = typeof value === "number" && Number.isFinite(value) ? value : fallback;
  return Math.min(high, Math.max(low, number));
}

/** Set a trait and send it to Python. */
export function commit(model, trait, value) {
  model.set(trait, value);
  model.save_changes();
}

/** What sets some traits and sends them to Python: `put({ row: 2 })`. */
export const setter = (model) => (traits) => { model.set(traits); model.save_changes(); };

/** What a trait may be, as Python's trait says it: { low, high, step, default }, { options, default },
 *  { bound } of numbers, { most } of a list, { longest } of a text. */
export const limits = (model, trait) => model.get("_limits")?.[trait] ?? {};

/** A trait as a number in its range, whatever the page or the kernel put there; in a narrower one where
 *  the page knows it: that of a model with fewer layers, or of what another trait leaves. */
export function real(model, trait, low = -Infinity, high = Infinity, fallback = undefined) {
  const own = limits(model, trait);
  const least = Math.max(low, own.low ?? low);
  return clamp(model.get(trait), least, Math.min(high, own.high ?? high), fallback ?? own.default ?? least);
}

/** A trait as a whole number in its range, or in a narrower one. */
export const count = (model, trait, low, high, fallback) =>
  Math.round(real(model, trait, low, high, fallback));

/** A trait as one of its options, its default where it is none. */
export function choice(model, trait, options = limits(model, trait).options ?? []) {
  const usual = limits(model, trait).default;
  return [model.get(trait), usual].find((one) => options.includes(one)) ?? options[0];
}

/** A trait as a text, "" where it is none. */
export const text = (model, trait) => (typeof model.get(trait) === "string" ? model.get(trait) : "");

/** A trait as a list of texts, no more than it may have; what is no text counts as "". */
export const words = (model, trait) => {
  const given = model.get(trait);
  if (!Array.isArray(given)) return [];
  return given.slice(0, limits(model, trait).most).map((word) => (typeof word === "string" ? word : ""));
};

/** A trait as a matrix of finite numbers in its bound, of the sides that Python fixed or of these; a bad
 *  cell counts as 0. */
export const numbers = (model, trait, rows, columns) => {
  const given = model.get(trait);
  const { bound = Infinity, ...fixed } = limits(model, trait);
  return Array.from({ length: rows ?? fixed.rows }, (_, i) =>
    Array.from({ length: columns ?? fixed.columns }, (_, j) => clamp(given?.[i]?.[j], -bound, bound, 0)));
};

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** A power of ten: 10⁻⁸. @param {number} power a whole number */
export const ten = (power) => `10${power < 0 ? "⁻" : ""}${
  String(Math.abs(power)).replace(/\d/g, (digit) => RAISED[Number(digit)])}`;

/** 3.2·10⁻⁸. @param {number} value */
const powered = (value) => {
  const [part, power] = value.toExponential(1).split("e");
  return `${part.replace("-", "−")}·${ten(Number(power))}`;
};

/**
 * A number for people: a true minus sign, no noise. One that is nothing in so many decimals gets as many as
 * show two digits of it, 0.0032; a power of ten is left to what is below 0.0001 or a million and more.
 * From 1,000 on three digits stand together, and from 10,000 on without decimals.
 */
export function format(value, digits = 2) {
  if (!Number.isFinite(value)) return value === -Infinity ? "−∞" : value === Infinity ? "∞" : "–";
  const size = Math.abs(value);
  if (size >= 999_999.5) return powered(value);
  if (size >= 999) { // 999.996 is 1,000.00
    const after = size >= 9999.5 ? 0 : digits;
    return value.toLocaleString("en", { minimumFractionDigits: after, maximumFractionDigits: after })
      .replace("-", "−");
  }
  const tiny = size > 0 && size < 10 ** -digits / 2;
  if (tiny && size < 0.000_099_5) return powered(value);
  const text = value.toFixed(tiny ? 1 - Math.floor(Math.log10(size)) : digits);
  return text.replace(/^-(0(\.0+)?)$/, "$1").replace("-", "−");
}

/** A probability or a weight for people: 0.43, 0.0043, and under 0.0001 no power of ten. */
export function chance(p, digits = 2) {
  if (!(p > 0) || p >= 10 ** -digits / 2) return format(p, digits);
  return p < 1e-4 ? "<\u00a00.0001" : p.toFixed(4);
}

/** How numbers of a role are written: weights are probabilities. @param {string} role
 *  @returns {(value: number, digits?: number) => string} */
export const writes = (role) => (role === "weight" ? chance : format);

/**
 * A share in whole per cent, which says neither all nor nothing where it is not so. Its sign never
 * begins a line.
 */
export const percent = (p) => `${p > 0.995 && p < 1 ? ">\u00a099" : p > 0 && p < 0.005 ? "<\u00a01"
  : Math.round(100 * p)}\u00a0%`;

/** A number as one writes it: at least `least` decimals, at most `most`, no zeros behind. */
export const plain = (value, least = 0, most = 3) => {
  const [whole, part = ""] = value.toFixed(most).replace(/^-(0(\.0+)?)$/, "$1").split(".");
  const kept = part.replace(/0+$/, "").padEnd(least, "0");
  return (kept ? `${whole}.${kept}` : whole).replace("-", "−");
};

/** What a reader typed, as a number: 0.75, 0,75, −.5, 1e3, 1,000 or 12,345.6; NaN where it is none.
 *  One comma before three digits groups thousands ("0,125" does not: no group begins with a zero). */
export function parseNumber(typed) {
  const text = typed.trim().replaceAll("−", "-");
  const grouped = /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?(e[+-]?\d+)?$/i.test(text);
  const number = grouped ? text.replaceAll(",", "") : text.replace(",", ".");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(number) ? Number(number) : NaN;
}

const watchers = new Set();
let observing = false;

/** Call `redraw` whenever the page changes between light and dark; returns the way to stop. */
export function onTheme(redraw) {
  if (!observing) {
    observing = true;
    const tell = () => watchers.forEach((each) => each());
    const observer = new MutationObserver(tell);
    const attributeFilter = ["data-theme", "data-jp-theme-light", "data-jp-theme-name", "class", "theme"];
    [document.documentElement, document.body].forEach((node) => observer.observe(node, { attributeFilter }));
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)", "print"]) {
      matchMedia(query).addEventListener("change", tell);
    }
  }
  watchers.add(redraw);
  return () => watchers.delete(redraw);
}

/** Call `redraw(width)` whenever the width of `node` changes; `take(read())` asks at once. */
export function onWidth(node, redraw) {
  let last = 0;
  const take = (width) => { if (width > 0 && width !== last) redraw((last = width)); };
  const observer = new ResizeObserver((entries) => take(Math.floor(entries[0].contentRect.width)));
  observer.observe(node);
  return { read: () => Math.floor(node.getBoundingClientRect().width), take,
    stop: () => observer.disconnect() };
}

/** Read the role colours of the theme in force where `node` stands, as [r, g, b]. */
export function readColours(node, names) {
  const style = getComputedStyle(node);
  return Object.fromEntries(names.map((name) => [name, parse(style.getPropertyValue(`--p-${name}`).trim())]));
}

function parse(colour) {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour)?.[1] ?? "808080";
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** The colour a share `t` of the way from `a` to `b`. */
export const mix = (a, b, t) => a.map((x, i) => Math.round(x + (b[i] - x) * t));
export const css = ([r, g, b]) => `rgb(${r},${g},${b})`;
