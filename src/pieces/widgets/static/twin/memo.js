/** What was computed stays while nothing changes that enters it. */

/**
 * `make`, called again only where what it is given differs from the last time: all of it is the key.
 * What it takes besides, a model say, must never change. @template {any[]} A, R
 * @param {(...given: A) => R} make its arguments are what JSON can tell apart
 * @returns {(...given: A) => R}
 */
export function once(make) {
  let key = null;
  let made;
  return (...given) => {
    const now = JSON.stringify(given);
    if (now !== key) [key, made] = [now, make(...given)];
    return made;
  };
}

/** @typedef {{ids: number[], words: string[], unknown: string[], over: boolean}} Text the words that a model
 *   reads of what was typed; `over` where there are more */

/** Reads typed text, `most` words of it at the most, and no more than the model can.
 *  @param {import("./model.js").TrainedModel} model @param {number} most */
export function textReader(model, most) {
  const longest = Math.min(most, model.longest);
  return once(/** @param {string} typed @returns {Text} */ (typed) => {
    const { ids: all, unknown } = model.encode(typed);
    const ids = all.slice(0, longest);
    return { ids, unknown, words: ids.map((id) => model.vocabulary[id]), over: all.length > longest };
  });
}
