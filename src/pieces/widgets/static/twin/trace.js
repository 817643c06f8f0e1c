/**
 * Watches a model at work, and meddles with it: inner values by the names that `pieces.trace` gives them.
 *
 * @typedef {import("./flat.js").Tensor} Tensor
 * @typedef {(name: string, key: string, value: Tensor) => void} Edit called for each inner value as soon as
 *   it is
 *   computed; what it changes in `value.data`, the rest of the model sees
 * @typedef {{layer: number|string, unit: number, value: number}} Clamp a hidden unit of a feed-forward
 *   network, and
 *   what it is held at, for every token
 * @typedef {Object} Watching
 * @property {string[]=} keep what to hand back: "weights" (of every head), "stream" (the residual stream),
 *   "hidden"
 *   (hidden units), "routing" (the experts chosen), or names as in `trace.record`, in which * is one part
 * @property {[number|string, number][]=} off heads that are switched off: [layer, head], both from 0; in an
 *   encoder-decoder the name of the attention stands in the layer's place, such as
 *   "decoder.blocks.0.cross_attention"
 * @property {Clamp[]=} clamp hidden units held at a value
 * @property {import("./switches.js").Pulled=} pulled parts that are out, as `switches.pulledOut` names them
 * @property {Edit=} edit any other intervention
 */

const WORDS = {
  weights: (name, key) => key === "weights" && /(^|\.)core$/.test(name),
  stream: (name, key) => key === "output" && /(^|\.)blocks\.\d+$|^embedding_norm$/.test(name),
  hidden: (name, key) => key === "output" && name.endsWith(".feed_forward.dropout"),
  routing: (name) => name.endsWith(".feed_forward.router"),
};

/** Whether a value of this name is wanted by a pattern. @param {string} pattern */
function chosenBy(pattern) {
  if (pattern in WORDS) return WORDS[pattern];
  const parts = pattern.split(".");
  return (name) => {
    const own = name.split(".");
    return own.length === parts.length && parts.every((part, i) => part === "*" || part === own[i]);
  };
}

/** @param {number|string} layer @param {string} kind */
const named = (layer, kind) => (typeof layer === "number" ? `stack.blocks.${layer}.${kind}` : layer);

/** @param {Watching} options */
export function watcher({ keep = [], off = [], clamp = [], pulled, edit } = {}) {
  const wanted = keep.map(chosenBy);
  const waiting = new Map();
  const expect = (name, what) => waiting.set(name, [...(waiting.get(name) ?? []), what]);
  for (const [layer, head] of off) expect(`${named(layer, "attention")}.core`, { head });
  for (const { layer, unit, value } of clamp) expect(`${named(layer, "feed_forward")}.dropout`,
    { unit, value });
  for (const { name, head } of pulled?.silent ?? []) expect(name, { head, whole: head === undefined });

  /**
   * Heads [H, T, K] set to 0, hidden units [T, F] to their value, what a whole sublayer writes to 0.
   * @param {string} name
   * @param {Tensor} value
   */
  function meddle(name, { data, shape }) {
    for (const { head, unit, value, whole } of waiting.get(name)) {
      if (whole) { data.fill(0); continue; }
      const [count, at] = head === undefined ? [shape[1], unit] : [shape[0], head];
      if (!(Number.isInteger(at) && at >= 0 && at < count)) throw new RangeError(
        `${name}: ${at} is none of its ${count}.`);
      if (head === undefined) for (let i = unit; i < data.length; i += count) data[i] = value;
      else data.fill(0, (head * data.length) / count, ((head + 1) * data.length) / count);
    }
  }
  const met = new Set();
  return {
    /** @type {Record<string, Record<string, Tensor>>} */
    inner: {},
    /** Whether the work of this module is passed over. @param {string} name */
    skips: (name) => pulled !== undefined && pulled.skips.has(name),
    /** An inner value has been computed. @param {string} name @param {string} key @param {Tensor} value */
    note(name, key, value) {
      if (key === "output" && waiting.has(name)) { meddle(name, value); met.add(name); }
      edit?.(name, key, value);
      if (!wanted.some((wants) => wants(name, key))) return;
      (this.inner[name] ??= {})[key] = { ...value, data: value.data.slice() };
    },
    /** Nothing that was to be changed may have been missed. */
    finish() {
      const missed = [...waiting.keys()].filter((name) => !met.has(name));
      if (missed.length) throw new RangeError(`${missed.join(", ")}: the model has no such part.`);
    },
  };
}
/** @typedef {ReturnType<typeof watcher>} Watcher */
