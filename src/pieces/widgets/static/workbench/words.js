/** All words that the workbench shows. */
import { format } from "../kit/kit.js";
import { giga, short, whole } from "../kit/parts.js";

const nats = (x) => x.toFixed(2);
const several = (n, one, many = `${one}s`) => `${whole(n)} ${n === 1 ? one : many}`;
const seeds = (above) => `${nats(Math.min(...above))} to ${nats(Math.max(...above))}`;

export const WORDS = {
  title: "The workbench", preset: "begin with", own: "parts of your own",
  presets: { baseline: "the trained baseline", gpt2: "GPT-2, its parts and sizes",
    "llama-7b": "LLaMA 7B, its parts and sizes", "mistral-7b-v0.1": "Mistral 7B, its parts and sizes",
    "mixtral-8x7b": "Mixtral 8x7B, its parts and sizes" },
  exactly: (label) => `${label}, exactly`,
  kinds: { score: "score", mask: "mask", position: "positions", norm: "norm", place: "norm’s place",
    activation: "activation" },
  options: {
    score: { scaled: "scaled dot", dot: "dot", bilinear: "bilinear", additive: "additive" },
    mask: { causal: "causal", window: "causal, a window", prefix: "prefix, then causal", full: "full" },
    position: { none: "none", sinusoidal: "sinusoids, added", learned: "learned, added", rope: "RoPE",
      alibi: "ALiBi", t5: "T5’s bias" },
    norm: { rms: "RMSNorm", layer: "LayerNorm", none: "none" },
    place: { pre: "Pre, before", post: "Post, after", sandwich: "Sandwich", deep: "DeepNorm" },
    activation: { relu: "ReLU", gelu: "GELU", swish: "Swish", reglu: "ReGLU, gated", glu: "GLU, gated",
      swiglu: "SwiGLU, gated", geglu: "GeGLU, gated", bilinear: "bilinear, gated" },
  },
  sizes: { n_layers: "layers L", d_model: "width D", n_heads: "heads H", n_kv_heads: "key-value heads G",
    head_dim: "head size K", d_ff: "feed-forward F", n_experts: "experts E", n_chosen: "chosen k",
    vocab_size: "vocabulary V", length: "text T", window: "window", prefix_len: "prefix" },
  switches: { bias: "biases", tied: "head tied to the embedding" },
  marks: {
    n_kv_heads: (wish, is) => `${several(is.n_heads, "head")} cannot share ${wish.n_kv_heads} evenly, so `
      + `${is.n_kv_heads} ${is.n_kv_heads === 1 ? "is" : "are"} built. Choose a divisor of ${is.n_heads}.`,
    head_dim: (wish, is) => `RoPE turns numbers in pairs, so heads of ${is.head_dim} are built. Choose an `
      + "even size, or other positions.",
    n_chosen: (wish, is) => `There ${is.n_experts === 1 ? "is one expert" : `are ${is.n_experts} experts`}, `
      + "so "
      + `${is.n_chosen} ${is.n_chosen === 1 ? "is" : "are"} visited. Add experts.`,
    prefix_len: (_, is) => `The text ends first: the prefix is ${whole(is.prefix_len)}. Lengthen the text.`,
    place: () => "There is no norm to place. Choose one, and it returns here.",
    d_ff: (wish, width) => `Gated: three matrices of width ${whole(width)} in place of two.`,
  },
  drawing: "The block, drawn", draw: {
    attention: "attention", head: "head", tied: "tied head", router: "router", embedding: "embedding",
    score: { scaled: "q · k / √K", dot: "q · k", bilinear: "k · W q", additive: "v · tanh(W k + U q)" },
    inside: { rope: "q and k turned by RoPE", alibi: "scores − m |i − j|", t5: "scores + T5’s bias" },
    position: { sinusoidal: "sinusoids", learned: "learned positions" },
    norm: { rms: "RMSNorm", layer: "LayerNorm" },
    activation: { relu: "ReLU", gelu: "GELU", swish: "Swish", reglu: "ReGLU", glu: "GLU", swiglu: "SwiGLU",
      geglu: "GeGLU", bilinear: "bilinear" },
  },
  parts: { embedding: "embedding", positions: "positions", attention: "attention",
    "feed-forward": "feed-forward", router: "router", norms: "norms", head: "head", layers: "layers",
    mask: "mask", score: "score" },
  hint: "Point at a part, or press it to hold it: its numbers and its code light up.",
  lit: (name, count, share, ops) => `${name}: ${several(count, "parameter")}, ${share} % of all`
    + `${ops ? `; ${giga(ops)} operations a token` : ""}.`,
  bare: { mask: "The mask has no parameters: it says who may look at whom.",
    score: (n) => (n ? `The score is learned: ${several(n, "parameter")}.` : "The score has no parameters."),
    layers: (n) => `${several(n, "block")} of the same design, each with its own weights.` },
  code: "The code that builds it", imports: "imports", copy: "Copy it all", copied: "Copied.",
  uncopied: "Selected: copy it with your keyboard.",
  counted: "Parameters by part", unit: "parameters", now: "these parts", before: "before",
  facts: { total: "parameters", operations: "operations a token", cache: "cache a token",
    text: "cache of the text" },
  how: { total: "all of them", operations: "of the last token, all products",
    cache: "numbers: 2 L G K", text: (n) => `numbers of ${several(n, "token")}` },
  was: (text) => `before: ${text}`, no: "none",
  steps: "Step by step: shapes, parameters, operations", heads: ["step", "shape", "parameters", "operations"],
  step: { embedding: "words embedded", positions: "positions", norms: "all norms", queries: "queries",
    keys: "keys and values", scores: "scores", averages: "averages of values", mixed: "heads mixed",
    router: "router", hidden: "hidden units", narrowed: "narrowed again", logits: "logits" },
  all: "all", layers: (n) => `Parameters are those of all ${several(n, "layer")}; operations, of one token.`,
  signals: "Before training: the signal up, the gradient down", at: "layer", size: "size, rms",
  forward: "stream", backward: "gradient",
  small: (own, s) => (own ? `One draw of this model’s first weights, ${several(s.length, "word")}. `
    : `One draw of first weights for the same parts, shrunk: ${several(s.n_layers, "layer")} of `
      + `${s.d_model}, ${several(s.length, "word")}. `)
    + "At the top, a gradient of size 1 is handed in.",
  ends: (forward, backward) => ` The stream goes from ${format(forward[0])} at the foot to `
    + `${format(forward.at(-1))} at the top; ${format(backward[0])} of the gradient arrives at the foot.`,
  trained: "Trained variants: nats above the floor",
  trainedHead: ["variant", "nats above", "seeds"],
  variant: (name) => name[0].toUpperCase() + name.slice(1),
  row: (name, mean, above) => `${name}: ${nats(mean)} nats above the floor, seeds ${seeds(above)}`,
  mean: nats,
  is: (mean, above, rate) => `Trained on the stories, these parts end ${nats(mean)} nats above the floor `
    + `(${seeds(above)}, three seeds, learning rate ${rate}). `,
  beside: { same: "This is the baseline.",
    none: (n) => "That differs from the baseline by less than the seeds’ spread, "
      + `${nats(n)}: three seeds cannot tell the two apart.`,
    near: (n) => `That is ${nats(n)} nearer than the baseline, beyond the spread of the seeds.`,
    far: (n) => `That is ${nats(n)} farther than the baseline, beyond the spread of the seeds.` },
  unmeasured: "These parts have not been trained here: how well they learn is not known. ",
  cheats: "With this mask a word sees words that it should guess, so its loss would say nothing. ",
  bound: (steps) => `All variants: ${steps} steps, each at the learning rate best for two other seeds. `
    + "The floor is the loss of a guesser who knows the true chance of every word. "
    + "Longer runs may rank them otherwise.",
  say: (s, counts, ops, cache) => `${several(s.n_layers, "layer")} of ${whole(s.d_model)}: `
    + `${short(counts.total)} parameters, ${Math.round((100 * counts["feed-forward"]) / counts.total)} % `
    + "of them in the feed-forward networks. "
    + `A token takes ${giga(ops)} operations`
    + (cache === null ? ". With a full mask earlier words look at the new one as well, and all of them are "
        + "computed again: there is nothing to keep in a cache."
      : ` and leaves ${several(cache, "number")} in the cache.`),
};
