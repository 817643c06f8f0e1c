/** Positions as sines and cosines: each column a wave, each position a row of clock hands. */
import { chart } from "../kit/charts.js";
import { choice, count, format, frame, guard, heatmap, limits, live, real, report,
  slider } from "../kit/kit.js";
import { pairClocks } from "./pair_clocks.js";
import { sinusoidal, speed } from "../twin/position_twin.js";
import { tabs } from "../kit/tabs.js";
import { inner } from "../twin/twin.js";

const WORDS = {
  title: "Positions as waves", d: "columns D", base: "base", length: "positions", column: "column",
  position: "position p", k: "step k", map: "Each position, from left to right, gets D numbers: one "
    + "column of this picture",
  views: "What is compared", options: [["wave", "One wave"], ["similarity", "Two positions"],
    ["shift", "A step"]],
  wave: "The two columns of one pair", lengths: "Wavelength of each pair", x: "position", y: "number",
  pair: "pair n", turns: "positions", here: (name) => `column ${name}`, text: "this text",
  lambda: (x) => `one turn: ${format(x, 1)}`, alike: "How alike any two positions are",
  curve: (p) => `Position ${p} with every other`,
  whole: (x) => Math.round(x).toLocaleString("en-US"), row: "One row of it", likeness: "likeness",
  clocks: "Each pair as a clock hand: at p, and dashed at p + k",
  columnAxis: "position", rowAxis: "column", stop: (p) => `p + k = ${p}`,
  cell: (p, c, d, base, value) => `${c % 2 ? "cos" : "sin"}(${p} / `
    + `${WORDS.whole(base)}^(${c - (c % 2)}/${d})) = ${format(value, 3)}`,
  said: {
    wave: ({ column, length }, i, wavelength) =>
      `Column ${column} is the ${column % 2 ? "cosine" : "sine"} of pair n = ${i}, which turns once in `
      + `${format(wavelength, 1)} positions: ${format(length / wavelength, 2)} turns in this text.`,
    similarity: ({ position, k }, i, wavelength, alike) =>
      `Positions ${position} and ${position + k}: their dot product is ${format(alike, 2)} of a code’s `
        + `dot product with itself. `
      + `Any two positions ${k} apart have the same one.`,
    shift: ({ position, k }, i, wavelength, alike, [from, to]) =>
      `A step of ${k} turns pair ${i} by ${format((360 * k) / wavelength, 1)}°: from `
      + `(${format(from[0])}, ${format(from[1])}) at ${position} to (${format(to[0])}, ${format(to[1])}) at `
      + `${position + k}. Move p, and the angle stays the same.`,
  },
};

function read(model) {
  const d = 2 * Math.round(count(model, "d") / 2);
  const length = count(model, "length");
  const k = count(model, "k", undefined, length - 1);
  return {
    d, length, k, base: real(model, "base"), view: choice(model, "view"),
    column: count(model, "column", undefined, d - 1),
    position: count(model, "position", undefined, length - 1 - k),
  };
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "position-waves" });
  let now = read(model);
  let codes = [];
  const map = heatmap(view, {
    caption: WORDS.map, role: "residual", rowAxis: WORDS.rowAxis, columnAxis: WORDS.columnAxis, signed: true,
    presses: "follows it", speak: (c, p) => WORDS.cell(p, c, now.d, now.base, codes[p][c]),
    press: (c, p) => report(model, { column: c, position: Math.min(p, now.length - 1 - now.k) }),
  });
  const wave = chart(view, { caption: WORDS.wave, xTitle: WORDS.x, yTitle: WORDS.y, low: -1, high: 1.25,
    height: 210 });
  const lengths = chart(view, { caption: WORDS.lengths, xTitle: WORDS.pair, yTitle: WORDS.turns, logY: true,
    height: 210, digits: 1 });
  const alike = heatmap(view, { caption: WORDS.alike, role: "score", rowAxis: WORDS.x, columnAxis: WORDS.x,
    signed: true,
    press: (p, q) => report(model, { position: Math.min(p, q), 
      k: Math.min(limits(model, "k").high, Math.abs(p - q)) }),
    presses: "compares them" });
  const curve = chart(view, { caption: WORDS.row, xTitle: WORDS.x, yTitle: WORDS.likeness, high: 1,
    height: 260 });
  const clocks = pairClocks(view, { caption: WORDS.clocks, press: (i) => report(model, { column: 2 * i }) });
  slider(view, model, "d", { label: WORDS.d });
  slider(view, model, "base", { label: WORDS.base, scale: "power", radix: 10, show: WORDS.whole });
  slider(view, model, "length", { label: WORDS.length });
  slider(view, model, "column", { label: WORDS.column, max: () => read(model).d - 1 });
  slider(view, model, "position", { label: WORDS.position,
    max: () => read(model).length - 1 - read(model).k });
  const step = slider(view, model, "k", { label: WORDS.k, max: () => read(model).length - 1 });
  const chosen = tabs(view, model, "view", { label: WORDS.views, options: WORDS.options });
  view.panes.append(map.pane, chosen.box, wave.pane, lengths.pane, alike.pane, curve.pane, clocks.pane);

  view.onDraw(() => {
    now = read(model);
    const { d, base, length, column, position, k } = now;
    const [positions, pairs, i] = [Array.from({ length }, (_, p) => p), d / 2, column >> 1];
    codes = sinusoidal(positions, d, base);
    const names = positions.map(String);
    const wavelength = (2 * Math.PI) / speed(i, d, base);
    const likeness = positions.map((p) => inner(codes[p], codes[0]) / pairs);
    map.draw({ values: codes[0].map((_, c) => codes.map((code) => code[c])), top: 1, columns: names,
      rows: codes[0].map((_, c) => String(c)), focus: { row: column, column: position } });
    step.show(now.view !== "wave");
    if (now.view === "wave") {
      const series = [2 * i, 2 * i + 1].map((c) =>
        ({ name: WORDS.here(c), role: "residual", y: codes.map((code) => code[c]), dashed: c !== column }));
      const turn = wavelength < length - 1 ? [{ x: wavelength, name: WORDS.lambda(wavelength) }] : [];
      wave.draw({ x: positions, series, at: position, marks: turn });
      const all = Array.from({ length: pairs }, (_, n) => (2 * Math.PI) / speed(n, d, base));
      lengths.draw({ x: all.map((_, n) => n), at: i, marks: [{ y: length, name: WORDS.text }],
        series: [{ name: WORDS.lengths, role: "residual", y: all }] });
    } else [wave, lengths].forEach((one) => one.draw(null));
    if (now.view === "similarity") {
      alike.draw({ values: positions.map((p) => positions.map((q) => likeness[Math.abs(p - q)])), top: 1,
        rows: names,
        columns: names, focus: { row: position, column: position + k } });
      curve.draw({ x: positions, at: position + k,
        marks: [{ x: position + k, name: WORDS.stop(position + k) }],
        series: [{ name: WORDS.curve(position), role: "score",
          y: positions.map((q) => likeness[Math.abs(position - q)]) }] });
    } else [alike, curve].forEach((one) => one.draw(null));
    clocks.draw(now.view !== "shift" ? null : Array.from({ length: pairs }, (_, n) => speed(n, d, base)),
      { p: position, k, chosen: i });
    const ends = [position, position + k].map((p) => codes[p].slice(2 * i, 2 * i + 2));
    view.say(WORDS.said[now.view](now, i, wavelength, likeness[k], ends));
    report(model, { wavelength, similarity: likeness[k] });
  });
  return live(model, view, () => read(model));
}

export default guard(render);
