/** A row of words of which one can be chosen: by pointer, by touch, by arrow keys. */
import { h, setText } from "./dom.js";
import { keyed } from "./keyed.js";

/** @typedef {{text: string, known?: boolean, label?: string}} Chip */

/**
 * @param {{label: string, selection?: ReturnType<typeof import("./selection.js").createSelection>, axis?:
 *   string}} options
 *   the selection that the words share; `axis` is what they are in it, "token" where nothing else is said
 */
export function chips({ label, selection, axis = "token" }) {
  const box = h("div", { class: "p-chips", role: selection ? "radiogroup" : "list", "aria-label": label });
  /** @type {Chip[]} */
  let items = [];
  const list = keyed(box, {
    key: (_, n) => n,
    make: () => h("span", { class: "p-chip", role: selection ? "radio" : "listitem",
      tabindex: selection ? "-1" : null }),
    update(node, item, n) {
      setText(node, item.text);
      node.dataset.at = String(n);
      node.classList.toggle("p-unknown", item.known === false);
      if (item.label) node.setAttribute("aria-label", item.label); else node.removeAttribute("aria-label");
    },
  });
  const at = (event) => {
    const node = event.target.closest?.(".p-chip");
    return node ? Number(node.dataset.at) : null;
  };
  function mark() {
    if (!selection) return;
    const { now, picked } = selection;
    items.forEach((_, n) => {
      const node = list.node(n);
      node.setAttribute("aria-checked", String(picked[axis] === n));
      node.classList.toggle("p-on", now[axis] === n);
      node.setAttribute("tabindex", n === (picked[axis] ?? 0) ? "0" : "-1");
    });
  }
  if (selection) {
    box.addEventListener("pointerover", (event) => {
      const n = at(event);
      if (n !== null && event.pointerType === "mouse") selection.point({ [axis]: n });
    });
    box.addEventListener("pointerleave", () => selection.leave());
    box.addEventListener("click", (event) => {
      const n = at(event);
      if (n === null) return;
      const again = selection.picked[axis] === n;
      selection.leave();
      selection.pick({ [axis]: again ? null : n });
    });
    box.addEventListener("keydown", (event) => {
      if (!items.length || event.ctrlKey || event.metaKey || event.altKey) return;
      const from = at(event) ?? 0;
      const to = { ArrowRight: from + 1, ArrowDown: from + 1, ArrowLeft: from - 1, ArrowUp: from - 1, Home: 0,
        End: items.length - 1, " ": from, Enter: from }[event.key];
      if (event.key === "Escape") selection.pick({ [axis]: null });
      if (to === undefined) return;
      event.preventDefault();
      const n = Math.min(items.length - 1, Math.max(0, to));
      selection.pick({ [axis]: n });
      /** @type {HTMLElement} */ (list.node(n)).focus();
    });
  }
  return {
    box,
    stop: selection ? selection.subscribe(mark) : () => {},
    /** @param {Chip[]} next */
    draw(next) {
      items = next;
      list.draw(items);
      mark();
    },
    /** @param {number} n @returns {HTMLElement} */
    node: (n) => /** @type {HTMLElement} */ (list.node(n)),
  };
}
