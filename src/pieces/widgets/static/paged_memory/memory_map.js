/** A memory as rows of places: who has them, which hold a token, where blocks end. */
import { h } from "../kit/kit.js";

const ROLES = ["query", "key", "value", "score", "weight", "output", "residual"];

/** The colour of a request. @param {number} id */
export const roleOf = (id) => ROLES[id % ROLES.length];

/** @typedef {{owners: number[], token: boolean}} Place
 * @param {{caption: string, places: number, point: (id: number|null) => void, press: (id: number) => void,
 *   tell: (place: Place, at: number) => string, letter: (id: number) => string}} options */
export function memoryMap({ caption, places, point, press, tell, letter }) {
  const cells = Array.from({ length: places }, (_, at) => h("span", { class: "p-place", "data-at": at,
    onpointerenter: () => point(owner(at)), onclick: () => chosen(owner(at)) }));
  const grid = h("div", { class: "p-memory", role: "img", onpointerleave: () => point(null) }, ...cells);
  const fact = h("p", { class: "p-memory-fact" });
  const pane = h("figure", { class: "p-pane p-pane-memory" }, h("figcaption", {}, caption), grid, fact);
  /** @type {Place[]} */
  let now = [];
  const chosen = (id) => { if (id !== null) press(id); };
  const owner = (at) => now[at]?.owners[0] ?? null;
  return {
    pane,
    /** @param {Place[]} next @param {number} size of a block, 0 for none @param {number|null} followed
     *  @param {string} said @param {string} label */
    draw(next, size, followed, said, label) {
      now = next;
      grid.setAttribute("aria-label", label);
      fact.textContent = said;
      cells.forEach((cell, at) => {
        const { owners, token } = next[at];
        const id = owners[0];
        cell.dataset.state = !owners.length ? "free" : token ? "token" : "kept";
        cell.dataset.role = owners.length ? roleOf(id) : "none";
        const on = followed !== null && owners.includes(followed);
        cell.className = `p-place${size > 0 && at % size === 0 ? " p-block" : ""}${on ? " p-on" : ""}`;
        cell.textContent = !token ? "" : owners.length > 1 ? String(owners.length) : letter(id);
        cell.title = tell(next[at], at);
      });
    },
  };
}
