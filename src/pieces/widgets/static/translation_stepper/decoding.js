/** How a model writes, token by token, and what the reader takes in place of its choice. */
import { beamSearch } from "../twin/beam.js";
import { once } from "../twin/memo.js";
import { mapOf } from "../twin/reading.js";
import { argmax } from "../twin/tensor.js";

/** @typedef {[number, string]} Choice a place from 1, and the word that is taken there
 *  @typedef {{ids: number[], odds: Float32Array[]}} Greedy the tokens, an end among them, and what the model
 *   expected at each place */

const [BEGIN, END] = ["<bos>", "<eos>"];

/** What a trait holds as choices: whole places in range, each once. @param {any} given @param {number} most
 *  @returns {Choice[]} */
export function choicesIn(given, most) {
  const taken = new Set();
  return (Array.isArray(given) ? given : []).filter((one) => {
    const [place, word] = Array.isArray(one) ? one : [];
    const fits = Number.isInteger(place) && place >= 1 && place <= most && typeof word === "string"
      && one.length === 2 && !taken.has(place);
    if (fits) taken.add(place);
    return fits;
  });
}

/** @param {import("../twin/model.js").TrainedModel} model @param {number} most tokens written */
export function decoding(model, most) {
  const { vocabulary } = model;
  const [begin, end] = [BEGIN, END].map((mark) => vocabulary.indexOf(mark));

  return {
    begin, end,
    /** @type {(source: number[], choices: Choice[]) => Greedy} */
    greedy: once((source, choices) => {
      const chosen = new Map(choices.map(([place, word]) => [place, vocabulary.indexOf(word)]));
      const [ids, odds] = [[], []];
      let step = model.run([begin], { source, last: true });
      while (true) {
        const { data } = step.probabilities;
        const wished = chosen.get(ids.length + 1) ?? -1;
        odds.push(data.slice());
        ids.push(wished < 0 ? argmax(data) : wished);
        if (ids.at(-1) === end || ids.length === most) return { ids, odds };
        step = model.step(step.state, ids.at(-1));
      }
    }),
    beams: once((source, nBeams) => beamSearch(model, source, { startId: begin, eosId: end, most, nBeams })),
    /** Everything that a model does on the way to these tokens. */
    inside: once((source, ids) => {
      const start = model.start(source, { keep: ["weights"] });
      const { inner } = start; // the encoder's, before the decoder runs
      const result = model.run([begin, ...ids.slice(0, -1)], { state: start, keep: ["weights"] });
      return { probabilities: result.probabilities, maps: { ...inner, ...result.inner } };
    }),
    /** How probable each of these tokens was. */
    odds: once((source, ids) => {
      const { data, shape } = model.run([begin, ...ids.slice(0, -1)], { source }).probabilities;
      return ids.map((id, t) => data[t * shape[1] + id]);
    }),
  };
}

/** The weights of one head, or of their mean where `head` is 0, as [T, S].
 *  @param {Record<string, Record<string, import("../twin/flat.js").Tensor>>} maps
 *  @param {string} kind @param {number} layer @param {number} head */
export function attended(maps, kind, layer, head) {
  const [stack, part] = { cross: ["decoder", "cross_attention"], decoder: ["decoder", "attention"],
    encoder: ["encoder", "attention"] }[kind];
  return mapOf(maps[`${stack}.blocks.${layer - 1}.${part}.core`].weights, head ? head - 1 : null);
}
