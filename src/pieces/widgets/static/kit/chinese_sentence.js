/** The Chinese sentence that a translator reads: one of a few, or one of the reader's own. */
import { offers } from "./chinese.js";
import { quoted, select, text } from "./kit.js";
import { typedText } from "./typed_text.js";

const WORDS = {
  choose: "a sentence", own: "one of your own",
  typed: (n) => `A sentence in the ${n} Chinese characters that the model knows`,
  hint: "Change a character, or type an English word such as dog: its Chinese is offered here.",
  unknown: (words) => `The model cannot read ${quoted(words)}`
    + `${words.length > 3 ? ` and ${words.length - 3} more` : ""},`
    + ` so it skips ${words.length > 1 ? "them" : "it"}.`,
  long: (most) => ` It reads the first ${most} characters.`,
  empty: "Choose a sentence, or write one of Chinese characters that the model knows.",
};

/**
 * A menu among the controls, and the field to be placed by the widget.
 * @param {Object} view @param {Object} traits @param {import("../twin/model.js").TrainedModel} model
 * @param {{readable: string[], examples: [string, string][], also: (sentence: string) => Object}} given the
 *   words that the model reads; each sentence with what the menu calls it; what is set along with one
 */
export function chineseSentence(view, traits, model, { readable, examples, also }) {
  const own = ["", WORDS.own];
  const known = examples.map(([sentence]) => sentence);
  const chosen = {
    get: () => text(traits, "text"), save_changes: () => traits.save_changes(),
    set: (_, sentence) => traits.set({ text: sentence, ...also(sentence) }),
  };
  view.onDraw(() => {
    if (!known.includes(chosen.get())) own[0] = chosen.get();
    /** @type {HTMLOptionElement} */ (view.controls.querySelector("option")).value = own[0];
  });
  select(view, chosen, "text", { label: WORDS.choose, options: [own, ...examples] });
  const vocabulary = { vocabulary: readable, encode: (typed) => model.encode(typed) };
  return typedText(view, traits, vocabulary, { ...WORDS, offers });
}
