/** Beside the columns: what the followed word's stream would say at each strip, and how many units are open.
 *  */
import { h } from "../kit/kit.js";
import { openUnits } from "./draw_column.js";
import { WORDS } from "./words.js";

/** @param {{strips: string[], open: (name: string) => void}} options */
export function sideOf({ strips, open }) {
  const marks = strips.map((name, n) => h("button", { type: "button", class: "w-mark",
    "aria-label": WORDS.open(name),
    onclick: () => open(n ? `${name}.path` : name) }, h("i", {}), h("b", {}), h("span", {}), h("s", {})));
  const counts = strips.map(() => h("span", { class: "w-count" }));
  return {
    box: h("div", { class: "w-marks" }, ...marks, ...counts),
    /** While it rises, only what stands below the front is told. @param {number} y */
    rise(y) { for (const mark of [...marks, ...counts]) mark.style.opacity = Number(mark.dataset.y) < y ? "0"
      : ""; },
    /** @param {{column: import("./columns.js").Column, before: import("./columns.js").Column|null,
     *   layout: import("./layout.js").Layout, vocabulary: string[], experts: number}} what */
    draw({ column, before, layout, vocabulary, experts }) {
      const word = WORDS.column(vocabulary[column.id]);
      const x = layout.right + 14;
      strips.forEach((name, n) => {
        const floor = layout.floors.find(({ index }) => index === n);
        const last = n === strips.length - 1 && !layout.phone; // there the next word itself is told
        const span = last ? null : floor?.strip ?? (n === layout.ground.index ? layout.ground : null);
        marks[n].hidden = !span;
        counts[n].hidden = !floor || layout.phone || experts > 0 || !name.endsWith(".feed_forward");
        if (!counts[n].hidden) {
          const layer = Number(name.split(".")[1]);
          const all = column.at(`layer.${layer}.units`).length;
          counts[n].textContent = WORDS.units(openUnits(column, layer).length, all);
          counts[n].dataset.y = String(floor.y);
          counts[n].style.transform = `translate(${x}px, ${floor.y + floor.h / 2 - 9}px)`;
        }
        if (!span) return;
        const { id, p } = column.lens[n];
        const [would, guess, share] = WORDS.stopped(vocabulary[id], p);
        const [lead, bold, small, was] = marks[n].children;
        lead.textContent = layout.phone ? word + would : would;
        bold.textContent = guess;
        small.textContent = share;
        was.textContent = before && before.lens[n].id !== id ? vocabulary[before.lens[n].id] : "";
        marks[n].className = id === column.guess.id ? "w-mark w-same" : "w-mark";
        marks[n].setAttribute("aria-label", WORDS.lensAt(name, guess, p));
        marks[n].dataset.y = String(span.y + 2);
        marks[n].style.transform = `translate(${layout.phone ? 0 : x}px, ${span.y}px)`;
      });
    },
  };
}
