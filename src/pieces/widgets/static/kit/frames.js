/** Movement, and what was there before it. */

/** Whether the reader asked for less motion. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Slow, quick, slow: from 0 to 1. @param {number} t */
export const ease = (t) => (t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2);

/**
 * The state before the last change, to be drawn as a ghost. Changes that follow one another within `rest`
 * milliseconds, as in a drag, are one change: the ghost stays where it began.
 */
export function ghost(rest = 500) {
  let last = null;
  let before = null;
  let time = -Infinity;
  return {
    /** Tell the state that is drawn now (compared by `key`); gives the one before, or null. */
    of(state, key = JSON.stringify(state), when = performance.now()) {
      if (last === null) { last = { state, key }; return null; }
      if (last.key !== key) {
        if (when - time > rest) before = last.state;
        last = { state, key };
        time = when;
      }
      return before;
    },
    forget() { last = before = null; },
  };
}
