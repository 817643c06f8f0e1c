/** Wholes and their parts: one stacked bar a row, all on one scale, each part with its name where it fits. */
import { h } from "./dom.js";
import { words } from "./words.js";

/** @typedef {{name: string, role: string, value: number}} Part
 *  @typedef {{name: string, parts: Part[]}} Whole */

/** 12,345,678 as 12.3 M. @param {number} value */
export function short(value) {
  if (!Number.isFinite(value)) return "–";
  for (const [size, letter] of /** @type {[number, string][]} */ (
    [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "k"]])) {
    if (Math.abs(value) >= size * 0.9995) return `${Number((value / size).toPrecision(3))} ${letter}`;
  }
  return String(Number(value.toPrecision(3)));
}

/** 12,345,678 as it is, in groups. @param {number} value */
export const whole = (value) => Math.round(value).toLocaleString("en");

/** Of things that come in giga: 12.3 G. @param {number} value */
export const giga = (value) => short(value).replace(" B", " G");

/** 12.3 GB, 512 B. @param {number} value */
export const inBytes = (value) => `${giga(value)}${value < 999.5 ? " " : ""}B`;

/**
 * `draw(wholes, { top })`: the longest bar, or `top`, is the full width.
 * @param {Object} frame
 * @param {{caption: string, unit?: string, show?: (value: number) => string, point?: (whole: number|null,
 *   part: number|null) => void}} options
 */
export function parts(frame, { caption, unit = "", show = short, point }) {
  const text = words.parts;
  const named = unit && show === short ? ` ${unit}` : ""; // what shows a value otherwise shows its unit too
  const rows = h("div", { class: "p-wholes" });
  const voice = h("p", { class: "p-part-said", role: "status" });
  const board = h("div", { class: "p-part-board", tabindex: "0", role: "group", "aria-label": caption },
    rows);
  const key = h("ul", { class: "p-legend" });
  const pane = h("figure", { class: "p-pane p-pane-parts" }, h("figcaption", {}, caption), board, voice, key);
  /** @type {Whole[]} */
  let wholes = [];
  let cursor = null;

  const size = (part) => (Number.isFinite(part.value) ? part.value : 0);
  const total = (whole) => whole.parts.reduce((sum, part) => sum + size(part), 0);
  const said = ({ w, p }) => {
    const [whole, part] = [wholes[w], wholes[w].parts[p]];
    const share = total(whole) ? Math.round((1000 * size(part)) / total(whole)) / 10 : 0;
    return text.part(whole.name, part.name, `${show(part.value)}${named}`, share);
  };
  const nodeOf = ({ w, p }) => /** @type {HTMLElement} */ (
    rows.querySelector(`[data-whole="${w}"][data-part="${p}"]`));
  function mark(at) {
    rows.querySelectorAll(".p-on").forEach((node) => node.classList.remove("p-on"));
    if (at) nodeOf(at)?.classList.add("p-on");
    voice.textContent = at ? said(at) : "";
  }
  function tell(at) {
    mark(at);
    point?.(at?.w ?? null, at?.p ?? null);
  }
  const under = (event) => {
    const node = /** @type {HTMLElement} */ (event.target).closest?.("[data-part]");
    return node ? { w: Number(node.getAttribute("data-whole")), p: Number(node.getAttribute("data-part")) }
      : null;
  };
  board.addEventListener("pointerover", (event) => tell(under(event)));
  board.addEventListener("pointerleave", () => tell(null));
  board.addEventListener("blur", () => tell(null));
  board.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
      Home: [0, -1e9], End: [0, 1e9] }[event.key];
    if (!move || !wholes.length || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const w = cursor ? Math.min(wholes.length - 1, Math.max(0, cursor.w + move[0])) : 0;
    const p = Math.min(wholes[w].parts.length - 1, Math.max(0, cursor ? cursor.p + move[1] : 0));
    if (p < 0) return;
    tell(cursor = { w, p });
  });
  /** Names are written where they fit, whole; the others are in the key, the sentence and the table. */
  function fit() {
    const names = [...rows.querySelectorAll("b")];
    names.forEach((name) => { name.hidden = false; });
    // read together: a layout for each name would take longer than all the drawing
    const fits = names.map((name) => name.offsetWidth <= name.parentElement.clientWidth - 6);
    names.forEach((name, n) => { name.hidden = !fits[n]; });
  }
  frame.onWidth(board, fit);
  frame.table(caption, () => wholes.length && {
    head: [text.whole, text.name, unit || text.value, "%"],
    rows: wholes.flatMap((whole) => whole.parts.map((part) =>
      [whole.name, part.name, Number.isFinite(part.value) ? part.value.toLocaleString("en") : "–",
      total(whole) ? ((100 * size(part)) / total(whole)).toFixed(1) : "–"])),
  });
  return {
    pane,
    /** Show a part, or none, without telling `point`: its formula is pointed at elsewhere.
     *  @param {{w: number, p: number}|null} at */
    light: (at) => mark(at),
    /** @param {Whole[]} next @param {{top?: number}} [options] */
    draw(next, { top } = {}) {
      const bad = next.flatMap((whole) => whole.parts).find(({ value }) => value < 0);
      if (bad) throw new RangeError(`${bad.name} = ${bad.value}: a part of a whole is not negative.`);
      wholes = next;
      cursor = null;
      const most = top ?? wholes.reduce((all, whole) => Math.max(all, total(whole)), 0);
      rows.replaceChildren(...wholes.map((whole, w) => h("div", { class: "p-whole" },
        h("span", { class: "p-whole-name" }, whole.name),
        h("span", { class: "p-whole-bar" }, ...whole.parts.map((part, p) => h("span", {
          class: "p-part", "data-role": part.role, "data-whole": w, "data-part": p, title: said({ w, p }),
          style: `width: ${most > 0 ? (100 * size(part)) / most : 0}%` }, h("b", {}, part.name)))),
        h("span", { class: "p-whole-total" }, show(total(whole))))));
      const seen = new Map(wholes.flatMap((whole) =>
        whole.parts.map((part) => [`${part.role} ${part.name}`, part])));
      key.replaceChildren(...[...seen.values()].map((part) =>
        h("li", {}, h("i", { "data-role": part.role }), part.name)));
      voice.textContent = "";
      fit();
    },
  };
}
