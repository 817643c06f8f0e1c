/** When to draw, and what to say where drawing failed. */
import { h } from "./dom.js";

const WORDS = {
  never: "This picture could not be brought to life here. The text stands without it.",
  late: "This picture could not follow the last change: what it shows may be out of date. "
    + "Take the change back, or reload the page.",
};

/**
 * Do something once in each frame, however often it is asked for. The first time it is done as soon as the
 * event is over, and the page is laid out: so the wait for the frame is used. (A timer would come too late:
 * after an input Chromium puts timers off until the frame.) What is asked for after that is done in the
 * frame. A page in the background has no frames.
 */
export function oncePerFrame(work) {
  let [frame, due] = [0, false];
  const run = () => {
    if (!due) return;
    due = false;
    work();
  };
  const onFrame = () => {
    frame = due ? requestAnimationFrame(onFrame) : 0;
    run();
  };
  const early = () => { run(); void document.body.offsetHeight; };
  return {
    cancel() {
      cancelAnimationFrame(frame);
      [frame, due] = [0, false];
    },
    ask() {
      if (due) return;
      due = true;
      if (document.hidden) queueMicrotask(run);
      else if (!frame) {
        frame = requestAnimationFrame(onFrame);
        queueMicrotask(early);
      }
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
