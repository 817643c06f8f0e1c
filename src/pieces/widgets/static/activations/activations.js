/**
 * Activations: bends laid over each other, what a gate of them lets through, and the weights it all
 * takes.
 */
import { bends, gates } from "./bends.js";
import { chart } from "../kit/charts.js";
import { bars, choice, count, format, frame, guard, h, heatmap, limits, live, plain, real, select, setter,
  slider, toggle, words } from "../kit/kit.js";
import { tabs } from "../kit/tabs.js";
import { twoThirds } from "../twin/flat.js";

/** Where the curves are drawn: at each place that the cursor may have. */
function placesOf(model) {
  const { low, high, step } = limits(model, "x");
  return Float64Array.from({ length: Math.round((high - low) / step) + 1 },
    (_, i) => Number((low + i * step).toFixed(6)));
}
const GRID = [-3, -2, -1, 0, 1, 2, 3];
const ROLES = { relu: "query", gelu: "key", gelu_tanh: "value", swish: "score", cdf: "weight" };
const KINDS = Object.keys(ROLES);
const number = (n) => n.toLocaleString("en");
const WORDS = {
  title: "Bends and gates", view: "what is shown",
  views: { curves: "Bends", gate: "Gates", size: "Size" },
  names: { relu: "ReLU", gelu: "GELU", gelu_tanh: "GELU by tanh", swish: "Swish", cdf: "Φ alone" },
  gates: { reglu: "ReGLU", geglu: "GeGLU", swiglu: "SwiGLU", glu: "GLU", bilinear: "bilinear" },
  bend: { reglu: "ReLU", geglu: "GELU", swiglu: "Swish", glu: "sigmoid", bilinear: "the number itself" },
  curves: "What goes in, and what comes out", slopeOf: (name) => `slope of ${name}`, show: "functions shown",
  beta: "β of Swish", x: "read at x", slopes: "draw the slopes too", gate: "gate", input: "x", output: "σ(x)",
  map: "What passes: σ(g) · u", g: "g, which opens the gate", u: "u, which wants to pass",
  cell: (g, u, open, out) => `g ${g} opens the gate to ${open}, and u ${u} comes out as ${out}`,
  D: "D, the model’s width", multiple: "two thirds of 4D, rounded",
  multiples: [["1", "down to a whole number"], ["64", "up to a multiple of 64"],
    ["256", "up to a multiple of 256"]],
  weights: "weights, first row = 1", network: "network", sizes: "The weights of one layer, without biases",
  networks: (F, narrow) => [`2 matrices, width ${number(F)}`, `3 matrices, width ${number(F)}`,
    `3 matrices, width ${number(narrow)}`],
  none: "Tick a function, and its curve is drawn.",
  reads: (x, parts) => `At x = ${x}: ${parts.join("; ")}.`,
  part: (name, value, slope) => `${name} ${value}, slope ${slope}`,
  dead: " Where the slope is 0, no gradient passes.",
  said: {
    reglu: "ReGLU shuts completely: for every g below 0 nothing passes.",
    geglu: "GeGLU shuts softly: a little passes for g just below 0, with its sign flipped.",
    swiglu: "SwiGLU shuts softly: a little passes for g below 0, with its sign flipped.",
    glu: "GLU’s gate stays between 0 and 1, so it can only make u smaller.",
    bilinear: "Without a bend the gate is g itself, and what passes is the product g · u.",
  },
  grows: (open) => ` At g = 3 it is open to ${open}, so ${open} · u passes.`,
  size: (D, wide, narrow, two, three, same) =>
    `With D = ${number(D)}, two matrices of width ${number(wide)} hold ${number(two)} weights. `
    + `Three of width ${number(narrow)} hold ${number(three)}: ${same}.`,
  same: "exactly as many", off: (percent) =>
    `${percent} % ${percent.startsWith("−") ? "fewer" : "more"}`.replace("−", ""),
};

function read(model) {
  return {
    view: choice(model, "view"),
    functions: [...new Set(words(model, "functions"))].filter((name) => KINDS.includes(name)),
    beta: real(model, "beta"), x: real(model, "x"),
    slopes: model.get("slopes") === true,
    gate: choice(model, "gate"),
    d_model: count(model, "d_model"),
    multiple_of: choice(model, "multiple_of"),
  };
}

/** A box to tick for each function: they share one trait. */
function boxes(view, model) {
  const turn = (kind) => {
    const { functions } = read(model);
    const rest = functions.filter((name) => name !== kind);
    setter(model)({ functions: rest.length < functions.length ? rest
      : KINDS.filter((name) => name === kind || functions.includes(name)) });
  };
  const inputs = KINDS.map((kind) => h("input", { type: "checkbox", onchange: () => turn(kind) }));
  const box = h("div", { class: "p-functions", role: "group", "aria-label": WORDS.show },
    ...KINDS.map((kind, n) =>
    h("label", { class: "p-control p-toggle", "data-role": ROLES[kind] }, inputs[n],
      h("span", {}, WORDS.names[kind]))));
  view.controls.append(box);
  view.onDraw(() => KINDS.forEach((kind, n) => {
    inputs[n].checked = read(model).functions.includes(kind); }));
  return { show(visible) { box.hidden = !visible; } };
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "activations" });
  const put = setter(model);
  const XS = placesOf(model);
  const which = tabs(view, model, "view", { label: WORDS.view, options: Object.entries(WORDS.views) });
  view.controls.before(which.box);
  const curve = chart(view, { caption: WORDS.curves, xTitle: WORDS.input, yTitle: WORDS.output, height: 260,
    digits: 4,
    read: (i) => { if (i !== null) put({ x: XS[i] }); } });
  const map = heatmap(view, { caption: WORDS.map, role: "output", signed: true, rowAxis: "u",
    columnAxis: "g", digits: 1,
    speak: (i, j) => WORDS.cell(plain(GRID[j]), plain(GRID[6 - i]),
      format(gates[read(model).gate](GRID[j]), 3),
      format(gates[read(model).gate](GRID[j]) * GRID[6 - i], 3)) });
  const axis = h("p", { class: "p-gate-axes" }, `→ ${WORDS.g} · ↑ ${WORDS.u}`);
  map.pane.append(axis);
  const sizes = bars(view, { caption: WORDS.sizes, nameTitle: WORDS.network, digits: 3,
    columns: [{ title: WORDS.weights, role: "output" }] });
  view.panes.append(curve.pane, map.pane, sizes.pane);
  const controls = {
    curves: [boxes(view, model), slider(view, model, "x",
      { label: WORDS.x, show: (x) => plain(x, 2, 2) }),
      slider(view, model, "beta", { label: WORDS.beta,
        show: (b) => plain(b, 1, 1) }),
      toggle(view, model, "slopes", { label: WORDS.slopes })],
    gate: [select(view, model, "gate", { label: WORDS.gate, options: Object.entries(WORDS.gates) })],
    size: [slider(view, model, "d_model", {
      label: WORDS.D, scale: "power", show: number }),
      select(view, model, "multiple_of", { label: WORDS.multiple, options: WORDS.multiples })],
  };
  view.panes.after(view.controls);

  function drawCurves({ functions, beta, x, slopes }) {
    const over = (what) => Float64Array.from(XS, (at) => what(at, beta));
    const series = functions.flatMap((kind) => [
      { name: WORDS.names[kind], role: ROLES[kind], y: over(bends[kind].value),
        dashed: kind === "gelu_tanh" },
      ...(slopes
        ? [{ name: WORDS.slopeOf(WORDS.names[kind]), role: ROLES[kind], y: over(bends[kind].slope),
          dashed: true }] : [])]);
    const low = functions.length ? undefined : { y: XS.map(() => 0), name: "", role: "residual" };
    curve.draw({ x: XS, at: x, series: low ? [low] : series });
    const parts = functions.map((kind) => WORDS.part(WORDS.names[kind],
      format(bends[kind].value(x, beta), 4), format(bends[kind].slope(x, beta), 4)));
    const dead = functions.some((kind) => bends[kind].slope(x, beta) === 0);
    view.say(parts.length ? WORDS.reads(plain(x, 2, 2), parts) + (dead ? WORDS.dead : "") : WORDS.none);
  }
  function drawGate({ gate }) {
    const names = GRID.map((n) => plain(n));
    map.draw({ values: [...GRID].reverse().map((u) => GRID.map((g) => gates[gate](g) * u)), top: 9,
      rows: [...names].reverse(), columns: names });
    view.say(WORDS.said[gate] + WORDS.grows(format(gates[gate](3))));
  }
  function drawSizes({ d_model: D, multiple_of: multiple }) {
    const wide = 4 * D;
    const narrow = twoThirds(wide, Number(multiple));
    const [two, three, same] = [2 * D * wide, 3 * D * wide, 3 * D * narrow];
    sizes.draw({ names: WORDS.networks(wide, narrow),
      series: [{ values: [1, three / two, same / two], top: Math.max(three, same) / two }] });
    view.say(WORDS.size(D, wide, narrow, two, same,
      same === two ? WORDS.same : WORDS.off(format((100 * (same - two)) / two))));
  }
  const draw = { curves: drawCurves, gate: drawGate, size: drawSizes };
  view.onDraw(() => {
    const now = read(model);
    [curve.pane.hidden, sizes.pane.hidden] = [now.view !== "curves", now.view !== "size"];
    if (now.view !== "gate") map.draw(null);
    Object.entries(controls).forEach(([name, list]) => list.forEach((one) => one.show(name === now.view)));
    controls.curves[2].show(now.view === "curves" && now.functions.includes("swish"));
    draw[now.view](now);
  });
  return live(model, view, read);
}

export default guard(render);
