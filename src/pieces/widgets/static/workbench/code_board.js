/** The code that builds the parts: runs that light up, folded imports, and a button that copies it all. */
import { h } from "../kit/kit.js";

export function codeBoard(words, { point, press }) {
  const [imports, runs] = [h("code", {}), h("code", {})];
  const note = h("span", { class: "p-bench-note", role: "status" });
  const body = h("pre", { class: "p-bench-code", tabindex: "0", role: "group", "aria-label": words.code },
    runs);
  const part = (event) => event.target.closest?.("[data-part]")?.getAttribute("data-part") ?? null;
  body.addEventListener("pointerover", (event) => point(part(event)));
  body.addEventListener("pointerleave", () => point(null));
  body.addEventListener("click", (event) => { if (part(event)) press(part(event)); });
  const copy = h("button", { type: "button", class: "p-button", onclick: () => take() }, words.copy);
  const pane = h("figure", { class: "p-pane p-bench-lines" },
    h("figcaption", {}, words.code), h("details", { class: "p-bench-imports" },
      h("summary", {}, words.imports), h("pre", { class: "p-bench-code" }, imports)), body,
    h("p", { class: "p-bench-copy" }, copy, note));
  let all = "";
  async function take() {
    try {
      await navigator.clipboard.writeText(all);
      note.textContent = words.copied;
    } catch { // a page that may not write to the clipboard
      const fold = /** @type {HTMLDetailsElement} */ (pane.querySelector("details"));
      fold.open = true;
      const range = document.createRange();
      range.setStart(imports, 0);
      range.setEnd(runs, runs.childNodes.length);
      getSelection()?.removeAllRanges();
      getSelection()?.addRange(range);
      note.textContent = words.uncopied;
    }
  }
  return {
    pane,
    /** @param {ReturnType<typeof import("./line.js").lines>} code @param {string} text */
    draw(code, text) {
      if (text === all) return;
      all = text;
      note.textContent = "";
      imports.textContent = code.imports;
      runs.replaceChildren(...code.runs.map((run) =>
        (run.part ? h("span", { "data-part": run.part }, run.text) : h("span", {}, run.text))));
    },
  };
}
