/** A process that can be played, paused, stepped and scrubbed. Nothing runs while it rests. */
import { h } from "./dom.js";
import { ease, still } from "./frames.js";
import { words } from "./words.js";

const ICONS = {
  play: "M4 2.5v11l9-5.5z", pause: "M4 3h3v10H4zM9 3h3v10H9z", back: "M11.5 3v10L4 8zM3 3h1.5v10H3z",
  on: "M4.5 3v10L12 8zM11.5 3H13v10h-1.5z",
};
const icon = (name) => h("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
  h("path", { d: ICONS[name] }));

/**
 * States 0 … `states` − 1. `show(position)` draws one, or a place between two while it moves: 1.25 is a
 * quarter of
 * the way from 1 to 2. `rest(state)` follows when it has come to stand.
 * @param {Object} frame
 * @param {{label: string, states: number, show: (position: number) => void, rest?: (state: number) => void,
 *   name?: (state: number) => string, tween?: number, dwell?: number, into?: Element}} options milliseconds
 * to move and to stay
 */
export function player(frame, {
  label, states, show, rest = () => {}, name = (n) => words.player.state(n + 1, states), tween = 500,
  dwell = 500, into,
}) {
  const text = words.player;
  const last = () => states - 1;
  const icons = { play: icon("play"), pause: icon("pause") };
  const press = (what, child, onclick) =>
    h("button", { type: "button", class: "p-button p-play", "aria-label": what, title: what, onclick },
      child);
  const play = press(text.play, icons.play, () => (playing ? pause() : start()));
  const back = press(text.back, icon("back"), () => go(Math.ceil(place) - 1));
  const on = press(text.on, icon("on"), () => go(Math.floor(place) + 1));
  const scrub = h("input", { type: "range", min: 0, max: last(), step: 1, "aria-label": label,
    oninput: () => scrubbed(Number(scrub.value)) });
  const said = h("output", { class: "p-play-at" });
  const box = h("div", { class: "p-player", role: "group", "aria-label": label }, play, back, on, scrub,
    said);
  (into ?? frame.controls).append(box);
  let place = 0;
  let target = 0;
  let playing = false;
  let asked = 0; // the frame that is asked for
  let waiting = 0; // the timer between two steps

  function stop() {
    cancelAnimationFrame(asked);
    clearTimeout(waiting);
    asked = waiting = 0;
  }
  function update() {
    const state = Math.round(place);
    if (scrub.value !== String(state)) scrub.value = String(state);
    scrub.setAttribute("aria-valuetext", name(state));
    if (said.value !== name(state)) said.value = name(state);
    back.disabled = place <= 0;
    on.disabled = place >= last();
    const what = playing ? text.pause : text.play;
    if (play.getAttribute("aria-label") !== what) {
      play.setAttribute("aria-label", what);
      play.title = what;
      play.replaceChildren(playing ? icons.pause : icons.play);
    }
  }
  function put(position) {
    place = position;
    show(place);
    update();
  }
  /** Stand on a state at once. */
  function jump(to) {
    stop();
    target = Math.min(last(), Math.max(0, Math.round(to)));
    put(target);
    arrived();
  }
  function scrubbed(to) { // the value first: a pause puts the thumb back
    playing = false;
    jump(to);
  }
  function arrived() {
    rest(place);
    if (playing && place < last()) waiting = window.setTimeout(() => glide(place + 1), dwell);
    else if (playing) pause();
  }
  /** Move to a state; where less motion is wanted, stand on it. */
  function glide(to) {
    stop();
    target = Math.min(last(), Math.max(0, to));
    if (still() || tween <= 0) return jump(target);
    const [from, began] = [place, performance.now()];
    const step = frame.guarded((now) => {
      const t = Math.min(1, Math.max(0, (now - began) / tween));
      put(t < 1 ? from + (target - from) * ease(t) : target);
      if (t < 1) asked = requestAnimationFrame(step);
      else { asked = 0; arrived(); }
    });
    asked = requestAnimationFrame(step);
  }
  /** One step, by hand: it ends the playing. */
  function go(to) {
    playing = false;
    glide(to);
    update();
  }
  function start() {
    if (states < 2) return;
    playing = true;
    if (place >= last()) jump(0); // from the end it begins again, and goes on after a moment
    else glide(Math.floor(place) + 1);
    update();
  }
  function pause() {
    playing = false;
    stop();
    if (place !== Math.round(place)) { put(target); rest(target); } // it never rests between two states
    update();
  }
  frame.onDispose(stop);
  update();
  return {
    box, play: start, pause, jump, glide: go,
    get position() { return place; },
    get playing() { return playing; },
    /** Another number of states, as when a trait changes. @param {number} n */
    limit(n) {
      states = n;
      scrub.max = String(last());
      if (place > last()) jump(last()); else update();
    },
  };
}
