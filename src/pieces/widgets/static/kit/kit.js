/**
 * The drawing kit of the book: a frame for a widget, and what goes into it.
 * No framework and no bundler; a widget's own file reads like a description of its picture.
 */
import { h, onTheme, onWidth, setText } from "./dom.js";
import { REST } from "./frames.js";
import { afterRest, boundary, oncePerFrame } from "./pulse.js";
import { fillTables } from "./tables.js";
export { chance, choice, clamp, count, css, format, give, h, limits, mix, numbers, onTheme, parseNumber,
  percent, plain, setText, readColours, real, setter, text, words, writes } from "./dom.js";
export { beforeControl, ghost, still } from "./frames.js";
export { guard } from "./pulse.js";
export { button, matrixEditor, numberField, select, slider, stepper, toggle } from "./controls.js";
export { heatmap } from "./heatmap.js";
export { bars } from "./plots.js";
export { makeRamp } from "./ramp.js";
export { listed, plural, quoted } from "./words.js";

/**
 * The frame of a widget: controls above, panes below, a sentence, and a table view.
 * @param {HTMLElement} el
 * @param {{title: string, name: string, heading?: boolean}} options `heading: false` leaves the title to
 *   screen readers: an exercise stands under a title of its own
 */
export function frame(el, { title, name, heading = true }) {
  const controls = h("div", { class: "p-controls" });
  const panes = h("div", { class: "p-panes" });
  const sentence = h("p", { class: "p-say" });
  const voice = h("p", { class: "p-hidden p-voice", role: "status" });
  const tables = h("div", { class: "p-tables" });
  // JupyterLab would take the arrow keys for itself and move to another cell. (Notebook 7 takes them
  // before they arrive, so `h` marks every element that can have the focus.)
  const keep = (event) => { if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation(); };
  const details = h("details", { class: "p-details", ontoggle: () => fill() },
    h("summary", {}, "Table view"), tables);
  const foot = h("div", { class: "p-foot" }, details); // the site adds a link to the state, in its corner
  const root = h("div", { class: `pieces pieces-${name}`, role: "group", "aria-label": title,
    onkeydown: keep },
    heading ? h("div", { class: "p-title" }, title) : null, controls, panes, sentence, voice, foot);
  const { note, guarded, recover } = boundary(root);
  controls.after(note);
  el.replaceChildren(root);
  const drawers = [];
  const disposers = [];
  const sources = [];
  const watches = [];
  const fill = guarded(() => { if (details.open) fillTables(tables, sources); });
  const speech = afterRest(() => setText(voice, sentence.textContent), REST);
  const pulse = oncePerFrame(() => view.draw());
  let begun = false;
  let wanted = null;
  /** @type {Set<() => void>|null} canvases that wait to be painted, while all is drawn */
  let waiting = null;
  const view = {
    root, controls, panes, sentence, details, foot, guarded,
    /** Whether a draw is under way. */
    drawing: false,
    /** What to do at each redraw, in order. */
    onDraw(step) { drawers.push(step); },
    onDispose(step) { disposers.push(step); },
    /** Call `redraw(width)` before the first draw, and whenever the width of `node` changes. */
    onWidth(node, redraw) { watches.push(onWidth(node, guarded(redraw))); },
    /** Call `redraw` whenever the page changes between light and dark. */
    onTheme(redraw) { disposers.push(onTheme(guarded(redraw))); },
    /** Ask for all widths, then tell them: one layout, and the first picture has its size at once. */
    measure() {
      const widths = watches.map((watch) => watch.read());
      watches.forEach((watch, n) => watch.take(widths[n]));
    },
    /** A table for the table view: `read()` gives { head, rows } of texts. */
    table(caption, read) { sources.push([caption, read]); },
    /**
     * The sentence under the picture: what is to be seen there now. It is spoken when it has come
     * to rest.
     */
    say(text) {
      if (sentence.textContent === text) return;
      if (begun) speech.ask();
      sentence.textContent = text;
    },
    /** Draw when the event is over, and what changes after that with the next frame: see pulse.js. */
    redraw() { pulse.ask(); },
    /** Do `work` before the next draw; only the last one asked for is done. */
    soon(work) { wanted = work; pulse.ask(); },
    /** Paint a canvas, once, when all else of this draw is written: to give it a font, or a text, lays the
     *  page out. `work` must change the canvas alone. */
    paint(work) { if (waiting) waiting.add(work); else work(); },
    /** Paint what waits: a place was just asked for, so the page is laid out. */
    paintAll() {
      const works = [...waiting ?? []];
      waiting?.clear();
      works.forEach((work) => work());
    },
    catchUp() { const work = wanted; wanted = null; work?.(); },
    /** Draw now; what fails is said and the last picture stays. */
    draw: guarded(() => { view.drawFirst(); recover(); }),
    /** Draw now; what fails is thrown, since there is no picture yet. */
    drawFirst() {
      waiting = new Set();
      try {
        drawers.forEach((step) => step());
        view.paintAll();
      } finally { waiting = null; }
      fill();
      begun = true;
    },
    dispose() {
      [pulse, speech].forEach((one) => one.cancel());
      disposers.forEach((step) => step());
      watches.forEach((watch) => watch.stop());
    },
  };
  return view;
}

/**
 * Keep a frame in step with its model: draw now, and as pulse.js has it whenever something changes.
 * `used(model)`, where given, tells the values that are used for each trait: a trait that says otherwise
 * follows,
 * so that what a control shows, what Python reads and what is drawn are one.
 * What `draw` reports goes into result traits, for Python to read. Returns render's clean-up.
 * @param {Object} model @param {Object} view @param {(model: Object) => Object} used
 */
export function live(model, view, used = () => ({})) {
  const { draw, drawFirst, guarded } = view;
  const prepare = () => { view.catchUp(); report(model, used(model)); };
  const settled = (...steps) => () => {
    view.drawing = true; // what is written while drawing asks for no other draw
    try { steps.forEach((step) => step()); } finally { view.drawing = false; }
  };
  view.draw = settled(guarded(prepare), draw);
  const changed = () => { if (!view.drawing) view.redraw(); };
  model.on("change", changed);
  const end = () => {
    model.off("change", changed);
    view.dispose();
  };
  try {
    view.measure();
    settled(prepare, drawFirst)();
  } catch (error) {
    end();
    throw error;
  }
  return end;
}

/** Put values into traits, where they changed: one change, one message. */
export function report(model, results) {
  const news = Object.entries(results).filter(([name, value]) => !same(model.get(name), value));
  if (!news.length) return;
  model.set(Object.fromEntries(news));
  model.save_changes();
}

const same = (a, b) => Object.is(a, b) || (typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));

/** A key to the colours: pairs of role and word. */
export const legend = (...entries) =>
  h("ul", { class: "p-legend" }, ...entries.map(([role, word]) =>
    h("li", {}, h("i", { "data-role": role }), word)));

/**
 * What a reader typed, kept on this machine by the question it answers: nothing typed is lost by a
 * reload. What was right once stays so: `solve` notes it. The page "Your answers" reads both.
 * @param {string} kind @param {string} question
 */
export function remembered(kind, question) {
  const get = (/** @type {string} */ place) => {
    try { return localStorage.getItem(place); } catch { return null; }
  };
  const set = (/** @type {string} */ place, /** @type {string} */ text) => {
    try { localStorage.setItem(place, text); } catch { /* a private window keeps nothing */ }
  };
  const [typed, right] = [`pieces:${kind}:${question}`, `pieces:right:${question}`];
  return {
    read: () => get(typed),
    write: (/** @type {string} */ text) => set(typed, text),
    solve: () => set(right, get(typed) ?? ""),
  };
}
