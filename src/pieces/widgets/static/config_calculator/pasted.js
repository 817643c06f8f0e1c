/** A field into which a `config.json` is pasted: its sizes are taken once they can be read. */
import { h } from "../kit/kit.js";
import { readConfig } from "./config_json.js";

const REST = 500; // ms after which an unfinished text is spoken of
const WORDS = {
  open: "Paste a config.json", label: "The text of a config.json",
  taken: "Read: the sizes below are those of the file.",
  changed: "Read. The sizes below have been changed since.",
};

/** @param {Object} view @param {(trait: string) => Object} limits @param {(sizes: Object) => void} take
 *  @param {() => Object} now the sizes that are counted */
export function pasteField(view, limits, take, now) {
  const note = h("p", { class: "p-typed-note", role: "status" });
  const field = h("textarea", { class: "p-typed", rows: 4, spellcheck: "false", autocapitalize: "off",
    autocomplete: "off", "data-lm-suppress-shortcuts": "true", "aria-label": WORDS.label,
    oninput: view.guarded(judge) });
  let resting = 0;
  let taken = ""; // what the file's sizes came to, while it stands in the field
  function judge() {
    clearTimeout(resting);
    taken = "";
    if (!field.value.trim()) { note.textContent = ""; return; }
    const { sizes, sentence } = readConfig(field.value, limits);
    if (sizes) {
      take(sizes);
      taken = JSON.stringify(now());
      follow();
    } else resting = window.setTimeout(() => { note.textContent = sentence; }, REST);
  }
  function follow() {
    if (taken) note.textContent = taken === JSON.stringify(now()) ? WORDS.taken : WORDS.changed;
  }
  view.onDraw(follow);
  view.onDispose(() => clearTimeout(resting));
  return h("details", { class: "p-details p-paste" }, h("summary", {}, WORDS.open), field, note);
}
