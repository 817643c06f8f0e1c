/** Words that are spelled almost alike: what is offered for one that is not known. */

/** In how many places two words differ (Levenshtein). @param {string} a @param {string} b */
export function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j] + 1, next[j - 1] + 1,
      row[j - 1] + Number(a[i - 1] !== b[j - 1]));
    row = next;
  }
  return row[b.length];
}

/** Words of the vocabulary that are spelled almost like this one, nearest first.
 *  @param {string} word @param {string[]} vocabulary */
export function near(word, vocabulary, most = 3) {
  const low = word.toLowerCase().slice(0, 40);
  return vocabulary.map((other) => ({ other, far: distance(low, other.toLowerCase()) }))
    .filter(({ other, far }) => far <= Math.max(1, Math.floor(low.length / 3)) && /\p{L}/u.test(other))
    .sort((a, b) => a.far - b.far).slice(0, most).map(({ other }) => other);
}
