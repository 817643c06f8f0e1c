/** The twin of `pieces.byte_pairs`, by its names. A byte is two hexadecimal digits, so pieces are texts. */

/** @typedef {{left: string, right: string, count: number}} Merge */

const SEAM = "\u0001"; // between the halves of a pair

/** The signs of a word, one for each code point. @param {string} word */
export const characters = (word) => Array.from(word);

/** The bytes of a word in UTF-8. @param {string} word */
export const utf8Bytes = (word) =>
  Array.from(new TextEncoder().encode(word), (byte) => byte.toString(16).padStart(2, "0"));

/** The words of a text, each with one space behind it. @param {string} text */
export const spacedWords = (text) =>
  text.split(/[ \t\r\n\u00a0\u3000]+/u).filter(Boolean).map((word) => `${word} `);

/** Symbols in their order: code points, or bytes. */
const inOrder = (a, b) => a.codePointAt(0) - b.codePointAt(0) || (a < b ? -1 : 1);

/** @param {{pieces: string[], n: number}[]} words */
function countPairs(words) {
  /** @type {Map<string, number>} */
  const pairs = new Map();
  for (const { pieces, n } of words) {
    for (let i = 1; i < pieces.length; i++) {
      const pair = pieces[i - 1] + SEAM + pieces[i];
      pairs.set(pair, (pairs.get(pair) ?? 0) + n);
    }
  }
  return pairs;
}

/** The word with these neighbours as one piece, from left to right.
 *  @param {string[]} word @param {string} left @param {string} right */
function mergePair(word, left, right) {
  const merged = [];
  for (let i = 0; i < word.length; i++) {
    if (word[i] === left && word[i + 1] === right) merged.push(left + word[++i]);
    else merged.push(word[i]);
  }
  return merged;
}

/**
 * At most `most` merges and what stands at each step: `steps[n].pairs` are the pairs after n merges, the most
 * frequent first, and of equals the one with the older pieces.
 * @param {string} text @param {number} most @param {(word: string) => string[]} symbols
 */
export function learnMerges(text, most, symbols, least = 2) {
  /** @type {Map<string, number>} */
  const counted = new Map();
  for (const word of spacedWords(text)) counted.set(word, (counted.get(word) ?? 0) + 1);
  let words = [...counted].map(([word, n]) => ({ pieces: symbols(word), n }));
  const alphabet = [...new Set(words.flatMap(({ pieces }) => pieces))].sort(inOrder);
  const age = new Map(alphabet.map((symbol, n) => [symbol, n]));
  /** @type {Merge[]} */
  const merges = [];
  const steps = [];
  while (true) {
    const pairs = [...countPairs(words)].map(([pair, count]) => {
      const [left, right] = pair.split(SEAM);
      return { left, right, count };
    }).sort((a, b) => b.count - a.count || age.get(a.left) - age.get(b.left)
      || age.get(a.right) - age.get(b.right));
    steps.push({ pairs, length: words.reduce((all, { pieces, n }) => all + n * pieces.length, 0),
      vocabulary: age.size });
    const [best] = pairs;
    if (merges.length >= most || !best || best.count < least) break;
    merges.push(best);
    const { left, right } = best;
    if (!age.has(left + right)) age.set(left + right, age.size);
    words = words.map(({ pieces, n }) => ({ pieces: mergePair(pieces, left, right), n }));
  }
  return { alphabet, merges, steps, kinds: counted.size };
}

/** The pieces of each word: of the merges that fit, the one learned first is done first.
 *  @param {string} text @param {Merge[]} merges @param {(word: string) => string[]} symbols */
export function cutIntoPieces(text, merges, symbols) {
  /** @type {Map<string, number>} */
  const rank = new Map();
  merges.forEach(({ left, right }, n) => {
    if (!rank.has(left + SEAM + right)) rank.set(left + SEAM + right, n);
  });
  const cut = (word) => {
    let pieces = symbols(word);
    while (true) {
      let best = Infinity;
      for (let i = 1; i < pieces.length; i++) {
        best = Math.min(best, rank.get(pieces[i - 1] + SEAM + pieces[i]) ?? Infinity);
      }
      if (best === Infinity) return pieces;
      pieces = mergePair(pieces, merges[best].left, merges[best].right);
    }
  };
  const known = new Map();
  return spacedWords(text).map((word) => {
    if (!known.has(word)) known.set(word, cut(word));
    return known.get(word);
  });
}
