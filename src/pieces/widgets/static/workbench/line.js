/** The code of `pieces` that builds these parts, as runs of text, each of which belongs to a part. */
import { BENDS, gated, open } from "./bench.js";

/** @typedef {{text: string, part?: string}} Run */

const NORMS = { rms: "RMSNorm", layer: "LayerNorm" };
const HOME = {
  "pieces.attention": ["AttentionCore", "CachedAttention", "CausalCore"],
  "pieces.blocks": ["Block", "Stack"],
  "pieces.embeddings": ["TokenEmbedding"],
  "pieces.feedforward": ["FeedForward", "GatedFeedForward", "gelu", "identity", "relu", "sigmoid", "swish",
    "two_thirds"],
  "pieces.models.decoder_only": ["DecoderOnly"],
  "pieces.moe": ["ExpertList", "GatedExperts", "MixtureOfExperts", "Router"],
  "pieces.norms": ["LayerNorm", "RMSNorm"],
  "pieces.positions": ["ALiBi", "Learned", "Rotary", "Sinusoidal", "T5Buckets"],
  "pieces.residual": ["DeepNorm", "PostNorm", "PreNorm", "Residual", "SandwichNorm", "deepnorm_alpha_beta",
    "deepnorm_init_"],
  "pieces.scores": ["AdditiveScore", "BilinearScore", "dot"],
};

const past = (s) => s.mask === "causal" || s.mask === "window";
const POSITIONS = {
  sinusoidal: (s) => `Sinusoidal(${s.d_model})`,
  learned: (s) => `Learned(${s.length}, ${s.d_model})`,
  rope: (s) => `Rotary(${s.head_dim})`,
  alibi: (s) => `ALiBi(${s.n_heads})`,
  t5: (s) => `T5Buckets(${s.n_heads}${past(s) ? ", bidirectional=False" : ""})`,
};
const SCORES = {
  dot: () => "score=dot",
  bilinear: (s) => `score=BilinearScore(${s.head_dim}, ${s.head_dim})`,
  additive: (s) => `score=AdditiveScore(${s.head_dim}, ${s.head_dim}, ${s.head_dim})`,
};

/** @returns {Run[]} */
function core(s) {
  const score = SCORES[s.score]?.(s) ?? "";
  const window = s.mask === "window" ? String(s.window) : "";
  return [{ text: `core=${past(s) ? "CausalCore" : "AttentionCore"}(`, part: "mask" },
    { text: window, part: "mask" }, { text: window && score ? ", " : "", part: "mask" },
    { text: score, part: "score" }, { text: ")", part: "mask" }];
}

/** @returns {Run[]} */
function attention(s) {
  const whole = s.n_heads * s.head_dim === s.d_model;
  const sizes = [s.d_model, s.n_heads, ...(s.n_kv_heads < s.n_heads ? [`n_kv_heads=${s.n_kv_heads}`] : []),
    ...(whole ? [] : [`head_dim=${s.head_dim}`]), ...(s.bias ? ["bias=True"] : [])].join(", ");
  return [{ text: `        CachedAttention(${sizes}, `, part: "attention" },
    ...(s.position === "rope" ? [{ text: "position=position, ", part: "positions" }] : []),
    ...core(s), { text: "),\n", part: "attention" }];
}

function network(s) {
  const [name, width, usual] = gated(s) ? ["GatedFeedForward", `two_thirds(${s.d_ff})`, false]
    : ["FeedForward", s.d_ff, true];
  const bias = s.bias === usual ? "" : `, bias=${usual ? "False" : "True"}`;
  return `${name}(${s.d_model}, ${width}, ${BENDS[s.activation]}${bias})`;
}

/** Gated experts without biases are stacked, the fast kind; DeepNorm starts what it finds by name. */
const stacked = (s) => gated(s) && !s.bias && s.place !== "deep";

/** @returns {Run[]} */
function feedForward(s) {
  if (s.n_experts === 1) return [{ text: `        ${network(s)},\n`, part: "feed-forward" }];
  const experts = stacked(s)
    ? `GatedExperts(${s.n_experts}, ${s.d_model}, two_thirds(${s.d_ff}), ${BENDS[s.activation]})`
    : `ExpertList([${network(s)} for _ in range(${s.n_experts})])`;
  return [{ text: "        MixtureOfExperts(\n", part: "router" },
    { text: `            Router(${s.d_model}, ${s.n_experts}, ${s.n_chosen}),\n`, part: "router" },
    { text: `            ${experts},\n`, part: "feed-forward" }, { text: "        ),\n", part: "router" }];
}

function residual(s) {
  const norm = `${NORMS[s.norm]}(${s.d_model})`;
  return { bare: "Residual()", pre: `PreNorm(${norm})`, post: `PostNorm(${norm})`,
    sandwich: `SandwichNorm(${norm}, ${norm})`, deep: `DeepNorm(${norm}, alpha)` }[s.place];
}

/** @returns {Run[]} */
function built(s) {
  const position = POSITIONS[s.position]?.(s);
  const top = open(s) ? `, ${NORMS[s.norm]}(${s.d_model})` : "";
  const head = `, head=nn.Linear(${s.d_model}, ${s.vocab_size}, bias=False)`;
  return [
    ...(position ? [{ text: `position = ${position}\n`, part: "positions" }] : []),
    ...(s.place === "deep"
      ? [{ text: `alpha, beta = deepnorm_alpha_beta(0, ${s.n_layers})[1]\n`, part: "norms" }] : []),
    ...(position || s.place === "deep" ? [{ text: "\n" }] : []),
    { text: "def block():\n    return Block(\n" },
    ...attention(s), ...feedForward(s),
    { text: `        attention_residual=${residual(s)},\n`, part: "norms" },
    { text: `        feed_forward_residual=${residual(s)},\n`, part: "norms" },
    { text: "    )\n\n" },
    { text: "stack = Stack([block() for _ in " }, { text: `range(${s.n_layers})`, part: "layers" },
    { text: "]" }, { text: top, part: "norms" }, { text: ")\n" },
    ...(s.place === "deep" ? [{ text: "deepnorm_init_(stack, beta)\n", part: "norms" }] : []),
    { text: `embedding = TokenEmbedding(${s.vocab_size}, ${s.d_model}, scale=${s.d_model}**0.5)\n`,
      part: "embedding" },
    { text: "model = DecoderOnly(embedding, stack" },
    ...(position ? [{ text: ", position=position", part: "positions" }] : []),
    { text: s.tied ? "" : head, part: "head" }, { text: ")" },
    ...(s.mask === "prefix"
      ? [{ text: `\nmask = masks.prefix(${s.length}, ${s.prefix_len})[None, None]`
        + "  # model(input_ids, mask=mask)", part: "mask" }] : []),
  ].filter(({ text }) => text);
}

/** The lines that bring in what the code uses, in the order of an import sorter. */
function imports(s, code) {
  const used = (name) => new RegExp(`\\b${name}\\b`).test(code);
  const brought = Object.entries(HOME).map(([home, names]) => ({ home, names: names.filter(used) }));
  const lines = brought.filter(({ names }) => names.length)
    .map(({ home, names }) => `from ${home} import ${names.join(", ")}\n`);
  return [s.tied ? "" : "from torch import nn\n\n",
    s.mask === "prefix" ? "from pieces import masks\n" : "", ...lines, "\n"].join("");
}

/** @param {import("./bench.js").Wish} s @returns {{imports: string, runs: Run[]}} */
export function lines(s) {
  const runs = built(s);
  return { imports: imports(s, runs.map(({ text }) => text).join("")), runs };
}

/** The whole of it, as it is copied and run. @param {import("./bench.js").Wish} s */
export const line = (s) => {
  const { imports: head, runs } = lines(s);
  return `${head}${runs.map(({ text }) => text).join("")}\n`;
};
