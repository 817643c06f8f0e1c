/** What is to be seen, in sentences with their numbers: part by part while it plays, whole when it rests. */
import { percent } from "../kit/kit.js";
import { openUnits } from "./draw_column.js";
import { boldest } from "./opened.js";
import { WORDS } from "./words.js";
import { argmax } from "../twin/tensor.js";

/** @typedef {import("./columns.js").Column} Column */

/** The steps of the play, from the words up. @param {string[]} strips */
export const stepsOf = (strips) => ["words", ...strips, "norm", "next"];

/** One step in one sentence. @param {string} step @param {{columns: Column[], words: string[], t: number,
 *  strips: string[], off: string[], model: import("../twin/model.js").TrainedModel}} state */
export function stepTold(step, { columns, words, t, strips, off, model }) {
  const column = columns[t];
  const vocabulary = model.vocabulary;
  const word = words[t];
  if (step === "words") return WORDS.told.words(columns.length, vocabulary.length);
  if (step === "norm") {
    return off.includes("norm") ? WORDS.told.unnormed(word) : WORDS.told.norm(column.sizes.at(-1), word);
  }
  if (step === "next") {
    const p = column.probabilities;
    const ids = [...p.keys()].sort((a, b) => p[b] - p[a]).slice(0, 2);
    return WORDS.told.next(vocabulary.length, ids.map((id) => [vocabulary[id], p[id]]),
      off.includes("norm"));
  }
  const index = strips.indexOf(step);
  const seen = column.lens[index];
  if (index === 0) {
    return WORDS.told.embedding(word, column.at("embedding").length, vocabulary[seen.id], seen.p);
  }
  const layer = Number(step.split(".")[1]);
  const end = WORDS.told.column(column.sizes[index - 1], column.sizes[index], vocabulary[seen.id], seen.p,
    column.lens[index - 1].id === seen.id);
  if (off.includes(step)) return WORDS.told.off(step) + end;
  if (step.endsWith(".attention")) {
    const head = boldest(column, layer, model.heads, off);
    if (head < 0) return WORDS.told.off(step) + end;
    const A = column.at(`layer.${layer}.weights`).subarray(head * (t + 1), (head + 1) * (t + 1));
    const from = argmax(A);
    return WORDS.told.attention(layer, word, `${layer}.${head + 1}`, words[from], A[from]) + end;
  }
  if (column.values.has(`layer.${layer}.experts`)) {
    const shares = column.at(`layer.${layer}.shares`);
    const list = [...column.at(`layer.${layer}.experts`)].map((e, slot) =>
      [`${layer}.${e + 1}`, shares[slot], off.includes(`layer.${layer}.expert.${e + 1}`)]);
    return WORDS.told.experts(layer, word, list) + end;
  }
  const units = column.at(`layer.${layer}.units`);
  let widest = 0;
  units.forEach((one, n) => { if (Math.abs(one) > Math.abs(units[widest])) widest = n; });
  return WORDS.told.feed_forward(layer, word, openUnits(column, layer).length, units.length,
    `${layer}.${widest + 1}`, units[widest]) + end;
}

/** The last strip that would have said another word, as its index; −1 where there is none above the first.
 *  @param {Column} column */
function turnedAt(column) {
  for (let n = column.lens.length - 1; n >= 0; n--) if (column.lens[n].id !== column.guess.id) return n;
  return -1;
}

/** The word that was drawn last, and the chance it had. @param {Column[]} columns @param {string[]} words */
export function drawnTold(columns, words) {
  const [before, own] = columns.slice(-2);
  return WORDS.drawn(words.at(-1), before.probabilities[own.id]);
}

/** What stands there when it rests.
 *  @param {{column: Column, before: Column|null, word: string, vocabulary: string[], off: string[],
 *   strips: string[], truth: Float64Array|null, lost: string|null, first: boolean, said: string,
 *   costs: [number, number]|null, tried: Map<string, number>|null}} state `costs` of the whole text,
 *   with all parts on and as it is now; `said`: what was drawn; `first`: the text begins with what is lost */
export function restTold({ column, before, word, vocabulary, off, strips, truth, lost, first, costs,
  tried, said }) {
  const guess = vocabulary[column.guess.id];
  if (before) {
    const was = before.guess;
    const now = column.probabilities[was.id];
    const [old, read] = (costs ?? []).map((nats) => percent(Math.exp(-nats)));
    const gains = now > was.p + 0.02 && costs && costs[1] > costs[0] + 0.02 && old !== read;
    return WORDS.without(off, vocabulary[was.id], was.p, now)
      + (column.guess.id === was.id ? "" : WORDS.leads(guess, column.guess.p))
      + (costs ? WORDS.text(...costs) : ".") + (gains ? WORDS.gains : "");
  }
  const told = [said, WORDS.sure(word, guess, column.guess.p, truth ? truth[column.guess.id] : null)];
  const turned = turnedAt(column);
  if (tried && column.guess.p >= 0.1) { // of less, hardly anything could be lost
    const [name, p] = [...tried].reduce((least, one) => (one[1] < least[1] ? one : least));
    told.push(column.guess.p - p < 0.05 ? WORDS.spread : WORDS.needs(name, column.guess.p, p));
  } else if (turned >= 0 && turned + 1 < strips.length) {
    told.push(WORDS.turned(strips[turned + 1], vocabulary[column.lens[turned].id]));
  }
  if (lost) told.push(WORDS.lost(lost, first));
  return told.join("").trim();
}
