/** What a text of the small world can go on with, and how likely each word is. */
import { trueNext } from "./plots.js";

/** The true probability of each word behind a text, null where it is not known; `lost` is where the text
 *  leaves the world, or −1. What was computed stays until text or world change.
 *  @param {{vocabulary: string[], idOf: (word: string) => number|null}} model */
export function truths(model) {
  const unknown = { key: "", world: null, truth: null, lost: -1 };
  let last = unknown;
  /** @param {string[]} all @param {any} world */
  return (all, world) => {
    if (!Array.isArray(world?.GIRLS)) return unknown;
    const key = all.join(" ");
    if (last.key === key && last.world === world) return last;
    const expected = trueNext(all, world);
    const lost = expected.length > all.length ? -1 : expected.length - 1;
    if (lost >= 0) return (last = { key, world, truth: null, lost });
    const truth = new Float64Array(model.vocabulary.length);
    expected.at(-1).forEach((p, word) => { truth[model.idOf(word)] = p; });
    return (last = { key, world, truth, lost });
  };
}
