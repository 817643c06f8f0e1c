/** Typed text as a translator's source: of its vocabulary, the words that a source is made of. */
import { once } from "./memo.js";
import { sources } from "./vocabulary.js";

/** @typedef {import("./memo.js").Text} Text */

/** `read(typed)`, `most` words of it at the most, and the words that are `readable` at all.
 *  @param {import("./model.js").TrainedModel} model @param {number} most
 *  @returns {{readable: string[], read: (typed: string) => Text}} */
export function sourceReader(model, most) {
  const { vocabulary } = model;
  const reads = sources(vocabulary);
  return {
    readable: vocabulary.filter((_, id) => reads[id]),
    read: once((typed) => {
      const { tokens } = model.encode(typed);
      const unknown = [...new Set(tokens.filter(({ id }) => !reads[id]).map((token) => token.text))];
      const all = tokens.filter(({ id }) => reads[id]).map(({ id }) => id);
      const ids = all.slice(0, most);
      return { ids, unknown, over: all.length > most, words: ids.map((id) => vocabulary[id]) };
    }),
  };
}
