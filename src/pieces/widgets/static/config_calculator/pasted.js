/** A field into which a `config.json` is pasted: its sizes are taken once they can be read. */
import { h } from "../kit/kit.js";
import { readConfig } from "./config_json.js";

const REST = 500; // ms after which an unfinished text is spoken of
const WORDS = {
  open: "Paste a config.json", label: "The text of a config.json",
  taken: "Read: the sizes below are those of the file.",
};

/** @param {Object} view @param {(trait: string) => Object} limits @param {(sizes: Object) => void} take */
export function pasteField(view, limits, take) {
  const note = h("p", { class: "p-typed-note", role: "status" });
  const field = h("textarea", { class: "p-typed", rows: 4, spellcheck: "false", autocapitalize: "off",
    autocomplete: "off", "data-lm-suppress-shortcuts": "true", "aria-label": WORDS.label,
    oninput: view.guarded(judge) });
  let resting = 0;
  function judge() {
    clearTimeout(resting);
    if (!field.value.trim()) { note.textContent = ""; return; }
    const { sizes, sentence } = readConfig(field.value, limits);
    const say = () => { note.textContent = sizes ? WORDS.taken : sentence; };
    if (sizes) { take(sizes); say(); } else resting = window.setTimeout(say, REST);
  }
  view.onDispose(() => clearTimeout(resting));
  return h("details", { class: "p-details p-paste" }, h("summary", {}, WORDS.open), field, note);
}
