/** What an aligner makes of a source, word by word, and where it looked for each word. */
import { tensor } from "../twin/flat.js";
import { once } from "../twin/memo.js";
import { argmax } from "../twin/tensor.js";

const KEEP = ["weights"];

/** @typedef {{words: string[], sure: number[], values: import("../twin/flat.js").Tensor|null}} Written
 *   the words, how probable each of them was, and its weights over what was read, [T, S]
 */

/** Translates a source, once while it stays the same.
 *  @param {import("../twin/model.js").TrainedModel} model an aligner
 *  @param {number} most words that are written @returns {(source: number[]) => Written} */
export function translator(model, most) {
  const { vocabulary } = model;
  const [begin, end] = ["<bos>", "<eos>"].map((mark) => vocabulary.indexOf(mark));

  /** The likeliest word at each step. @param {number[]} source @returns {Written} */
  function written(source) {
    const [words, sure, rows] = [[], [], []];
    let step = model.run([begin], { source, keep: KEEP });
    while (words.length < most) {
      const { data } = step.probabilities;
      const id = argmax(data);
      if (id === end) break;
      words.push(vocabulary[id]);
      sure.push(data[id]);
      rows.push(...step.inner.core.weights.data);
      step = model.step(step.state, id, { keep: KEEP });
    }
    return { words, sure, values: tensor(Float32Array.from(rows), [words.length, source.length]) };
  }
  return once((source) => (source.length ? written(source) : { words: [], sure: [], values: null }));
}
