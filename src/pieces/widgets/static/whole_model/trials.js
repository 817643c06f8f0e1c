/** What the guess loses without each part, tried one after another while nothing else happens. */
import { pulledOut, parts } from "../twin/switches.js";

const KEPT = 8;

/** Parts worth a try of their own: heads, experts and sublayers. @param {string[]} all */
export const tried = (all) => all.filter((name) =>
  /\.(head|expert)\.\d+$|\.(attention|feed_forward)$/.test(name));

/** @param {import("../twin/model.js").TrainedModel} model @param {{done: () => void}} options */
export function trials(model, { done }) {
  const all = parts(model);
  const wanted = tried(all);
  let key = "";
  let timer = 0;
  /** @type {Map<string, number>} how likely the guess is without each part */
  let found = new Map();
  /** @type {Map<string, Map<string, number>>} what was tried for the last few texts */
  const known = new Map();

  /** @param {number[]} ids @param {number} t @param {number} id @param {string} name */
  function attempt(ids, t, id, name) {
    const { probabilities: { data, shape: [, V] } } = model.run(ids, { pulled: pulledOut([name], all) });
    found.set(name, data[t * V + id]);
  }
  function next(ids, t, id, left) {
    timer = 0;
    if (document.hidden) { timer = window.setTimeout(() => next(ids, t, id, left), 500); return; }
    attempt(ids, t, id, left[0]);
    if (left.length > 1) timer = window.setTimeout(() => next(ids, t, id, left.slice(1)), 12);
    else done();
  }
  return {
    /** What is known by now for this text, word and guess; what is missing will be tried when all rests.
     *  @param {number[]} ids @param {number} t @param {number} id */
    of(ids, t, id) {
      const asked = `${ids}|${t}|${id}`;
      if (asked !== key) {
        clearTimeout(timer);
        [key, found] = [asked, known.get(asked) ?? new Map()];
        known.set(asked, found);
        if (known.size > KEPT) known.delete(known.keys().next().value);
        if (found.size < wanted.length) timer = window.setTimeout(() => next(ids, t, id, wanted), 600);
      }
      return found.size === wanted.length ? found : null;
    },
    stop() { clearTimeout(timer); },
  };
}
