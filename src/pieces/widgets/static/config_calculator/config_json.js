/** The sizes in a `config.json` as checkpoints have it, or a sentence about what cannot be read. */
import { listed } from "../kit/kit.js";

const READ = { vocab_size: "vocab_size", d_model: "hidden_size", n_layers: "num_hidden_layers",
  n_heads: "num_attention_heads", n_kv_heads: "num_key_value_heads", head_dim: "head_dim",
  d_ff: "intermediate_size", max_seq_len: "max_position_embeddings" };
/** What `transformers` takes where the file says nothing; a file without a kind is read as a LLaMA's. */
const SILENT = {
  llama: {}, mistral: { num_key_value_heads: 8, sliding_window: 4096 }, qwen2: { num_key_value_heads: 32 },
  gemma: { num_key_value_heads: 16, head_dim: 256, tie_word_embeddings: true },
};
const KINDS = Object.keys(SILENT);

const SAY = {
  unfinished: "This is not JSON yet. Paste the whole file, from { to }.",
  other: "This is JSON, but not a config. Paste the whole file, from { to }.",
  kind: (name) => `This is ${name}, which has parts that are not counted here: `
    + `${listed(KINDS)} can be read.`,
  missing: (names) => `${names.join(" and ")} ${names.length > 1 ? "are" : "is"} missing.`,
  number: (name, value, low, high) => `${name} is ${JSON.stringify(value).slice(0, 24)}; here it can be `
    + `a whole number from ${low.toLocaleString("en")} to ${high.toLocaleString("en")}.`,
  word: (name, value) => `${name} is ${JSON.stringify(value).slice(0, 24)}, where true or false belongs.`,
  odd: (size) => `Heads of ${size} number${size === 1 ? "" : "s"} cannot be turned in pairs: `
    + "their size must be even.",
  split: (width, heads) => `${heads} heads cannot share ${width} numbers evenly, and head_dim is missing.`,
  shared: (heads, keys) => `${heads} head${heads === 1 ? "" : "s"} cannot share ${keys} key-value heads `
    + "evenly.",
  windows: "Only some of its layers have a window, which cannot be counted here.",
};

class Unreadable extends Error {}
const no = (sentence) => { throw new Unreadable(sentence); };

function parsed(text) {
  let given;
  try {
    given = JSON.parse(text);
  } catch { return no(SAY.unfinished); }
  return given && typeof given === "object" && !Array.isArray(given) ? given : no(SAY.other);
}

/** @param {Record<string, any>} given @param {(trait: string) => {low: number, high: number}} limits */
function sizes(given, limits) {
  const kind = given.model_type ?? "llama";
  if (!KINDS.includes(kind)) no(SAY.kind(String(kind).slice(0, 24)));
  const all = { ...SILENT[kind], ...given };
  const flag = (name, silent = false) => {
    const value = all[name] ?? silent;
    return typeof value === "boolean" ? value : no(SAY.word(name, value));
  };
  const number = (trait, name, value = all[name]) => {
    const { low, high } = limits(trait);
    const good = Number.isInteger(value) && value >= low && value <= high;
    return good ? value : no(SAY.number(name, value, low, high));
  };
  const optional = ["num_key_value_heads", "head_dim"];
  const missing = Object.values(READ).filter((name) => !optional.includes(name) && all[name] == null);
  if (missing.length) no(SAY.missing(missing));
  const [width, heads] = [number("d_model", "hidden_size"), number("n_heads", "num_attention_heads")];
  all.num_key_value_heads ??= heads;
  if (all.head_dim == null && width % heads) no(SAY.split(width, heads));
  all.head_dim ??= width / heads;
  if (all.head_dim % 2) no(SAY.odd(all.head_dim));
  const found = Object.fromEntries(Object.entries(READ).map(([trait, name]) => [trait, number(trait, name)]));
  if (heads % found.n_kv_heads) no(SAY.shared(heads, found.n_kv_heads));
  return { ...found, ...windowed(kind, all, flag, number), ...biased(kind, flag),
    tied: flag("tie_word_embeddings"), ff_bias: kind === "llama" && flag("mlp_bias") };
}

/** LLaMA and Gemma have no window, and a Qwen2 one only where it is said to use it, in its last layers. */
function windowed(kind, all, flag, number) {
  const used = kind === "mistral" || (kind === "qwen2" ? flag("use_sliding_window") : !all.model_type);
  const window = used ? all.sliding_window ?? 0 : 0;
  if (kind === "qwen2" && window) { // the layers from this one on have it
    const first = number("window", "max_window_layers", all.max_window_layers ?? 28);
    if (first >= all.num_hidden_layers) return { window: 0 };
    if (first > 0) no(SAY.windows);
  }
  return { window: number("window", "sliding_window", window) };
}

/** A Qwen2 has biases on queries, keys and values; a Mistral has none; the others say so themselves. */
function biased(kind, flag) {
  if (kind === "qwen2") return { bias: true, out_bias: false };
  const bias = kind !== "mistral" && flag("attention_bias");
  return { bias, out_bias: bias };
}

/** @param {string} text @param {(trait: string) => {low: number, high: number}} limits
 *  @returns {{sizes: Record<string, number|boolean>|null, sentence: string}} */
export function readConfig(text, limits) {
  try {
    return { sizes: sizes(parsed(text), limits), sentence: "" };
  } catch (error) {
    if (error instanceof Unreadable) return { sizes: null, sentence: error.message };
    throw error;
  }
}
