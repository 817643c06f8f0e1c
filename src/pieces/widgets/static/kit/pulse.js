/** When to draw, and what to say where drawing failed. */
import { h } from "./dom.js";

const WORDS = {
  never: "This picture could not be brought to life here. The text stands without it.",
  late: "This picture could not follow the last change: what it shows may be out of date. "
    + "Take the change back, or reload the page.",
};

/**
 * Do something once in the next frame, however often it is asked for. A page in the background has
 * no frames.
 */
export function oncePerFrame(work) {
  let frame = 0;
  let timer = 0;
  const cancel = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = timer = 0;
  };
  const run = () => { cancel(); work(); };
  return {
    cancel,
    ask() {
      if (frame || timer) return;
      if (document.hidden) timer = setTimeout(run);
      else frame = requestAnimationFrame(run);
    },
  };
}

/** Do something when nobody has asked for it again for `rest` ms. */
export function afterRest(work, rest) {
  let timer = 0;
  return {
    cancel() { clearTimeout(timer); },
    ask() { clearTimeout(timer); timer = setTimeout(work, rest); },
  };
}

/** A note in a widget's frame: what went wrong is said, the last picture stays and is marked as old. */
export function boundary(root) {
  const note = h("p", { class: "pieces-sorry", role: "alert", hidden: true });
  const tell = (event, detail) => root.dispatchEvent(new CustomEvent(event, { bubbles: true, detail }));
  const fail = (error) => {
    console.error(error);
    note.textContent = WORDS.late;
    note.hidden = false;
    root.dataset.stale = "";
    tell("pieces-failed", error);
  };
  return {
    note,
    /** The same function, whose failure is said. */
    guarded: (work) => (...given) => { try { return work(...given); } catch (error) { return fail(error); } },
    recover() {
      if (note.hidden) return;
      note.hidden = true;
      delete root.dataset.stale;
      tell("pieces-recovered");
    },
  };
}

/** A widget whose first picture may fail: then a sentence stands there, in a notebook as on the site. */
export const guard = (render) => ({
  async render(context) {
    try { return await render(context); } catch (error) {
      context.el.replaceChildren(h("p", { class: "pieces pieces-sorry", role: "alert" }, WORDS.never));
      throw error;
    }
  },
});
