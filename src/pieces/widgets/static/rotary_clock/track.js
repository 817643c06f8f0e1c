/**
 * A sentence on a line, with two of its words to be moved: one by one, or both by the bar that
 * holds them.
 */
import { h } from "../kit/kit.js";

const HEIGHT = 104;
const LINES = { label: 13, bar: 24, word: 58, place: 84, name: 99 };

/**
 * `draw({ words, places, gap, i, j })`: `places` are the positions of the words, `gap` the index before
 * which words
 * are left out, or null.
 * @param {Object} view
 * @param {{text: any, move: (i: number, j: number) => void}} options the new places, for the widget to hold
 *   in bounds
 */
export function track(view, { text, move }) {
  const slots = h("g", { class: "p-slots" });
  const ends = h("path", { class: "p-bar-ends" });
  const far = h("text", { class: "p-distance", y: LINES.label, "text-anchor": "middle" });
  const grip = (which, ...inside) => h("g",
    { class: `p-grip-${which}`, "data-grip": which, role: "slider", tabindex: "0",
    "aria-label": text.grips[which], "aria-valuemin": 0 }, ...inside);
  const chip = (which, role) => grip(which,
    h("rect", { class: "p-chip-box", "data-role": role, y: LINES.word - 20, height: 30, rx: 6 }),
    h("text", { class: "p-chip-word", y: LINES.word, "text-anchor": "middle" }),
    h("text", { class: "p-chip-name", "data-role": role, y: LINES.name, "text-anchor": "middle" },
      text.names[which]),
    // its whole place is the word, and not its box alone
    h("rect", { class: "p-chip-hit", y: 36, height: HEIGHT - 36 }));
  const grips = { j: chip("j", "key"), i: chip("i", "query"),
    both: grip("both", h("rect", { class: "p-bar-hold", y: LINES.bar - 12, height: 24, rx: 12 }), ends,
      far) };
  const svg = h("svg", { class: "p-track", height: HEIGHT }, slots, grips.both, grips.j, grips.i);
  const pane = h("figure", { class: "p-pane p-pane-track" }, h("figcaption", {}, text.caption), svg);
  let [data, width, held] = [null, 0, null];
  /** @type {number|null} */
  let tapped = null; // a word that was pressed, neither query nor key; a click elsewhere is the end of a drag

  const size = () => data.words.length + (data.gap === null ? 0 : 1);
  const slot = (n) => (data.gap !== null && n >= data.gap ? n + 1 : n);
  const middle = (n) => ((slot(n) + 0.5) * width) / size();
  const under = (event) => {
    const at = Math.floor(((event.clientX - svg.getBoundingClientRect().left) / width) * size());
    const n = data.gap !== null && at > data.gap - 1 ? Math.max(data.gap, at - 1) : at;
    return Math.min(data.words.length - 1, Math.max(0, n));
  };
  /** Move one word, and the other where it stands in the way; or both, as far as both can go. */
  function to(which, n, from = data) {
    const last = data.words.length - 1;
    const at = Math.min(last, Math.max(0, n));
    if (which === "i") return move(at, Math.min(from.j, at));
    if (which === "j") return move(Math.max(from.i, at), at);
    const by = Math.min(last - from.i, Math.max(-from.j, n));
    return move(from.i + by, from.j + by);
  }
  svg.addEventListener("pointerdown", (event) => {
    const which = /** @type {Element} */ (event.target).closest("[data-grip]")?.getAttribute("data-grip");
    tapped = which ? null : under(event);
    if (!which) return;
    held = { which, at: under(event), i: data.i, j: data.j };
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (held) to(held.which, held.which === "both" ? under(event) - held.at : under(event), held);
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { held = null; });
  svg.addEventListener("click", (event) => { // a word that is tapped calls the nearer of the two
    const n = under(event);
    if (n !== tapped) return;
    to(Math.abs(n - data.i) <= Math.abs(n - data.j) ? "i" : "j", n);
  });
  Object.values(grips).forEach((node) => {
    const which = node.getAttribute("data-grip");
    // it drags, and does not scroll
    node.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    node.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, Home: -99, End: 99 }[event.key];
      if (!by) return;
      event.preventDefault();
      to(which, which === "both" ? by : data[which] + by);
    });
  });
  function paint() {
    if (!data || !width) return;
    const { words, places, gap, i, j } = data;
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const room = width / size();
    const most = Math.max(2, Math.floor((room - 4) / 6.6));
    const short = (word) => (word.length > most ? `${word.slice(0, most - 1)}…` : word);
    slots.replaceChildren(...words.map((word, n) => h("g", { class: "p-slot", "data-at": n },
      h("rect", { class: "p-slot-hit", x: middle(n) - room / 2, y: 36, width: room, height: HEIGHT - 36 }),
      h("text", { x: middle(n), y: LINES.word, "text-anchor": "middle" }, short(word)),
      h("text", { class: "p-place", x: middle(n), y: LINES.place, "text-anchor": "middle" },
        String(places[n])))),
    ...(gap === null ? []
      : [h("text", { class: "p-gap", x: (gap + 0.5) * room, y: LINES.word, "text-anchor": "middle" },
        text.gap)]));
    for (const [which, n] of [["i", i], ["j", j]]) {
      const [box, word, name, hit] = grips[which].children;
      hit.setAttribute("x", String(middle(n) - room / 2));
      hit.setAttribute("width", String(room));
      // A coloured word is told whole, over its neighbours where its own place is too narrow for it.
      const whole = words[n].length > Math.max(most, 9) ? short(words[n]) : words[n];
      const wide = Math.max(Math.min(room - 2, 64), 6.9 * whole.length + 6);
      box.setAttribute("x", String(middle(n) - wide / 2));
      box.setAttribute("width", String(wide));
      word.textContent = whole;
      [word, name].forEach((node) => node.setAttribute("x", String(middle(n))));
      name.setAttribute("x", String(middle(n)
        + (i - j > 1 || gap !== null ? 0 : (which === "i" ? 1 : -1) * 19)));
      grips[which].setAttribute("aria-valuemax", String(words.length - 1));
      grips[which].setAttribute("aria-valuenow", String(n));
      grips[which].setAttribute("aria-valuetext", text.at(words[n], places[n]));
    }
    const [from, until] = [middle(j), middle(i)];
    const hold = grips.both.firstElementChild;
    const wide = Math.max(until - from, 84);
    hold.setAttribute("x", String((from + until - wide) / 2));
    hold.setAttribute("width", String(wide));
    ends.setAttribute("d", `M${from} 36V${LINES.bar}H${until}V36`);
    far.setAttribute("x", String(Math.min(width - 42, Math.max(42, (from + until) / 2))));
    far.textContent = text.distance(places[i] - places[j]);
    grips.both.setAttribute("aria-valuemax", String(words.length - 1));
    grips.both.setAttribute("aria-valuenow", String(j));
    grips.both.setAttribute("aria-valuetext", text.distance(places[i] - places[j]));
  }
  view.onWidth(svg, (now) => { width = now; paint(); });
  return { pane, draw(next) { data = next; paint(); } };
}
