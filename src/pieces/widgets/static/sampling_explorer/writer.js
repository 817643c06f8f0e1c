/**
 * A model that reads on with its cache: of a text that begins like the last one, only new words are computed.
 * @typedef {{ids: number[], logits: Float32Array, computed: number}} Read the logits behind the last word,
 *   and how many words were computed for them
 */

/** @param {import("../twin/model.js").TrainedModel} model */
export function writer(model) {
  let state = model.start();
  /** @type {Read} */
  let last = { ids: [], logits: new Float32Array(0), computed: 0 };

  /** Forget all but the first words: their keys and values do not depend on what came later.
   *  @param {number} kept */
  function rewind(kept) {
    state.memory.length = kept;
    for (const cache of state.memory.caches) cache.length = kept;
  }
  /** @param {number[]} ids at least one @returns {Read} */
  return (ids) => {
    if (ids.length === last.ids.length && ids.every((id, t) => id === last.ids[t])) return last;
    let same = 0;
    while (same < ids.length - 1 && ids[same] === last.ids[same]) same += 1;
    rewind(same);
    const result = model.run(ids.slice(same), { state, last: true });
    state = result.state;
    return (last = { ids: [...ids], logits: result.logits.data.slice(), computed: ids.length - same });
  };
}

/** How many numbers one word leaves in the cache of one layer, its key and its value each.
 *  @param {import("../twin/model.js").TrainedModel} model */
export function keptPerWord({ config }) {
  const { d_model: width, n_heads: heads, n_kv_heads: groups, head_dim: size } = config;
  return (groups ?? heads) * (size ?? width / heads);
}
