/** Who may see whom: the mask, the weights under it, and what reaches what after some layers. */
import { choice, count, frame, guard, h, heatmap, legend, live, report, select, slider, words } from "./kit.js";
import { gaussian, maskedSoftmax, masks, matrix } from "./twin.js";

const KINDS = [
  ["causal", "causal"], ["full", "full"], ["prefix", "prefix"], ["sliding_window", "sliding window"],
  ["dilated", "dilated window"], ["global_window", "global + window"], ["padding", "padding"],
];
/** Masks in which a query sees later keys on purpose. */
const TWO_WAY = ["full", "prefix", "padding"];
const NEEDS = { window: ["sliding_window", "dilated", "global_window"], dilation: ["dilated"],
  n_global: ["global_window"], prefix_len: ["prefix"], length: ["padding"] };

const RANGES = { window: [1, 24], dilation: [1, 8], n_global: [0, 8], prefix_len: [0, 24], length: [0, 24], layers: [1, 24] };
/** No window holds more than T keys, and no influence needs more than T layers; a step is no number of tokens. */
const most = (name, T) => (name === "dilation" ? 8 : Math.min(T, RANGES[name][1]));

function read(model) {
  const T = count(model, "T", 2, 24, 8);
  const s = { T, kind: choice(model, "kind", KINDS.map(([k]) => k)) };
  for (const [name, [low]] of Object.entries(RANGES)) s[name] = count(model, name, low, most(name, T));
  const flips = Array.isArray(model.get("flips")) ? model.get("flips") : [];
  const inside = (n) => Number.isInteger(n) && n >= 0 && n < T;
  s.flips = flips.filter((cell) => Array.isArray(cell) && cell.length === 2 && cell.every(inside));
  const given = words(model, "tokens");
  s.tokens = given.length === T ? given : [];
  return s;
}

/** The mask of a kind, and the line of Python that makes it. */
const MAKE = {
  full: ({ T }) => [masks.full(T), `masks.full(${T})`],
  causal: ({ T }) => [masks.causal(T), `masks.causal(${T})`],
  prefix: ({ T, prefix_len: n }) => [masks.prefix(T, n), `masks.prefix(${T}, prefix_len=${n})`],
  sliding_window: ({ T, window: w }) => [masks.slidingWindow(T, w), `masks.sliding_window(${T}, window=${w})`],
  dilated: ({ T, window: w, dilation: d }) => [masks.dilated(T, w, d), `masks.dilated(${T}, window=${w}, dilation=${d})`],
  global_window: ({ T, window: w, n_global: g }) => [masks.globalWindow(T, w, g), `masks.global_window(${T}, window=${w}, n_global=${g})`],
  padding: ({ T, length: n }) => [Array(T).fill(masks.padding([n], T)[0]), `masks.padding(torch.tensor([${n}]), ${T})`],
};

function render({ model, el }) {
  const view = frame(el, { title: "Mask explorer", name: "mask-explorer" });
  // Flips belong to the mask they were made on: in another one they would open and close other cells.
  select(view, model, "kind", { label: "mask", options: KINDS, before: () => { if (read(model).flips.length) model.set("flips", []); } });
  slider(view, model, "T", { label: "tokens T", min: 2, max: 24 });
  const range = (name, label, into) => slider(view, model, name,
    { label, min: RANGES[name][0], max: () => most(name, read(model).T), into });
  const extra = {
    window: range("window", "window"), dilation: range("dilation", "dilation"), n_global: range("n_global", "global tokens"),
    prefix_len: range("prefix_len", "prefix length"), length: range("length", "real tokens"),
  };

  const flip = (i, j) => {
    const flips = read(model).flips;
    const rest = flips.filter(([a, b]) => a !== i || b !== j);
    model.set("flips", rest.length < flips.length ? rest : [...flips, [i, j]]);
    model.save_changes();
  };
  const seen = (i, j) => `query ${name(i)} ${now.mask[i][j] ? "sees" : "does not see"} key ${name(j)}`;
  const grid = heatmap(view, { caption: "Mask (press to flip)", role: "query", press: flip, speak: seen, tellInCaption: true });
  const weights = heatmap(view, { caption: "Weights under it", role: "weight" });
  const reach = heatmap(view, {
    caption: "Reach after the layers", role: "output", rowAxis: "output", columnAxis: "input",
    speak: (i, j) => `output ${name(i)} ${now.reach[i][j] ? "depends" : "does not depend"} on input ${name(j)}`,
  });
  view.panes.append(grid.pane, weights.pane, reach.pane);
  range("layers", "layers", reach.pane);
  const code = h("code", {});
  const clear = h("button", { type: "button", class: "p-button", onclick: () => { model.set("flips", []); model.save_changes(); } }, "Undo my flips");
  grid.pane.append(h("div", { class: "p-under" }, clear));
  view.sentence.before(
    legend(["query", "may attend"], ["weight", "weight"], ["output", "depends on"], ["mask", "masked, or out of reach"], ["leak", "a later token, by mistake"]),
    h("p", { class: "p-code" }, code));

  const draws = gaussian(168, 24 * 24);
  let now = null;
  const name = (i) => now.tokens[i] ?? String(i + 1);

  view.onDraw(() => {
    const s = read(model);
    const [plain, line] = MAKE[s.kind](s);
    const mask = plain.map((row) => [...row]);
    s.flips.forEach(([i, j]) => { mask[i][j] = !mask[i][j]; });
    const later = future(mask);
    // What was opened by hand, or follows from it, is outlined; what the mask means to show is not.
    const twoWay = TWO_WAY.includes(s.kind);
    const meant = twoWay && s.flips.length ? future(masks.reach(plain, s.layers)) : null;
    const marked = (open) => (twoWay && !meant ? null : future(open).map((row, i) => row.map((x, j) => x && !meant?.[i][j])));
    now = { ...s, mask, reach: masks.reach(mask, s.layers) };
    for (const [trait, control] of Object.entries(extra)) control.show(NEEDS[trait].includes(s.kind));
    const ones = (m) => m.map((row) => row.map(Number));
    const named = { rows: s.tokens, columns: s.tokens };
    grid.draw({ values: ones(mask), mask, marks: marked(mask), top: 1, print: false, ...named });
    weights.draw({ values: maskedSoftmax(matrix(s.T, s.T, (i, j) => draws[i * 24 + j]), mask), mask, top: 1, ...named });
    reach.draw({ values: ones(now.reach), mask: now.reach, marks: marked(now.reach), top: 1, print: false, ...named });
    const flipped = s.flips.length ? `  with ${s.flips.length} cell${s.flips.length > 1 ? "s" : ""} flipped` : "";
    code.textContent = line + flipped;
    clear.disabled = !s.flips.length;
    view.say(sentence(now, later));
    const leaks = later.flatMap((row, i) => row.flatMap((open, j) => (open ? [[i, j]] : [])));
    report(model, { allowed: mask.flat().filter(Boolean).length, leaks });
  });
  return live(model, view, used);
}

/** The values that are used. Flips outside a mask that has become smaller wait there. */
function used(model) {
  const { flips, tokens, ...rest } = read(model);
  return rest;
}

/** The open cells above the diagonal: a later token that is seen. */
const future = (mask) => mask.map((row, i) => row.map((open, j) => open && j > i));

function sentence({ kind, T, mask, reach, layers, tokens }, later) {
  const name = (i) => tokens[i] ?? String(i + 1);
  const open = mask.flat().filter(Boolean).length;
  const parts = [`${open} of ${T * T} cells are open.`];
  const blind = mask.flatMap((row, i) => (row.some(Boolean) ? [] : [name(i)]));
  if (blind.length === 1) parts.push(`Query ${blind[0]} sees nothing: its weights are all zero.`);
  if (blind.length > 1) parts.push(`Queries ${blind.join(", ")} see nothing: their weights are all zero.`);
  const leaks = later.flat().filter(Boolean).length;
  if (!leaks) parts.push("No query sees a later key.");
  else {
    const letting = `${leaks} cell${leaks > 1 ? "s let a query" : " lets a query"} see a later key`;
    const whom = future(reach).flatMap((row, i) => (row.some(Boolean) ? [name(i)] : []));
    if (TWO_WAY.includes(kind)) parts.push(`${letting}: right in an encoder, a leak in a decoder.`);
    else parts.push(`${letting}: later tokens leak into output ${whom.slice(0, 8).join(", ")}${whom.length > 8 ? ", …" : ""}.`);
  }
  const last = reach[T - 1].filter(Boolean).length;
  parts.push(`After ${layers} layer${layers > 1 ? "s" : ""} the last output depends on ${last} of ${T} inputs, its own among them.`);
  return parts.join(" ");
}

export default guard(render);
