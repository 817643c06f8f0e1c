/**
 * A trained model of the book, alive in the page.
 *
 *   const model = await loadModel(widgetModel);
 *   const { ids, unknown } = model.encode("one day , Tom lost the");
 *   const { probabilities, inner } = model.run(ids, { off: [[0, 1]], keep: ["weights"] });
 *   inner["stack.blocks.0.attention.core"].weights       // [H, T, S], named as in pieces.trace
 *   const { state } = model.run(ids);
 *   model.step(state, id)                                 // one token more, with the cache
 *
 * @typedef {import("./flat.js").Tensor} Tensor
 * @typedef {import("./trace.js").Watching} Watching
 * @typedef {{memory: any, inner: Record<string, Record<string, Tensor>>}} State what the model remembers of
 *   a text: its cache
 * @typedef {{logits: Tensor, probabilities: Tensor, inner: Record<string, Record<string, Tensor>>, state:
 *   State}} Result
 *   logits and probabilities are [T, V]; those at t are of the token behind token t
 */
import { aligner } from "./aligner.js";
import { tensor } from "./flat.js";
import { decoderOnly } from "./decoder.js";
import { encoderDecoder } from "./encoder_decoder.js";
import { unpack } from "./safetensors.js";
import { choose, probabilities } from "./sampling.js";
import { watcher } from "./trace.js";
import { vocabularyOf } from "./vocabulary.js";
import { weightsOf } from "./weights.js";

const TWINS = {
  llama: decoderOnly, mixtral: decoderOnly, attention_only: decoderOnly, gpt2: decoderOnly,
  encoder_decoder: encoderDecoder, aligner,
};
/** @param {Tensor} logits @returns {Tensor} */
function softmaxOf({ data, shape: [T, V] }) {
  const all = new Float32Array(T * V);
  for (let t = 0; t < T; t++) all.set(probabilities(data.subarray(t * V, (t + 1) * V)), t * V);
  return tensor(all, [T, V]);
}

/** Row t of a tensor [T, V], as a view. @param {Tensor} t @param {number} row */
export const rowOf = ({ data, shape: [, V] }, row) => data.subarray(row * V, (row + 1) * V);

/** Everything in a nest of lists and objects, numbers copied. @param {any} value */
function copied(value) {
  if (ArrayBuffer.isView(value)) return /** @type {Float32Array} */ (value).slice();
  if (Array.isArray(value)) return value.map(copied);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copied(part)]));
}

export class TrainedModel {
  /** @param {any} bytes a safetensors file as `pieces.trained` packs it */
  constructor(bytes) {
    const packed = unpack(bytes);
    const twin = TWINS[packed.kind];
    if (!twin) throw new RangeError(`kind = ${packed.kind}: the page knows `
      + `${Object.keys(TWINS).join(", ")}.`);
    this.kind = packed.kind;
    this.config = packed.config;
    /** What is known of its training: seed, steps, loss, floor. */
    this.record = packed.record;
    /** The words, in the order of their ids. */
    this.vocabulary = packed.vocabulary;
    /** Its weights by name. */
    this.weights = packed.tensors;
    this.layers = this.config.n_layers;
    this.heads = this.config.n_heads;
    /** @private */
    this.twin = /** @type {any} */ (twin(packed));
    /** How many tokens it can read; Infinity where its positions have no end. */
    this.longest = this.twin.longest;
    /** Whether it reads a source first. */
    this.reads = this.kind === "encoder_decoder" || this.kind === "aligner";
    /** @private */
    this.words = vocabularyOf(this.vocabulary);
  }

  /** The number of a word, in whatever case it was typed; null where there is none. @param {string} word */
  idOf(word) { return this.words.idOf(word); }

  /** Typed text as tokens; unknown words are told, not thrown. @param {string} text */
  encode(text) { return this.words.encode(text); }

  /** @param {number[]} ids */
  decode(ids) { return this.words.decode(ids); }

  /**
   * An empty text to be continued; of an encoder-decoder, the source read.
   * @param {number[]=} source
   * @param {Watching=} watching
   * @returns {State}
   */
  start(source, watching = {}) {
    const watch = watcher(watching);
    return { memory: this.begun(source, watch), inner: watch.inner };
  }

  /** @private @param {number[]|undefined} source @param {import("./trace.js").Watcher} watch */
  begun(source, watch) {
    if (this.reads !== Boolean(source?.length)) throw new RangeError(
      `source: ${this.kind} ${this.reads ? "needs one" : "has no use for one"}.`);
    return this.twin.start(source, watch);
  }

  /**
   * Read these tokens: all at once, or behind those that `state` remembers.
   * @param {number[]} ids at least one
   * @param {Watching & {state?: State, source?: number[], last?: boolean}} options `last`: logits of the
   *   last token only
   * @returns {Result} `state` goes on with `step`; it was made with these interventions
   */
  run(ids, { state, source, last = false, ...watching } = {}) {
    if (!ids.length) throw new RangeError("ids: at least one token is needed.");
    const watch = watcher(watching);
    const memory = state?.memory ?? this.begun(source, watch);
    if (memory.length + ids.length > this.longest) throw new RangeError(
      `ids: this model has places for ${this.longest} tokens.`);
    const logits = this.twin.logits(memory, ids, watch, { last });
    if (!state || !this.reads) watch.finish();
    return { logits, probabilities: softmaxOf(logits), inner: watch.inner,
      state: { memory, inner: watch.inner } };
  }

  /**
   * One token more; `state` grows.
   * @param {State} state
   * @param {number} id
   * @param {Watching=} watching
   * @returns {Result}
   */
  step(state, id, watching = {}) { return this.run([id], { ...watching, state }); }

  /** The same state, its text cut behind the first words; what was computed of them stays.
   *  @param {State} state @param {number} length */
  rewind(state, length) { this.twin.rewind(state.memory, length); }

  /** The same state, to go another way from here. @param {State} state @returns {State} */
  fork(state) { return copied(state); }

  /**
   * Tokens behind `ids`, one after another, as long as somebody asks.
   * @param {number[]} ids
   * @param {import("./sampling.js").Settings & Watching & {source?: number[], random?: () => number}}
   *   options
   */
  * continued(ids, { temperature = 0, topK, topP, random, source, ...watching } = {}) {
    let { probabilities: shares, logits, state, inner } = this.run(ids, { source, last: true, ...watching });
    while (true) {
      const id = choose(logits.data, { temperature, topK, topP, random });
      yield { id, word: this.vocabulary[id], probability: shares.data[id], state, inner };
      if (state.memory.length >= this.longest) return;
      ({ probabilities: shares, logits, state, inner } = this.step(state, id, watching));
    }
  }
}

/** @type {Map<string, Promise<TrainedModel>>} */
const bySite = new Map();
/** @type {WeakMap<object, Promise<TrainedModel>>} */
const byBytes = new WeakMap();

/**
 * The model of a widget, unpacked once for all widgets of a page that show it.
 * @param {{get: (name: string) => any}} widgetModel
 * @returns {Promise<TrainedModel>}
 */
export function loadModel(widgetModel) {
  const bytes = widgetModel.get("_weights");
  /** @type {[{has: Function, get: Function, set: Function, delete: Function}, any]} */
  const [kept, key] = bytes?.byteLength ? [byBytes, bytes.buffer ?? bytes]
    : [bySite, widgetModel.get("weights_file")];
  if (kept.has(key)) return kept.get(key);
  const model = weightsOf(widgetModel).then((found) => new TrainedModel(found));
  if (key) kept.set(key, model);
  model.catch(() => kept.delete(key)); // another try may fare better
  return model;
}
