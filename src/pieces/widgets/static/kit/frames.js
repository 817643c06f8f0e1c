/** Movement, and what was there before it. */

/** ms of quiet after which a change begins anew: those of a drag are one. */
export const REST = 700;

/** Whether the reader asked for less motion. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Slow, quick, slow: from 0 to 1. @param {number} t */
export const ease = (t) => (t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2);

/** What says of each change whether it begins anew, or goes on with the last one. */
export function changes() {
  let last = -Infinity;
  return (when = performance.now()) => {
    const begins = when - last > REST;
    last = when;
    return begins;
  };
}

/** What was set before this control was first turned: before a preset, or before another control.
 *  @param {string[]} names of the settings @param {Record<string, any>} first what is set at first */
export function beforeControl(names, first) {
  let [last, turned] = [first, ""];
  /** What is set now, what is kept from before; and whether two settings show the same, which leaves null. */
  return (now, kept, alike) => {
    const changed = names.filter((name) => last[name] !== now[name]).join();
    const was = changed && (changed !== turned || changed.includes(",")) ? last : kept;
    if (changed) [last, turned] = [now, changed];
    return was && alike(was, now) ? null : was;
  };
}

/**
 * The state before the last change, to be drawn as a ghost. Changes that follow one another quickly, as in a
 * drag, are one change: the ghost stays where it began. What is back as it was has no ghost.
 */
export function ghost() {
  /** @type {{state: any, key: string}|null} */
  let last = null;
  /** @type {{state: any, key: string}|null} */
  let before = null;
  const begins = changes();
  /** Tell the state that is drawn now (compared by `key`); gives the one before, or null. */
  return (state, key = JSON.stringify(state), when = performance.now()) => {
    if (last && last.key !== key && begins(when)) before = last;
    last = { state, key };
    return before && before.key !== key ? before.state : null;
  };
}
