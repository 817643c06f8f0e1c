/**
 * The drawing kit of the book: a frame for a widget, and what goes into it.
 * No framework and no bundler; a widget's own file reads like a description of its picture.
 */
import { h, onWidth } from "./dom.js";
export { choice, clamp, count, format, h, numbers, onTheme, text, words } from "./dom.js";
export { button, matrixEditor, numberField, select, slider, stepper, toggle } from "./controls.js";
export { heatmap } from "./heatmap.js";
export { bars } from "./plots.js";

/**
 * The frame of a widget: controls above, panes below, a sentence, and a table view.
 * @param {{title: string, name: string, heading?: boolean}} options `heading: false` leaves the title to
 *   screen readers: an exercise stands under a title of its own
 */
export function frame(el, { title, name, heading = true }) {
  const controls = h("div", { class: "p-controls" });
  const panes = h("div", { class: "p-panes" });
  const sentence = h("p", { class: "p-say", role: "status" });
  const tables = h("div", { class: "p-tables" });
  // JupyterLab would take the arrow keys for itself and move to another cell. (Notebook 7 takes them
  // before they arrive, so `h` marks every element that can have the focus.)
  const keep = (event) => { if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation(); };
  const details = h("details", { class: "p-details", ontoggle: fill }, h("summary", {}, "Table view"), tables);
  const root = h("div", { class: `pieces pieces-${name}`, role: "group", "aria-label": title, onkeydown: keep },
    heading ? h("div", { class: "p-title" }, title) : null, controls, panes, sentence, details);
  el.replaceChildren(root);
  const drawers = [];
  const disposers = [];
  const sources = [];
  const watches = [];

  function fill() {
    if (!details.open) return;
    tables.replaceChildren(...sources.map(([caption, read]) => {
      const data = read();
      if (!data) return "";
      const [first, ...others] = data.head;
      return h("div", { class: "p-scroll", tabindex: "0", role: "region", "aria-label": caption },
        h("table", {}, h("caption", {}, caption),
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, first), ...others.map((x) => h("th", { scope: "col" }, x)))),
          h("tbody", {}, ...data.rows.map(([head, ...cells]) =>
            h("tr", {}, h("th", { scope: "row" }, head), ...cells.map((x) => h("td", {}, x)))))));
    }));
  }
  return {
    root, controls, panes, sentence, details,
    /** What to do at each redraw, in order. */
    onDraw(step) { drawers.push(step); },
    onDispose(step) { disposers.push(step); },
    /** Call `redraw(width)` before the first draw, and whenever the width of `node` changes. */
    onWidth(node, redraw) { watches.push(onWidth(node, redraw)); },
    /** Ask for all widths, then tell them: one layout, and the first picture has its size at once. */
    measure() {
      const widths = watches.map((watch) => watch.read());
      watches.forEach((watch, n) => watch.take(widths[n]));
    },
    /** A table for the table view: `read()` gives { head, rows } of texts. */
    table(caption, read) { sources.push([caption, read]); },
    /** The sentence under the picture: what is to be seen there now. */
    say(text) { if (sentence.textContent !== text) sentence.textContent = text; },
    redraw() { drawers.forEach((step) => step()); if (details.open) fill(); },
    dispose() {
      disposers.forEach((step) => step());
      watches.forEach((watch) => watch.stop());
    },
  };
}

/**
 * Keep a frame in step with its model: draw now, and at every change. Returns render's clean-up.
 * What `draw` reports goes into result traits, for Python to read.
 */
export function live(model, view) {
  let drawing = false;
  const draw = () => {
    if (drawing) return;
    drawing = true;
    try { view.redraw(); } finally { drawing = false; }
  };
  model.on("change", draw);
  view.measure();
  draw();
  return () => {
    model.off("change", draw);
    view.dispose();
  };
}

/** Put results into traits, where they changed. */
export function report(model, results) {
  let changed = false;
  for (const [name, value] of Object.entries(results)) {
    if (JSON.stringify(model.get(name)) === JSON.stringify(value)) continue;
    model.set(name, value);
    changed = true;
  }
  if (changed) model.save_changes();
}

/** A key to the colours: pairs of role and word. */
export const legend = (...entries) =>
  h("ul", { class: "p-legend" }, ...entries.map(([role, word]) =>
    h("li", {}, h("i", { "data-role": role }), word)));

/** What a reader typed, kept on this machine: nothing typed is lost by a reload. */
export function remembered(key) {
  const place = `pieces:${location.pathname}:${key}`;
  return {
    read() { try { return localStorage.getItem(place); } catch { return null; } },
    write(text) { try { localStorage.setItem(place, text); } catch { /* a private window keeps nothing */ } },
  };
}
