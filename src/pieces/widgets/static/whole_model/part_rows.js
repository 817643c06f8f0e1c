/** Every part with its name, its switch, and a bar: what it votes, or what is lost without it. */
import { give, h } from "../kit/kit.js";
import { called, purpose, WORDS } from "./words.js";

/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {{name: string, kind: "chip"|"major"|"minor", layer: number, box: HTMLElement, open: HTMLElement,
 *   turn: HTMLElement|null, fill: HTMLElement|null, number: HTMLElement}} Part */

const layerOf = (name) => Number(/^layer\.(\d+)/.exec(name)?.[1] ?? 0);
const kindOf = (name) => (/\.(head|expert)\.\d+$/.test(name) ? "chip"
  : /\.(norm|path)$|^positions$|^norm$/.test(name) ? "minor" : "major");
/** The label of a part on the picture: a head is "2.4". */
function labelOf(name, experts) {
  const [, l, kind, n] = /^layer\.(\d+)\.(head|expert)\.(\d+)$/.exec(name) ?? [];
  if (kind) return kind === "head" ? `${l}.${n}` : WORDS.expert(n);
  const short = name.replace(/^layer\.\d+\./, "");
  return WORDS.labels[short === "feed_forward" && experts ? "experts" : short];
}

/** Where the chapter of a part is, and its number. @param {string} name @param {Record<string, string>} links
 *  @param {boolean} experts @returns {{address?: string, number?: string}} */
export function chapterOf(name, links, experts) {
  const kind = ["attention", "feed_forward", "norm", "path", "positions", "embedding", "next word"]
    .find((one) => name.endsWith(one));
  const address = links[experts && kind === "feed_forward" ? "experts" : kind];
  return { address, number: /(?:^|\/)0*(\d+)_/.exec(address ?? "")?.[1] };
}

/**
 * @param {{parts: string[], experts: boolean, links: Record<string, string>, open: (name: string) => void,
 *   turn: (name: string) => void,
 *   point: (name: string|null) => void}} options
 */
export function partRows({ parts, experts, links, open, turn, point }) {
  const make = (name, switched) => {
    const fill = h("i", {});
    const number = h("small", { "aria-hidden": "true" });
    const label = h("button", { type: "button", class: "w-part-open", "aria-label": WORDS.open(name),
      title: purpose(name, experts), onclick: () => open(name), onpointerenter: () => point(name),
      onpointerleave: () => point(null) },
      h("span", {}, labelOf(name, experts)), number);
    const knob = switched ? h("button", { type: "button", class: "w-switch", role: "switch",
      "data-part": name,
      "aria-checked": "true", "aria-label": called(name), onclick: () => turn(name) }) : null;
    const kind = kindOf(name);
    const barred = (kind !== "minor" || name === "positions") && name !== "next word";
    const box = h("div", { class: `w-part w-${kind}`, "data-name": name }, knob, label,
      chapter(name), barred ? h("span", { class: "w-part-bar" }, fill) : null);
    return /** @type {Part} */ ({ name, kind, layer: layerOf(name), box, open: label, turn: knob,
      fill: barred ? fill : null, number });
  };
  const chapter = (name) => {
    const { address, number } = chapterOf(name, links, experts);
    return number ? h("a", { class: "w-chapter", href: address, "aria-label": WORDS.chapter(number, name) },
      `§${number}`) : null;
  };
  const all = [make("next word", false), ...parts.map((name) => make(name, true)), make("embedding", false)];
  const box = h("div", { class: "w-parts" }, ...all.map((part) => part.box));

  /** Where a part stands on a desk. @param {Part} part @param {Layout} layout */
  function place({ name, kind, layer }, layout) {
    const { floors, norm, ground, words, right, width, guess } = layout;
    if (name === "next word") return [26, guess.y + guess.h - 26];
    if (name === "norm") return [0, norm.y];
    if (name === "embedding") return [26, ground.y - 3];
    if (name === "positions") return [0, words.y + (layout.turned ? 14 : 1)];
    const of = /\.(expert|feed_forward)/.test(name) ? "feed_forward" : "attention";
    const floor = floors.find((one) => one.name === `layer.${layer}.${of}`);
    if (kind === "chip") {
      const siblings = parts.filter((one) => one.replace(/\d+$/, "") === name.replace(/\d+$/, ""));
      const each = Math.min(72, (width - right - 14) / siblings.length);
      return [right + 14 + siblings.indexOf(name) * each, floor.y, each - 6];
    }
    const middle = (floor.strip.y + floor.y + floor.h) / 2;
    if (kind === "major") return [0, middle - 24];
    return [name.endsWith(".path") ? layout.left * 0.52 : 0, middle + 1];
  }
  return {
    box,
    /** @param {Layout} layout @param {number} layer the one that a phone shows @param {number} layers */
    place(layout, layer, layers) {
      for (const part of all) {
        const ends = { positions: 1, norm: layers }[part.name];
        part.box.hidden = layout.phone && (part.layer || ends) !== layer;
        if (layout.phone) { part.box.removeAttribute("style"); continue; }
        const [x, y, width] = place(part, layout);
        part.box.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
        if (width) part.box.style.width = `${width.toFixed(1)}px`;
      }
    },
    /** Which part is at work while it plays, and which come after it: nothing is told of these yet.
     *  @param {string|null} step @param {string[]} later */
    work(step, later) {
      for (const { name, box: node } of all) {
        const own = name === "next word" ? "next" : name.replace(/head\.\d+$/, "attention")
          .replace(/expert\.\d+$/, "feed_forward");
        node.classList.toggle("w-at-work", step !== null && (name === step
          || (step === "next" && name === "next word")
          || (name.includes(".head.") && own === step)));
        node.classList.toggle("w-later", later.includes(own));
      }
    },
    /** @param {{isOff: (name: string) => boolean, values: Map<string, number>|null, top: number, say: (name:
     *   string, value: number) => string, show: (value: number) => string, wait: string}} what `values` by
     *   part, or null; `wait` says why there are none yet */
    draw({ isOff, values, top, say, show, wait }) {
      for (const { name, box: node, turn: knob, fill, number, open: label } of all) {
        const off = isOff(name);
        node.classList.toggle("w-off", off);
        if (knob) give(knob, { "aria-checked": String(!off) });
        if (!fill) continue;
        const value = values?.get(name);
        const told = value !== undefined && !off;
        fill.hidden = !told;
        number.textContent = told ? show(value) : "";
        const bar = told ? say(name, value) : values ? "" : wait;
        label.title = `${purpose(name, experts)}${bar && ` ${bar}.`}`;
        if (!told) continue;
        fill.style.width = `${(50 * Math.min(1, Math.abs(value) / Math.max(top, 1e-9))).toFixed(1)}%`;
        fill.className = value < 0 ? "w-against" : "w-for";
      }
    },
  };
}
