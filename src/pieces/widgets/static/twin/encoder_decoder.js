/** The twin of `pieces.models.encoder_decoder`: an encoder reads the source, a decoder writes the target. */
import { addSinusoids, tensor } from "./flat.js";
import { attention, emptyCache, feedForward, need, norm, reader, residual } from "./layers.js";
import { lookUp } from "./decoder.js";

/** @typedef {import("./trace.js").Watcher} Watcher */
/** @typedef {import("./layers.js").Cache} Cache */
/** @typedef {{context: Float32Array, own: Cache[], source: Cache[], length: number}} Remembered */

/** @param {import("./safetensors.js").Packed} packed */
export function encoderDecoder({ config, tensors: weights }) {
  const { n_layers: layers, n_heads: heads, norm_eps: eps } = config;
  const table = need(weights, "embedding.weight");
  const targets = weights.get("target_embedding.weight") ?? table;
  const D = targets.shape[1];
  const read = reader(weights, targets);
  const [encoder, decoder] = ["encoder", "decoder"].map((name) => stack(name));

  /**
   * The blocks of one side; where nothing closes the stack, the norms stand behind the sums.
   * @param {string} name
   */
  function stack(name) {
    const style = /** @type {const} */ ({ pre: weights.has(`${name}.final_norm.weight`), kind: "layer",
      eps });
    const close = norm(weights, `${name}.final_norm`, "layer", eps);
    const blocks = Array.from({ length: layers },
      (_, l) => block(`${name}.blocks.${l}`, style, name === "decoder"));
    /**
     * @param {Float32Array} x
     * @param {number} T
     * @param {Watcher} watch
     * @param {{own: Cache[], source?: Cache[], context?: Float32Array}} memory
     */
    return (x, T, watch, memory) => {
      const y = blocks.reduce((z, each, l) => each(z, T, watch, memory, l), x);
      const closed = close(y, T, watch);
      watch.note(name, "output", tensor(closed, [T, D]));
      return closed;
    };
  }

  /**
   * @param {string} name
   * @param {{pre: boolean, kind: "layer", eps: number}} style
   * @param {boolean} writes
   */
  function block(name, style, writes) {
    const attend = attention(weights, `${name}.attention`, { heads, kvHeads: heads, causal: writes });
    const look = writes ? attention(weights, `${name}.cross_attention`,
      { heads, kvHeads: heads, causal: false }) : null;
    const feed = feedForward(weights, `${name}.feed_forward`, "relu");
    const [first, second, third] = ["attention", "cross",
      "feed_forward"].map((part) => residual(weights, `${name}.${part}_residual`, style));
    /**
     * @param {Float32Array} x
     * @param {number} T
     * @param {Watcher} watch
     * @param {{own: Cache[], source?: Cache[], context?: Float32Array}} memory
     * @param {number} l
     */
    return (x, T, watch, { own, source, context }, l) => {
      let y = first(x, T, watch, (z) => attend(z, T, watch, { cache: own[l] }));
      if (look) y = second(y, T, watch, (z) => look(z, T, watch, { cache: source[l], context }));
      y = third(y, T, watch, (z) => feed(z, T, watch));
      watch.note(name, "output", tensor(y, [T, D]));
      return y;
    };
  }

  /**
   * @param {import("./flat.js").Tensor} from
   * @param {number[]} ids
   * @param {number} start
   * @param {string} name
   * @param {Watcher} watch
   */
  function embedded(from, ids, start, name, watch) {
    const x = lookUp(from, ids, Math.sqrt(D));
    watch.note(name, "output", tensor(x, [ids.length, D]));
    addSinusoids(x, D, start, 10000);
    watch.note("dropout", "output", tensor(x, [ids.length, D]));
    return x;
  }

  const caches = () => Array.from({ length: layers }, emptyCache);
  return {
    longest: Infinity,
    /** Read the source. @param {number[]} source @param {Watcher} watch @returns {Remembered} */
    start(source, watch) {
      const x = embedded(table, source, 0, "embedding", watch);
      return { context: encoder(x, source.length, watch, { own: caches() }), own: caches(), source: caches(),
        length: 0 };
    },
    /** The logits of these target tokens, which follow on those remembered. @param {Remembered} memory
     * @param {number[]} ids
     *  @param {Watcher} watch @param {{last?: boolean}=} options */
    logits(memory, ids, watch, { last = false } = {}) {
      const T = ids.length;
      const x = embedded(targets, ids, memory.length, targets === table ? "embedding" : "target_embedding",
        watch);
      const y = decoder(x, T, watch, memory);
      memory.length += T;
      return read(last ? y.slice((T - 1) * D) : y, last ? 1 : T, watch);
    },
  };
}
