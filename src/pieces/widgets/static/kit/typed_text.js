/** A field for a text that a model reads, and what is to be said about its words. */
import { commit, h, limits, text } from "./dom.js";
import { near } from "./tokens.js";
import { words } from "./words.js";

/**
 * @param {Object} view @param {Object} traits
 * @param {{vocabulary: string[], encode: (text: string) => {tokens: {text: string, from: number,
 *   to: number}[]}}} model
 * @param {Record<string, any>} own `typed`, the field's label; `hint`, which stands below it where nothing
 *   else is to be said; `offers`, where they are not words spelled almost alike; any of `words.typed`
 */
export function typedText(view, traits, model, own) {
  /** @type {Record<string, any>} */
  const say = { ...words.typed, ...own };
  const note = h("p", { class: "p-typed-note", role: "status" });
  const { longest } = limits(traits, "text");
  const put = (typed) => commit(traits, "text", typed.slice(0, longest));
  const field = h("textarea", {
    class: "p-typed", rows: 2, spellcheck: "false", autocapitalize: "off", autocomplete: "off",
    "data-lm-suppress-shortcuts": "true", "aria-label": say.typed(model.vocabulary.length),
      oninput: () => put(field.value),
  });
  /** The word at its first place, and no other that has the same letters in it. */
  const swap = (word, other) => {
    const typed = field.value;
    const place = model.encode(typed).tokens.find((token) => token.text === word);
    if (place) put(typed.slice(0, place.from) + other + typed.slice(place.to));
    field.focus();
  };
  const offer = (word) => (other) => h("button", { type: "button", class: "p-button p-offer",
    "aria-label": say.replace(word, other), onclick: () => swap(word, other) }, other);
  let resting = 0;
  view.onDispose(() => clearTimeout(resting));
  function explain({ unknown, over, words: list }) {
    const [first] = unknown;
    const offers = first ? (say.offers?.(first) ?? near(first, model.vocabulary)).map(offer(first)) : [];
    const whole = list.length ? say.hint ?? "" : say.empty;
    note.replaceChildren(first ? say.unknown(unknown) : whole, offers.length ? say.try : "", ...offers,
      over ? say.long(list.length) : "", first && !list.length ? ` ${say.empty}` : "");
  }
  let told = null;
  return {
    box: h("div", { class: "p-typing" }, field, note),
    /** @param {{words: string[], unknown: string[], over: boolean}} reading */
    draw(reading) {
      const typed = text(traits, "text");
      if (field.value !== typed) {
        const longer = field.value && typed.startsWith(field.value);
        field.value = typed;
        if (longer) field.scrollTop = field.scrollHeight; // what is new is in sight
      }
      const key = JSON.stringify([reading.unknown, reading.over, reading.words.length > 0]);
      clearTimeout(resting); // a word may have been finished since
      if (key === told) return;
      const later = () => { told = key; explain(reading); };
      // a word half typed is not unknown
      if (document.activeElement === field) resting = window.setTimeout(later, 500);
      else later();
    },
  };
}
