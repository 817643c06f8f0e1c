/**
 * Typed text as words of a vocabulary. Nothing typed is lost, and a word that is not known is named
 * politely.
 */
import { chips } from "./chips.js";
import { h } from "./dom.js";
import { words } from "./words.js";

/**
 * @typedef {{text: string, id: number, from: number, to: number}} Token `id` is −1 for a word that
 * is not known
 */

const PIECE = /<\w+>|[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*|[^\s\p{L}\p{N}]/gu;

/** The words and signs of a text, and where they stand in it.
 *  @param {string} text @param {Map<string, number>} ids @returns {Token[]} */
export function tokenize(text, ids) {
  return [...text.matchAll(PIECE)].map((match) => {
    const word = match[0];
    const spelled = [word, word.toLowerCase(),
      word[0].toUpperCase() + word.slice(1).toLowerCase()].find((one) => ids.has(one));
    return { text: spelled ?? word, id: spelled === undefined ? -1 : ids.get(spelled), from: match.index,
      to: match.index + word.length };
  });
}

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

let serial = 0;

/**
 * A field for text, its words below it, and a sentence about those that are not known.
 * @param {Object} frame
 * @param {{label: string, vocabulary: string[], text: string, change: (tokens: Token[], text: string) =>
 *   void, most?: number,
 *   kept?: {read(): string|null, write(text: string): void}, selection?: ReturnType<typeof
 * import("./selection.js").createSelection>}} options `most` words
 *   are read; `kept` is where the text is kept on this machine (`remembered` of the kit)
 */
export function tokenField(frame, { label, vocabulary, text, change, most = 64, kept, selection }) {
  const say = words.tokens;
  const ids = new Map(vocabulary.map((word, id) => [word, id]));
  const id = `p-typed-${++serial}`;
  const field = h("textarea", { id, class: "p-typed", rows: 2, spellcheck: "false", autocapitalize: "off",
    autocomplete: "off",
    "data-lm-suppress-shortcuts": "true", oninput: () => take(field.value) });
  const row = chips({ label: say.chips, selection });
  const note = h("p", { class: "p-typed-note", role: "status" });
  const reset = h("button", { type: "button", class: "p-button p-typed-reset", onclick: () => write(text) },
    say.reset);
  const box = h("div", { class: "p-typing" },
    h("div", { class: "p-typing-head" }, h("label", { for: id }, label), reset), field, row.box, note);
  let tokens = [];
  let pending = 0;

  function explain() {
    const strange = tokens.filter((token) => token.id < 0);
    const [first] = strange;
    const more = tokens.length > most ? say.long(most) : "";
    if (!first) { note.replaceChildren(more); return; }
    const offers = near(first.text, vocabulary);
    note.replaceChildren(say.unknown(first.text, strange.length - 1, vocabulary.length),
      ...offers.map((offer) => h("button", {
        type: "button", class: "p-button p-offer", "aria-label": say.replace(first.text, offer),
        onclick: () => write(field.value.slice(0, first.from) + offer + field.value.slice(first.to)) },
          offer)), more);
  }
  function take(typed, late = 500) {
    tokens = tokenize(typed, ids);
    kept?.write(typed);
    reset.hidden = typed === text;
    row.draw(tokens.slice(0, most).map(({ text: word, id: known }) =>
      ({ text: word, known: known >= 0, label: known < 0 ? say.strange(word) : undefined })));
    // The sentence waits until the typing rests: a word half typed is not a word that is unknown.
    clearTimeout(pending);
    if (late) pending = window.setTimeout(explain, late); else explain();
    change(tokens.slice(0, most), typed);
  }
  function write(typed) {
    field.value = typed;
    take(typed, 0);
    field.focus();
  }
  frame.onDispose(() => { clearTimeout(pending); row.stop(); });
  field.value = kept?.read() ?? text;
  return {
    box, field, row,
      write, /** Read what stands in the field: once, when the widget is ready. */ start: () =>
        take(field.value, 0) };
}
