/** Pairs of words as keys and values, and two memories of them: a cache, and one square. */
import { gaussian, inner, norm, softmax } from "../twin/twin.js";

const SHARP = 8; // what attention multiplies a cosine by

/** @typedef {{name: string, thing: string, key: number[], value: number[]}} Pair */

/** A word's number: the same letters give the same directions everywhere (FNV-1a). @param {string} word */
function seedOf(word) {
  let hash = 0x811c9dc5;
  for (const letter of word) hash = Math.imul(hash ^ letter.codePointAt(0), 0x01000193) >>> 0;
  return hash;
}

/** A direction for a word in a role. @param {string} word @param {number} size */
function direction(word, size) {
  const draws = gaussian(seedOf(word), size);
  const length = norm(draws);
  return draws.map((x) => x / length);
}

/**
 * The pairs of a text, those that are whole: a name that comes again is another pair.
 * @param {string} text @param {number} size @param {number} most
 * @returns {{pairs: Pair[], loose: string[], over: number}}
 */
export function pairsOf(text, size, most) {
  const parts = text.split(/[,;\n]+/u).map((part) => part.trim().split(/\s+/u)).filter(([word]) => word);
  const whole = parts.filter(({ length }) => length === 2);
  return {
    pairs: whole.slice(0, most).map(([name, thing]) => ({ name, thing,
      key: direction(`key ${name}`, size), value: direction(`value ${thing}`, size) })),
    loose: parts.filter(({ length }) => length !== 2).map((part) => part.join(" ")),
    over: Math.max(0, whole.length - most),
  };
}

/** What a key reads from a square: kᵀ S. @param {number[]} key @param {number[][]} square */
const readFrom = (key, square) =>
  square[0].map((_, j) => key.reduce((all, k, i) => all + k * square[i][j], 0));

/**
 * The square after each number of pairs, from none to all.
 * @param {Pair[]} pairs @param {number} size
 */
export function squares(pairs, size) {
  const all = [Array.from({ length: size }, () => Array(size).fill(0))];
  for (const { key, value } of pairs) {
    all.push(all.at(-1).map((row, i) => row.map((x, j) => x + key[i] * value[j])));
  }
  return all;
}

/** How much each cached pair weighs for a key. @param {number[]} key @param {Pair[]} pairs */
export const weightsOf = (key, pairs) => softmax(pairs.map((pair) => SHARP * inner(key, pair.key)));

/** The average of the values by these weights. @param {number[]} weights @param {Pair[]} pairs */
const mixOf = (weights, pairs) =>
  pairs[0].value.map((_, j) => weights.reduce((all, w, n) => all + w * pairs[n].value[j], 0));

/** How well an answer matches each word that was read. @param {number[]} answer @param {Pair[]} pairs */
const matches = (answer, pairs) => pairs.map(({ value }) => inner(answer, value));

/** The place of the largest. @param {number[]} list */
const best = (list) => list.reduce((top, x, n) => (x > list[top] ? n : top), 0);

/**
 * What both memories say of one name among the pairs read. A name said twice has the last word.
 * @param {number} at @param {Pair[]} pairs @param {number[][]} square
 */
export function ask(at, pairs, square) {
  const { key, name } = pairs[at];
  const weights = weightsOf(key, pairs);
  const [cache, state] = [matches(mixOf(weights, pairs), pairs), matches(readFrom(key, square), pairs)];
  const said = [cache, state].map((scores) => pairs[best(scores)].thing);
  const truth = pairs.findLast((pair) => pair.name === name).thing;
  return { weights, scores: [cache, state], said, truth, right: said.map((word) => word === truth) };
}

/** How many of the pairs read each memory still knows. @param {Pair[]} pairs @param {number[][]} square */
export function known(pairs, square) {
  const told = pairs.map((_, at) => ask(at, pairs, square).right);
  return [0, 1].map((which) => told.filter((right) => right[which]).length);
}
