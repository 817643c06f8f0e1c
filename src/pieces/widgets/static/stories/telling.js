/**
 * The twin of `pieces.tasks.stories_telling`: follow a text through the program that tells the stories, and
 * know before each word how probable every word is.
 * @typedef {Record<string, number>} Options phrases and their weights
 * @typedef {(options: Options) => string} Say
 */

/** Ends a program: the text says no more, or something that the program cannot say. */
const SILENCE = Symbol("silence");

/** @type {Map<string, string[]>} */
const known = new Map();

/** A phrase in words; the same phrases come again and again. @param {string} phrase */
function cut(phrase) {
  if (!known.has(phrase)) known.set(phrase, phrase.split(" "));
  return known.get(phrase);
}

/** How probable each word is at this depth of the phrases that are still possible.
 *  @param {[string[], number, string][]} possible @param {number} depth @returns {Map<string, number>} */
function shares(possible, depth) {
  const total = possible.reduce((sum, [, weight]) => sum + weight, 0);
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const [words, weight] of possible) {
    const word = words[depth];
    found.set(word, (found.get(word) ?? 0) + weight / total);
  }
  return found;
}

/**
 * What is expected before each word of a text and, last, behind it. It is shorter where the text leaves what
 * the program can say: the word at `length - 1` is then the first that is impossible.
 * @param {string[]} text @param {(say: Say) => void} program @returns {Map<string, number>[]}
 */
export function listen(text, program) {
  /** @type {Map<string, number>[]} */
  const expected = [];
  /** @param {Options} options */
  function say(options) {
    let possible = Object.entries(options).map(([phrase, weight]) =>
      /** @type {[string[], number, string]} */ ([cut(phrase), weight, phrase]));
    for (let depth = 0; ; ) {
      const place = expected.length;
      const next = shares(possible, depth);
      expected.push(next);
      if (place === text.length || !next.has(text[place])) throw SILENCE;
      possible = possible.filter(([words]) => words[depth] === text[place]);
      depth += 1;
      if (possible.length === 1 && possible[0][0].length === depth) return possible[0][2];
    }
  }
  try { program(say); } catch (end) { if (end !== SILENCE) throw end; }
  return expected;
}
