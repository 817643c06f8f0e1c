/** Things that change their place glide there, so that a reader sees where each of them came from. */
import { still } from "./frames.js";

const EASE = "cubic-bezier(.45, 0, .2, 1)";

/** @typedef {Map<string, HTMLElement>} Things what is on the screen, by name */

/** Where a thing stands, whatever is moving it. */
function place(node) {
  const box = node.getBoundingClientRect();
  return box.width ? { x: box.left, y: box.top, w: box.width, h: box.height } : null;
}

/** @param {Element} box what moves together with its things, as when the page scrolls
 *  @param {number} duration milliseconds */
export function glides(box, duration = 700) {
  /** @type {Animation[]} */
  let running = [];
  const stop = () => { running.forEach((one) => one.cancel()); running = []; };
  return {
    stop,
    /** Change the picture, and let what stands elsewhere than before come from there; what is new fades in.
     *  @param {() => Things} things @param {() => void} change
     *  @param {(name: string) => string[]} origins the things that one may have come from, the likeliest
     * first */
    move(things, change, origins = (name) => [name]) {
      if (still()) return change();
      const frame = place(box);
      const before = new Map([...things()].map(([name, node]) => [name, place(node)]));
      stop();
      change();
      const now = place(box);
      if (!frame || !now) return;
      for (const [name, node] of things()) {
        const to = place(node);
        const from = origins(name).map((other) => before.get(other)).find(Boolean);
        if (!to) continue;
        if (!from) {
          running.push(node.animate([{ opacity: 0 }, { opacity: 0, offset: 0.5 }, { opacity: 1 }],
            { duration }));
          continue;
        }
        const [x, y] = [from.x - frame.x - to.x + now.x, from.y - frame.y - to.y + now.y];
        const [a, b] = [from.w / to.w, from.h / to.h];
        if (Math.abs(x) < 1 && Math.abs(y) < 1 && Math.abs(a - 1) < 0.02) continue;
        const start = { transformOrigin: "0 0", transform: `translate(${x}px, ${y}px) scale(${a}, ${b})`,
          zIndex: 2 };
        running.push(node.animate([start, { transformOrigin: "0 0", transform: "none", zIndex: 2 }],
          { duration, easing: EASE }));
      }
    },
  };
}
