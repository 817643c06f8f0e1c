/** The twin of rotary positions: how fast each pair turns, how it is slowed, and the turn itself. */

/** θ_i = base^(−2i / dim), one for each pair. */
export const plainFrequencies = (dim, base) =>
  Array.from({ length: dim / 2 }, (_, i) => 1 / base ** ((2 * i) / dim));

/** Which pair, not rounded, turns so many times within maxSeqLen. */
const pairTurning = (turns, dim, base, maxSeqLen) =>
  (dim * Math.log(maxSeqLen / (turns * 2 * Math.PI))) / (2 * Math.log(base));

const held = (x, low, high) => Math.min(high, Math.max(low, x));

/** YaRN: fast pairs stay, slow ones are divided by the factor, those between are mixed. */
function yarn(plain, { dim, base, factor, maxSeqLen }) {
  const low = Math.max(Math.floor(pairTurning(32, dim, base, maxSeqLen)), 0);
  const high = Math.min(Math.ceil(pairTurning(1, dim, base, maxSeqLen)), dim - 1);
  const width = high - low || 0.001;
  return plain.map((theta, i) => {
    const ramp = held((i - low) / width, 0, 1);
    return theta * (1 - ramp) + (theta / factor) * ramp;
  });
}

/** LLaMA 3.1: mixed by how often a pair turns in the trained length, 1 to 4 times. */
const llama3 = (plain, { factor, maxSeqLen }) => plain.map((theta) => {
  const kept = held(((maxSeqLen * theta) / (2 * Math.PI) - 1) / 3, 0, 1);
  return kept * theta + ((1 - kept) * theta) / factor;
});

/** The larger base of a text of `length` words. */
function dynamic({ dim, base, factor, maxSeqLen, length }) {
  const needed = (factor * Math.max(length, maxSeqLen)) / maxSeqLen - (factor - 1);
  return plainFrequencies(dim, base * needed ** (dim / (dim - 2)));
}

/**
 * Angles a step of each pair, in radians, as a scaling leaves them.
 * @param {string} scaling @param {{dim: number, base: number, factor: number, maxSeqLen: number, length:
 *   number}} given
 */
export function frequencies(scaling, given) {
  const plain = plainFrequencies(given.dim, given.base);
  if (scaling === "linear") return plain.map((theta) => theta / given.factor);
  if (scaling === "dynamic") return dynamic(given);
  if (scaling === "yarn") return yarn(plain, given);
  return scaling === "llama3" ? llama3(plain, given) : plain;
}

/** What queries and keys are multiplied by: only YaRN's is not 1. */
export const attentionFactor = (scaling, factor) =>
  (scaling === "yarn" ? 0.1 * Math.log(Math.max(factor, 1)) + 1 : 1);

/** The partner of each coordinate. */
export const partners = {
  halves: (dim) => Array.from({ length: dim }, (_, c) => (c + dim / 2) % dim),
  interleaved: (dim) => Array.from({ length: dim }, (_, c) => c ^ 1),
};
/** The pair of each coordinate, as the tables of cosines and sines lay them out. */
export const pairs = {
  halves: (dim) => Array.from({ length: dim }, (_, c) => c % (dim / 2)),
  interleaved: (dim) => Array.from({ length: dim }, (_, c) => c >> 1),
};

/** Turn a vector to a position: x cos + partner(x) sin, with the sign of the pair's first or second.
 *  "mixed" is the bug: partners by halves, tables interleaved.
 *  @param {number[]} x @param {number} position @param {number[]} thetas @param {string} layout */
export function rotate(x, position, thetas, layout = "halves", factor = 1) {
  const dim = x.length;
  const partner = partners[layout === "interleaved" ? "interleaved" : "halves"](dim);
  const pair = pairs[layout === "halves" ? "halves" : "interleaved"](dim);
  return x.map((own, c) => {
    const angle = position * thetas[pair[c]];
    const sign = c < partner[c] ? -1 : 1;
    return factor * (own * Math.cos(angle) + sign * x[partner[c]] * Math.sin(angle));
  });
}

/** The score of a turned query and a turned key, divided by the head size: 1 for equal vectors of ones. */
export function score(q, k, [i, j], thetas, layout = "halves", factor = 1) {
  const [a, b] = [rotate(q, i, thetas, layout, factor), rotate(k, j, thetas, layout, factor)];
  return a.reduce((sum, x, c) => sum + x * b[c], 0) / q.length;
}
