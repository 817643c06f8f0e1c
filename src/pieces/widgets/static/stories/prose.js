/** Words as they are printed: the twin of `Stories.join`, which says what stands between them. */

const CLOSE = new Set([",", ".", "!", "?", "”", "'s"]);
const ENDS = new Set([".", "!", "?", "“"]);
const SPEECH = new Set(["asked", "said"]); // after a closing quote, these go on with the sentence

/** What stands before a word that follows others, and how it is spelled there. @param {string[]} words
 *  @param {string} word */
export const behind = (words, word) => prose([...words, word]).at(-1);

/** For each word what stands before it ("", a blank or a new line), and how it is spelled there.
 *  @param {string[]} words @returns {{gap: string, shown: string}[]} */
export function prose(words) {
  let begins = true;
  let fresh = true; // a new line
  return words.map((word, n) => {
    const before = words[n - 1] ?? "";
    const gap = n && fresh ? "\n" : fresh || before === "“" || CLOSE.has(word) ? "" : " ";
    const goesOn = before === "”" && SPEECH.has(word);
    const shown = begins && !goesOn ? word[0].toUpperCase() + word.slice(1) : word;
    begins = ENDS.has(word) || (begins && word === "”");
    fresh = word === "." && words.slice(n - 2, n).join(" ").toLowerCase() === "the end";
    return { gap, shown };
  });
}
