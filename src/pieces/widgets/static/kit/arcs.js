/**
 * Who looks at whom, as arcs over words. No line ever lies over a word: it runs above a line, or in
 * the margin.
 */
import { chips } from "./chips.js";
import { give, h, setText, writes } from "./dom.js";
import { oncePerFrame } from "./pulse.js";
import { createSelection } from "./selection.js";
import { words as spoken } from "./words.js";

/** @typedef {{from: number, to: number, weight: number, role?: string}} Link `from` looks at `to`
 *  @typedef {{x: number, top: number, bottom: number, line: number}} Place */

const GUTTER = 16;
const CHANNEL = 30;

/** An arc within one line; `up` is −1 above the words, 1 below.
 *  @param {Place} a @param {Place} b @param {number} up @param {number} room */
function bow(a, b, up, room) {
  const y = up < 0 ? a.top : a.bottom;
  if (a === b) return `M${a.x - 4} ${y}C${a.x - 13} ${y + up * 22} ${a.x + 13} ${y + up * 22} ${a.x + 4} `
    + `${y}`;
  const lift = up * (Math.min(room - 4, 10 + Math.abs(a.x - b.x) * 0.4) / 0.75);
  return `M${a.x} ${y}C${a.x} ${y + lift} ${b.x} ${y + lift} ${b.x} ${y}`;
}

/** A way between words of several lines: up, along above its own line, through the margin, along above the
 * other.
 *  @param {Place} a @param {Place} b @param {number} lane */
function route(a, b, lane) {
  const r = 5;
  const [ya, yb] = [a.top - 6 - lane * 5, b.top - 6 - lane * 5];
  if (a === b) return bow(a, b, -1, CHANNEL);
  if (a.line === b.line) {
    const way = Math.sign(b.x - a.x);
    return `M${a.x} ${a.top}V${ya + r}Q${a.x} ${ya} ${a.x + way * r} ${ya}H${b.x - way * r}Q${b.x} ${ya} `
      + `${b.x} ${ya + r}V${b.top}`;
  }
  const x = GUTTER - 4 - lane * 3;
  const turn = Math.sign(yb - ya);
  return `M${a.x} ${a.top}V${ya + r}Q${a.x} ${ya} ${a.x - r} ${ya}H${x + r}Q${x} ${ya} ${x} `
    + `${ya + turn * r}V${yb - turn * r}`
    + `Q${x} ${yb} ${x + r} ${yb}H${b.x - r}Q${b.x} ${yb} ${b.x} ${yb + r}V${b.top}`;
}

/**
 * `draw({ words, links, faint })`. The word that is pointed at, or chosen, lights what it looks at.
 * @param {Object} frame
 * @param {{caption: string, role?: string, below?: boolean, axis?: string, target?: string, faint?: number,
 *   least?: number,
 *   digits?: number, tabled?: boolean, selection?: ReturnType<typeof createSelection>}} options `faint`:
 * weights from which a link is
 *   shown unasked, `least`: when asked; `target` is what the word looked at is in the selection: its arc is
 * brightest,
 *   a dotted one stands for a look that is not there, and an arc can be pointed at;
 *   `tabled: false`: another picture has the same numbers in the table view
 */
export function arcs(frame, {
  caption, role = "weight", below = false, axis = "token", target, faint: usual = 0.05, least: asked = 0.005,
  digits = 2,
  tabled = true, selection = createSelection(),
}) {
  const text = spoken.arcs;
  const row = chips({ label: caption, selection, axis });
  const lines = h("g", {});
  const svg = h("svg", { class: "p-arcs", "aria-hidden": "true" }, lines);
  const voice = h("p", { class: "p-hidden", role: "status" });
  const stage = h("div", { class: "p-arc-stage" }, svg, row.box);
  const pane = h("figure", { class: "p-pane p-pane-arcs" }, h("figcaption", {}, caption), stage, voice);
  /** @type {{words: string[], links: Link[]}|null} */
  let data = null;
  /** @type {Place[]} */
  let places = [];
  let wrapped = false;
  let room = CHANNEL;
  let lefts = []; // of the words
  let found = ""; // what the places were found for
  let faint = usual;
  const drawer = oncePerFrame(frame.guarded(paint));

  /** How far apart the two ends of the longest arc stand. */
  const span = () => data.links.reduce((most, { from, to }) =>
    Math.max(most, Math.abs((lefts[from] ?? 0) - (lefts[to] ?? 0))), 0);
  const wanted = () => JSON.stringify([data.words, span()]);
  /** Where a word stands, as the page has it. */
  const placeOf = (n) => {
    const { offsetLeft: left, offsetTop: top, offsetWidth: width, offsetHeight: height } = row.node(n);
    return { left, top, width, height };
  };
  /** Whether words that stand in several lines would fit into one: lines are indented. */
  const fitsOne = (stand) => {
    const gap = parseFloat(getComputedStyle(row.box).columnGap) || 0;
    const needs = stand.reduce((sum, { width }) => sum + width + gap, -gap);
    return needs <= row.box.clientWidth + parseFloat(getComputedStyle(stage).paddingLeft);
  };
  const look = () => ({ stand: data.words.map((_, n) => placeOf(n)), width: stage.clientWidth,
    height: stage.clientHeight });
  /** Each question to the page lays it out anew, so there is one; a second where words come to stand in
   *  several lines, since the arcs between them take room, or in one again. */
  function arrange() {
    if (!data || !stage.clientWidth) return;
    if (!places.length) stage.style.setProperty("--room", "0px");
    const stood = wrapped;
    const had = places.length ? room : 0;
    let { stand, width, height } = look();
    frame.paintAll();
    if (stood && fitsOne(stand)) {
      stage.classList.remove("p-wrapped");
      ({ stand, width, height } = look());
    }
    const above = below && !stood ? 0 : had;
    wrapped = stand.length > 1 && stand.at(-1).top > stand[0].top + 4;
    lefts = stand.map(({ left }) => left);
    room = wrapped ? CHANNEL : Math.round(Math.min(120, Math.max(28, 16 + span() * 0.4)));
    stage.classList.toggle("p-wrapped", wrapped);
    stage.classList.toggle("p-below", below && !wrapped);
    stage.style.setProperty("--room", `${room}px`);
    if (wrapped && !(stood && had)) {
      ({ stand, width, height } = look());
    } else if (!wrapped) {
      const moved = (below ? 0 : room) - above;
      stand = stand.map((one) => ({ ...one, top: one.top + moved }));
      height += room - had;
    }
    const tops = [...new Set(stand.map(({ top }) => top))].sort((a, b) => a - b);
    places = stand.map(({ left, top, width: wide, height: high }) =>
      ({ x: left + wide / 2, top: top - 2, bottom: top + high + 2, line: tops.indexOf(top) }));
    give(svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    found = wanted();
    paint();
  }
  const lookingFrom = (n) => data.links.filter(({ from, weight }) => from === n
    && weight > 0).sort((a, b) => b.weight - a.weight);
  function paint() {
    if (!data || !places.length) return;
    const on = selection.now[axis];
    const lit = on === null ? [] : lookingFrom(on).filter(({ weight }) => weight >= asked);
    const least = wrapped ? Math.max(0.3, faint) : faint;
    const rest = on !== null && wrapped ? []
      : data.links.filter(({ from, weight }) => from !== on && weight > 0 && weight >= least);
    const way = (a, b, n) => (wrapped ? route(a, b, n % 4) : bow(a, b, below ? 1 : -1, room));
    const path = (link, n, bright) => {
      const [a, b] = [places[link.from], places[link.to]];
      if (!a || !b) return null;
      return h("path", {
        class: `p-arc${bright ? " p-arc-on" : ""}${bright && target && link.to === selection.now[target]
          ? " p-arc-at" : ""}`,
        "data-role": link.role ?? role, "data-query": link.from, "data-key": link.to,
        d: way(a, b, n),
        "stroke-width": (0.8 + 4.2 * Math.min(1, link.weight)).toFixed(2),
      });
    };
    const paths = [...rest.map((link, n) => path(link, n, false)),
      ...lit.map((link, n) => path(link, n, true))];
    lines.replaceChildren(...paths.filter(Boolean),
      ...(target ? reachable(paths.filter(Boolean), on, way) : []));
    data.words.forEach((_, n) => {
      const link = lit.find(({ to }) => to === n);
      const chip = row.node(n);
      chip.dataset.role = link ? link.role ?? role : "";
      chip.style.setProperty("--seen", link ? `${Math.round(8 + 27 * Math.min(1, link.weight))}%` : "0%");
    });
    const said = on === null ? "" : sentence(on);
    if (selection.picked[axis] === on) setText(voice, said);
  }
  /** Wide and unseen, so that a finger finds an arc; and dotted, what is looked for and not there. */
  function reachable(paths, on, way) {
    const [a, b] = [places[on ?? -1], places[selection.now[target] ?? -1]];
    const missing = a && b && !data.links.some(({ from, to, weight }) => from === on && places[to] === b
      && weight > 0);
    const at = (one, end) => Number(one.getAttribute(`data-${end}`));
    // In one order, whatever is lit: an arc that comes to lie above another under the pointer would flicker.
    const sorted = [...paths].sort((a, b) => at(a, "query") - at(b, "query") || at(a, "key") - at(b, "key"));
    const wide = sorted.map((one) => h("path", { class: "p-arc-hit", d: one.getAttribute("d"),
      "data-query": one.getAttribute("data-query"), "data-key": one.getAttribute("data-key") }));
    return missing ? [h("path", { class: "p-arc-missing", d: way(a, b, 0) }), ...wide] : wide;
  }
  const linked = ({ dataset: { query, key } }) => ({ [axis]: Number(query), [target ?? axis]: Number(key) });
  const over = (event) => event.target.closest?.(".p-arc-hit");
  svg.addEventListener("pointerover", (event) => {
    const arc = over(event);
    if (arc && event.pointerType === "mouse") selection.point(linked(arc));
  });
  svg.addEventListener("pointerout", (event) => {
    if (!(/** @type {Element|null} */ (event.relatedTarget))?.closest?.(".p-arc-hit")) selection.leave();
  });
  svg.addEventListener("click", (event) => { if (over(event)) selection.pick(linked(over(event))); });
  function sentence(n) {
    const word = data.words[n];
    const seen = lookingFrom(n).slice(0, 5).map(({ to, weight }) =>
      [to === n ? text.itself : data.words[to], writes(role)(weight, digits)]);
    return word === undefined ? "" : seen.length ? text.looks(word, seen) : text.blind(word);
  }
  frame.onWidth(stage, arrange);
  const anew = frame.guarded(arrange);
  document.fonts?.addEventListener("loadingdone", anew);
  frame.onDispose(() => document.fonts?.removeEventListener("loadingdone", anew));
  frame.onDispose(selection.subscribe(() => drawer.ask()));
  frame.onDispose(() => { drawer.cancel(); row.stop(); });
  if (tabled) frame.table(caption, () => data && {
    head: text.head,
    rows: data.links.map(({ from, to, weight }) =>
      [data.words[from], data.words[to], writes(role)(weight, 4)]),
  });
  return {
    pane, selection, stage,
    /** Find the words again, where the page has moved them. */
    arrange,
    /** The words will have moved when they are drawn again. */
    moved() { found = ""; },
    /** What the chosen word looks at, in words. @param {number} n */
    sentence,
    draw(next) {
      data = next;
      faint = next.faint ?? usual;
      row.draw(data.words.map((word) => ({ text: word })));
      // To ask where the words stand is a layout of the page, so it is asked where they may have moved.
      if (found && found === wanted()) paint(); else arrange();
      drawer.cancel(); // what was followed is drawn with it
    },
  };
}
