/** The play: what has risen, part by part, with a sentence each; and the word that drops into the text. */
import { h, still } from "../kit/kit.js";
import { player } from "../kit/player.js";
import { drawnTold, stepsOf, stepTold } from "./tell.js";
import { WORDS } from "./words.js";

/** @typedef {import("./layout.js").Layout} Layout */

/**
 * @param {Object} view @param {{model: import("../twin/model.js").TrainedModel, strips: string[], seen: any,
 *   side: any, rows: any, next: any, stage: HTMLElement, traits: any, latest: () => any}} options
 */
export function filmOf(view, { model, strips, seen, side, rows, next, stage, traits, latest }) {
  const steps = stepsOf(strips);
  const last = steps.length - 1;
  let told = -1; // the step that stands in the trait
  let old = 0; // the columns that stand already while the others rise
  let playing = false;
  let quick = false; // a word was said: its column rises without a stop
  let dropped = false; // with the text that is drawn next
  let layer = 0; // the one that a phone shows meanwhile

  const film = player(view, { label: WORDS.play, states: steps.length, tween: 620,
    dwell: still() ? 5000 : 1900, // where nothing glides, a jump is announced by rest
    name: (n) => WORDS.steps(steps[n]), show: (position) => rise(position),
    rest(state) {
      playing = state !== last || film?.playing;
      quick = quick && playing && !film.playing;
      told = state === last ? 0 : state + 1;
      traits.set("step", told);
      traits.save_changes();
      view.redraw();
      if (quick) film.glide(state + 1);
    } });
  film.box.prepend(h("span", { class: "w-play-name", "aria-hidden": "true" }, WORDS.play));
  for (const hand of ["click", "input"]) film.box.addEventListener(hand, () => { quick = false; }, true);

  /** How high a step reaches. @param {string} step @param {Layout} layout */
  function topOf(step, layout) {
    const floor = layout.floors.find(({ name }) => name === step);
    const under = layout.guess.y + layout.guess.h;
    if (floor) return floor.strip.y;
    if (step === "words") return layout.words.y;
    if (step === "next") return layout.guess.y;
    if (step === "norm") return layout.norm ? layout.norm.y : under;
    return strips.indexOf(step) <= layout.ground.index ? layout.ground.y : under;
  }
  /** Where a step works. @param {string} step @param {Layout} layout */
  function bandOf(step, layout) {
    const floor = layout.floors.find(({ name }) => name === step);
    if (floor || step === "norm") return floor ?? layout.norm;
    if (step === "next") return layout.guess;
    return step === "embedding" && layout.ground.index === 0 ? layout.ground : null;
  }
  /** On a phone the picture goes along. @param {string} step */
  function follow(step) {
    const early = step === "words" || step === "embedding";
    const wanted = Number(/^layer\.(\d+)/.exec(step)?.[1] ?? (early ? 1 : model.layers));
    if (wanted === layer) return;
    layer = wanted;
    view.redraw();
  }
  /** Show what has risen so far. @param {number} position */
  function rise(position) {
    playing = position < last || Boolean(film?.playing);
    const state = latest();
    if (!state || state.open) return;
    const at = Math.max(0, Math.min(last, Math.ceil(position - 1e-6)));
    const step = steps[at];
    if (state.layout.phone && playing) follow(step);
    const from = topOf(steps[Math.max(0, at - 1)], state.layout);
    const share = position - Math.max(0, at - 1);
    const y = position >= last ? 0 : from + (topOf(step, state.layout) - from) * share;
    if (!playing) old = 0;
    seen.rise(y, old, playing ? bandOf(step, state.layout) : null);
    rows.work(playing ? step : null, playing && !quick ? steps.slice(at + 1) : []);
    side.rise(y);
    next.box.classList.toggle("w-waits", playing && position <= last - 1);
    if (quick) view.say(drawnTold(state.columns, state.words) + WORDS.rises + WORDS.cache(old));
    else if (playing) view.say(stepTold(step, state) + (step === "words" ? "" : WORDS.cache(old)));
  }
  /** The word flies from its bar to the foot. @param {number} id */
  function fly(id) {
    const from = next.node(id)?.querySelector(".w-next-word");
    if (!from || still()) return;
    const { layout, columns } = latest();
    const body = stage.parentElement;
    const [a, b, home] = [from, stage, body].map((node) => node.getBoundingClientRect());
    const ghost = h("span", { class: "w-fly", "aria-hidden": "true" }, model.vocabulary[id]);
    body.append(ghost);
    const at = (x, y) => `translate(${x - home.left}px, ${y - home.top}px)`;
    const [begin, end] = [at(a.left, a.top), at(b.left + layout.x(columns.length), b.top + layout.words.y)];
    ghost.animate([{ transform: begin }, { transform: end, opacity: 0.2 }],
      { duration: 560, easing: "ease-in" })
      .finished.finally(() => ghost.remove());
  }
  return {
    box: film.box,
    get playing() { return playing; },
    get layer() { return layer; },
    rise() { rise(film.position); },
    /** Out of the play: all stands. */
    quiet() {
      old = 0;
      quick = false;
      if (film.playing) film.pause();
      if (film.position < last) film.jump(last);
    },
    /** Where the trait says; whether somebody else than the film asks for it, or a word has dropped in.
     *  @param {number} step 0 is the end @param {boolean=} first */
    to(step, first = false) {
      const asked = first || step !== told || dropped;
      if (first || step !== told) film.jump((step || steps.length) - 1);
      dropped = false;
      return asked;
    },
    /** A word drops in behind the `count` words that stand, by `change`, and its column rises.
     *  @param {number} id @param {number} count @param {() => void} change */
    drop(id, count, change) {
      fly(id);
      this.quiet();
      change();
      if (still()) return; // it stands at once
      old = count;
      quick = dropped = true;
      film.jump(0);
    },
  };
}
