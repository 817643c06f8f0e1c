/** The word of a text that is followed: the one pointed at, the one chosen, or the last. */
import { count, setter } from "./kit.js";

/**
 * The trait `token` keeps the reader's choice, from 1, and 0 for the last word. A text may be too short for
 * it while it is typed: its last word is followed then, and the chosen one again when it is long enough.
 * @param {Object} view @param {Object} traits
 * @param {ReturnType<typeof import("./selection.js").createSelection>} selection in which it is a `token`
 * @param {() => number} length of the text, in words
 */
export function followedWord(view, traits, selection, length) {
  const put = setter(traits);
  const wished = () => count(traits, "token");
  const chosen = () => Math.min(wished() || length(), length()) - 1;
  /** What was marked when it was drawn: only what differs from it is a reader's choice.
   *  @type {number|null} */
  let marked = null;
  view.onDispose(selection.subscribe((is, was) => {
    const { token } = selection.picked;
    if (token !== marked) put({ token: token === null ? 0 : token + 1 }); // a second press lets go
    marked = token;
    if (is.token !== was.token) view.redraw();
  }));
  return {
    wished,
    /** Its place from 0, −1 where there is no word. */
    at() {
      const { now, picked } = selection;
      const pointed = now.token !== null && now.token !== picked.token;
      return pointed ? Math.min(now.token, length() - 1) : chosen();
    },
    /** Mark the chosen word: first of all in a draw, of a text that has words. */
    mark() {
      marked = chosen();
      if (selection.picked.token !== marked) selection.pick({ token: marked });
    },
  };
}
