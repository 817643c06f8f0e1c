/**
 * Typed text to the words of a model, and back.
 * @typedef {{text: string, id: number|null, from: number, to: number}} Token a word as it was typed, its
 *   number, or null for an unknown one, and where it stands in the text
 */

/**
 * One word of typed text: letters, digits and what stands within; any other sign, and each Chinese
 * character, alone.
 */
const LETTER = "(?!\\p{Script=Han})[\\p{L}\\p{N}_]";
const PIECES = new RegExp(`<\\w+>|(?:${LETTER})+(?:['’-](?:${LETTER})+)*|['’](?:${LETTER})+|\\S`, "gu");
const QUOTES = ["“", "”"];

/** @param {string[]} words in the order of their ids */
export function vocabularyOf(words) {
  const exact = new Map(words.map((word, id) => [word, id]));
  const spelled = new Map(words.map((word,
    id) => /** @type {[string, number]} */ ([word.toLowerCase(), id])).reverse());

  /**
   * The number of a word, in whatever case it was typed; null where there is none.
   * @param {string} word
   * @returns {number|null}
   */
  const idOf = (word) => {
    const straight = word.replaceAll("’", "'");
    return exact.get(word) ?? exact.get(straight) ?? spelled.get(straight.toLowerCase()) ?? null;
  };
  const known = (text) => idOf(text) !== null;

  /** A stretch without spaces, cut where its parts may be words: Tom's, → Tom 's , @param {string} stretch */
  const cut = (stretch) => (known(stretch) ? [stretch]
    : (stretch.match(PIECES) ?? []).flatMap((piece) => (known(piece) ? [piece] : piece.split(/(?=['’])/u))));

  return {
    idOf,
    /** An unknown word has the id null in `tokens`, stands once in `unknown`, and is left out of `ids`.
     *  @param {string} text @returns {{tokens: Token[], ids: number[], unknown: string[]}} */
    encode(text) {
      let quotes = 0;
      let to = 0;
      const turned = (word) => (word === '"' && !known(word) ? QUOTES[quotes++ % 2] : word);
      const tokens = text.split(/\s+/u).filter(Boolean).flatMap(cut).map((piece) => {
        const from = text.indexOf(piece, to);
        to = from + piece.length;
        const word = turned(piece);
        return { text: word, id: idOf(word), from, to };
      });
      const unknown = [...new Set(tokens.filter(({ id }) => id === null).map((token) => token.text))];
      return { tokens, ids: tokens.flatMap(({ id }) => (id === null ? [] : [id])), unknown };
    },
    /** @param {number[]} ids */
    decode: (ids) => ids.map((id) => words[id]).join(" "),
  };
}

/** Which words of a vocabulary can stand in a source: where some are in signs of their own, those alone.
 *  @param {string[]} vocabulary */
export function sources(vocabulary) {
  const foreign = (word) => /^[^\u0000-\u206f]/u.test(word); // beyond Latin letters and signs
  return vocabulary.map(vocabulary.some(foreign) ? foreign : (word) => !/^<.*>$/u.test(word));
}
