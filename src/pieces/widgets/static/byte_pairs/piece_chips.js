/** Words as rows of pieces: the newest pieces marked, and all that are like the one under the pointer. */
import { h } from "../kit/kit.js";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** A piece as a reader sees it: its text, a space as a dot; bytes that are no whole sign as numbers.
 *  @param {string} piece @param {string} unit */
export function shown(piece, unit) {
  if (unit !== "bytes") return piece.replaceAll(" ", "·");
  const bytes = Uint8Array.from(piece.match(/../gu) ?? [], (pair) => parseInt(pair, 16));
  try {
    return decoder.decode(bytes).replaceAll(" ", "·");
  } catch {
    return piece.match(/../gu).join(" ").toUpperCase();
  }
}

/** @param {{label: string, point: (piece: string|null) => void}} options */
export function wordsOfPieces({ label, point }) {
  const box = h("div", { class: "p-pieces", tabindex: "0", role: "group", "aria-label": label });
  let drawn = "";
  box.addEventListener("pointerover", (event) => {
    const node = /** @type {HTMLElement} */ (event.target).closest?.("[data-piece]");
    point(/** @type {HTMLElement|null} */ (node)?.dataset.piece ?? null);
  });
  box.addEventListener("pointerleave", () => point(null));
  return {
    box,
    /** @param {string[][]} words
     *  @param {{unit: string, fresh: string|null, pointed: string|null, strange: (piece: string) => boolean,
     *    name: (sign: string) => string}} look */
    draw(words, { unit, fresh, pointed, strange, name }) {
      const key = JSON.stringify([words, unit, fresh, words.map((word) => word.map(strange))]);
      if (key !== drawn) {
        drawn = key;
        box.replaceChildren(...words.map((word) => h("span", { class: "p-word" }, ...word.map((piece) => {
          const [odd, text] = [strange(piece), shown(piece, unit)];
          return h("span", { class: `p-piece${piece === fresh ? " p-fresh" : ""}${odd ? " p-strange" : ""}`,
            "data-piece": piece, title: odd ? name(text) : null }, text);
        }))));
      }
      for (const node of box.querySelectorAll("[data-piece]")) {
        node.classList.toggle("p-on", pointed !== null
          && /** @type {HTMLElement} */ (node).dataset.piece === pointed);
      }
    },
  };
}
