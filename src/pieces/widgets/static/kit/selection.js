/**
 * One selection that several pictures share: what the pointer is on, over what was picked.
 * @typedef {{row: number|null, column: number|null, head: number|null, layer: number|null, token:
 *   number|null}} Selected
 */

const NOTHING = Object.freeze({ row: null, column: null, head: null, layer: null, token: null });

/** @param {Partial<Selected>} part */
function checked(part) {
  for (const [name, value] of Object.entries(part)) {
    if (!(name in NOTHING)) throw new RangeError(
      `${name}: a selection has ${Object.keys(NOTHING).join(", ")}.`);
    if (value !== null && !(Number.isInteger(value) && value >= 0)) {
      throw new RangeError(`${name} = ${value}: a selection holds whole numbers from 0, or null.`);
    }
  }
  return part;
}

/** @param {Partial<Selected>} start */
export function createSelection(start = {}) {
  /** @type {Selected} */
  let picked = { ...NOTHING, ...checked(start) };
  /** @type {Partial<Selected>} */
  let pointed = {};
  /** @type {Selected} */
  let now = picked;
  /** @type {Set<(now: Selected, before: Selected) => void>} */
  const listeners = new Set();

  function settle() {
    const before = now;
    const next = { ...picked, ...pointed };
    if (Object.keys(NOTHING).every((name) => next[name] === before[name])) return;
    now = next;
    [...listeners].forEach((tell) => tell(now, before));
  }
  return {
    /** What is selected now, the pointer's place first. */
    get now() { return now; },
    /** What stays when the pointer leaves. */
    get picked() { return picked; },
    /** The pointer, or the keyboard's cursor, is on this. @param {Partial<Selected>} part */
    point(part) { pointed = { ...checked(part) }; settle(); },
    /** It is on nothing. */
    leave() { pointed = {}; settle(); },
    /** This stays selected. @param {Partial<Selected>} part */
    pick(part) { picked = { ...picked, ...checked(part) }; settle(); },
    clear() { picked = { ...NOTHING }; pointed = {}; settle(); },
    /** Be told of each change, and only of changes. Returns the way to stop.
     *  @param {(now: Selected, before: Selected) => void} tell */
    subscribe(tell) {
      listeners.add(tell);
      return () => { listeners.delete(tell); };
    },
  };
}
