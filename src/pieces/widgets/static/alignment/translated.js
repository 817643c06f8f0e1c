/** What a translator makes of typed text, word by word, and where it looked for each word. */
import { tensor } from "../twin/flat.js";
import { once } from "../twin/memo.js";
import { sources } from "../twin/vocabulary.js";

const KEEP = ["weights"];

/** @typedef {{words: string[], sure: number[], values: import("../twin/flat.js").Tensor|null}} Written
 *   the words, how probable each of them was, and its weights over what was read, [T, S]
 *  @typedef {Written & {tokens: string[], unknown: string[], over: boolean}} Translated */

/** `read(text)` computes once for each text.
 *  @param {import("../twin/model.js").TrainedModel} model an aligner
 *  @param {number} most tokens that are read, and words that are written */
export function translator(model, most) {
  const { vocabulary } = model;
  const reads = sources(vocabulary);
  const [begin, end] = ["<bos>", "<eos>"].map((mark) => vocabulary.indexOf(mark));

  /** The likeliest word at each step. @param {number[]} source @returns {Written} */
  function written(source) {
    const [words, sure, rows] = [[], [], []];
    let step = model.run([begin], { source, keep: KEEP });
    while (words.length < most) {
      const { data } = step.probabilities;
      const id = data.indexOf(Math.max(...data));
      if (id === end) break;
      words.push(vocabulary[id]);
      sure.push(data[id]);
      rows.push(...step.inner.core.weights.data);
      step = model.step(step.state, id, { keep: KEEP });
    }
    return { words, sure, values: tensor(Float32Array.from(rows), [words.length, source.length]) };
  }
  return {
    /** The words that a source is made of. */
    readable: vocabulary.filter((_, id) => reads[id]),
    read: once(/** @param {string} typed @returns {Translated} */ (typed) => {
      const tokens = model.encode(typed).tokens;
      const unknown = [...new Set(tokens.filter(({ id }) => !reads[id]).map((token) => token.text))];
      const all = tokens.filter(({ id }) => reads[id]).map(({ id }) => id);
      const ids = all.slice(0, most);
      return { unknown, over: all.length > most, tokens: ids.map((id) => vocabulary[id]),
        ...(ids.length ? written(ids) : { words: [], sure: [], values: null }) };
    }),
  };
}
