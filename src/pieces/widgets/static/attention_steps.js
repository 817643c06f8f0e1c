/** Self-attention in five steps, on numbers that can be edited, with one row written out. */
import {
  choice, count, format, frame, guard, h, heatmap, live, matrixEditor, numbers, report, select, slider, stepper,
} from "./kit.js";
import { masks, selfAttention } from "./twin.js";

const STEPS = ["project", "score", "scale", "softmax", "mix"];
const T = 6;
const WEIGHTS = { Wq: "query", Wk: "key", Wv: "value" };
/** Every matrix: its name, its role, its caption, and whether it is 6 × 6.
 *  @type {[string, string, string, boolean?][]} */
const MAPS = [
  ["X", "residual", "input X"], ["Q", "query", "queries Q"], ["K", "key", "keys K"],
  ["scores", "score", "scores Q Kᵀ", true], ["scaled", "score", "scaled Q Kᵀ / √3", true],
  ["weights", "weight", "weights A", true], ["V", "value", "values V"], ["output", "output", "output Z = A V"],
];
/** The matrices of each step, from left to right. */
const SHOWN = { project: ["X", "Q", "K", "V"], score: ["Q", "K", "scores"], scale: ["scores", "scaled"],
  softmax: ["scaled", "weights"], mix: ["weights", "V", "output"] };
/** Where a row of the matrix belongs to the token that is followed. */
const FOLLOWED = { project: ["X", "Q", "K", "V"], score: ["Q", "scores"], scale: ["scores", "scaled"],
  softmax: ["scaled", "weights"], mix: ["weights", "output"] };

function read(model) {
  /** @type {any} */
  const s = { X: numbers(model, "X", T, 3), step: STEPS[count(model, "step", 0, 4)], row: count(model, "row", 1, T, 2) - 1 };
  for (const trait of Object.keys(WEIGHTS)) s[trait] = numbers(model, trait, 3, 3);
  s.mask = choice(model, "mask", ["none", "causal"]) === "causal" ? masks.causal(T) : null;
  return { ...s, ...selfAttention(s.X, s) };
}

/** The values that are used for the controls. */
const used = (model) => ({ step: count(model, "step", 0, 4), row: count(model, "row", 1, T, 2),
  mask: choice(model, "mask", ["none", "causal"]) });

const four = (x) => format(x, 4);
/** A number as it was typed, up to four digits. */
const typed = (x) => String(Math.round(x * 1e4) / 1e4).replace("-", "−");
const low = (n) => "₁₂₃₄₅₆"[n];
/** a₁·b₁ + a₂·b₂ + …, a negative number in brackets. */
const sum = (a, b, write = four) => {
  const factor = (x) => (x < 0 ? `(${write(x)})` : write(x));
  return a.map((x, i) => `${factor(x)}·${factor(b[i])}`).join(" + ");
};
const column = (m, j) => m.map((row) => row[j]);

/** The arithmetic of one row: lines of { role, result, how }; a heading may carry a raised letter. */
const WRITTEN = {
  project: (s, r) => [["Q", "Wq", "q"], ["K", "Wk", "k"], ["V", "Wv", "v"]].flatMap(([name, W, letter]) => [
    { role: WEIGHTS[W], result: `${letter}${low(r)}`, how: `= x${low(r)} W`, raised: name },
    ...s[name][r].map((x, j) => ({ role: WEIGHTS[W], result: four(x), how: `= ${sum(s.X[r], column(s[W], j), typed)}` })),
  ]),
  score: (s, r) => s.scores[r].map((x, j) => ({
    role: "score", result: four(x), how: `= q${low(r)}·k${low(j)} = ${sum(s.Q[r], s.K[j])}` })),
  scale: (s, r) => s.scaled[r].map((x, j) => ({
    role: "score", result: four(x), how: `= ${four(s.scores[r][j])} / √3 = ${four(s.scores[r][j])} / 1.7321` })),
  softmax(s, r) {
    const open = s.scaled[r].filter((_, j) => !s.mask || s.mask[r][j]);
    const most = Math.max(...open);
    const shift = Math.abs(most) > 20 ? most : 0; // exp of a large number says nothing to a reader
    const power = (x) => (shift ? `exp(${four(x)} − ${four(shift)})` : `exp(${four(x)})`);
    const total = four(open.reduce((a, x) => a + Math.exp(x - shift), 0));
    return [...s.weights[r].map((x, j) => ({
      role: "weight", result: four(x),
      how: s.mask && !s.mask[r][j] ? `: key ${j + 1} is hidden` : `= ${power(s.scaled[r][j])} / ${total}`,
    })), { role: "score", result: total, how: "is the sum of exp over the row" }];
  },
  mix: (s, r) => s.output[r].map((x, j) => ({
    role: "output", result: four(x), how: `= ${sum(s.weights[r], column(s.V, j))}` })),
};

const best = (row) => row.indexOf(Math.max(...row));
const SAID = {
  project: (s, r) => `One row, three roles. Token ${r + 1} asks with q${low(r)}, is found by k${low(r)} and hands over v${low(r)}.`,
  score: (s, r) => `Query ${r + 1} meets all six keys, one dot product each. Key ${best(s.scores[r]) + 1} matches best: ${four(Math.max(...s.scores[r]))}.`,
  scale: () => "All scores are divided by √3, the root of the key size. Their order stays, their spread shrinks.",
  softmax: (s, r) => `Row ${r + 1} is positive now and sums to 1. Key ${best(s.weights[r]) + 1} gets the largest share, ${format(100 * Math.max(...s.weights[r]), 1)} %.`
    + (s.mask ? " Later keys were hidden before the softmax: their weight is 0." : ""),
  mix: (s, r) => `Output ${r + 1} is the weighted average of the value rows. Row ${best(s.weights[r]) + 1} of V counts most.`,
};

function render({ model, el }) {
  const view = frame(el, { title: "Self-attention, step by step", name: "attention-steps" });
  stepper(view, model, "step", { label: "steps", steps: STEPS });
  slider(view, model, "row", { label: "follow token", min: 1, max: T });
  select(view, model, "mask", { label: "mask", options: [["none", "none"], ["causal", "causal"]] });

  let hovered = null;
  let now = null;
  const follows = (name) => FOLLOWED[now.step].includes(name);
  const maps = Object.fromEntries(MAPS.map(([name, role, caption, wide]) => {
    const axes = wide ? {} : { rowAxis: "token", columnAxis: "feature" };
    const map = heatmap(view, {
      caption, role, signed: true, ...axes, presses: "follows that row",
      press(i) { if (follows(name)) { model.set("row", i + 1); model.save_changes(); } },
      point(i) { if (i !== hovered && (i === null || follows(name))) { hovered = i; view.redraw(); } },
    });
    map.pane.classList.add(wide ? "p-wide" : "p-narrow");
    view.panes.append(map.pane);
    return [name, map];
  }));
  const work = written();
  view.sentence.after(work.list);
  view.details.before(editors(view, model));

  view.onDraw(() => {
    now = read(model);
    const row = hovered ?? now.row;
    for (const [name, each] of Object.entries(maps)) {
      each.draw(!SHOWN[now.step].includes(name) ? null : {
        values: now[name], largest: 44, focus: follows(name) ? row : null,
        mask: name === "weights" || (name === "scaled" && now.step === "softmax") ? now.mask : null,
      });
    }
    work.draw(now.step, WRITTEN[now.step](now, row));
    view.say(SAID[now.step](now, row));
    report(model, { query: now.Q[now.row], weights: now.weights, output: now.output });
  });
  return live(model, view, used);
}

/** A list of lines whose nodes are made once. */
function written() {
  const list = h("ul", { class: "p-work", "aria-label": "The arithmetic of the row" });
  const lines = Array.from({ length: 12 }, () => {
    const [result, how, raised] = [h("b", {}), h("span", {}), h("sup", {})];
    return { result, how, raised, node: h("li", {}, result, how, raised) };
  });
  list.append(...lines.map((line) => line.node));
  return {
    list,
    draw(step, texts) {
      list.dataset.step = step;
      lines.forEach(({ node, result, how, raised }, i) => {
        const line = texts[i];
        node.hidden = !line;
        node.dataset.role = line?.role ?? "";
        result.textContent = line?.result ?? "";
        how.textContent = line ? ` ${line.how}` : "";
        raised.textContent = line?.raised ?? "";
      });
    },
  };
}

/** The numbers themselves, folded away; `start` brings back those the page came with. */
function editors(view, model) {
  const start = Object.fromEntries(["X", ...Object.keys(WEIGHTS)].map((trait) => [trait, model.get(trait)]));
  const table = (trait, rows, role, label, ...name) => h("figure", { class: "p-edit" }, h("figcaption", {}, ...name),
    matrixEditor(view, model, trait, { label, rows, columns: 3, role, read: () => numbers(model, trait, rows, 3) }));
  const weights = Object.entries(WEIGHTS).map(([trait, role]) =>
    table(trait, 3, role, `${role} weights`, "W", h("sup", {}, trait[1].toUpperCase())));
  const tables = h("div", { class: "p-edits" }, table("X", T, "residual", "input X", "input X"), h("div", { class: "p-edits" }, ...weights));
  const undo = () => {
    tables.querySelectorAll("input").forEach((input) => input.setAttribute("aria-invalid", "false"));
    for (const [trait, value] of Object.entries(start)) model.set(trait, value);
    model.save_changes();
    view.redraw();
  };
  const back = h("button", { type: "button", class: "p-button p-undo", onclick: undo }, "Undo my edits");
  const first = JSON.stringify(start);
  const offer = () => {
    const edited = JSON.stringify(Object.fromEntries(Object.keys(start).map((trait) => [trait, model.get(trait)]))) !== first;
    back.hidden = !edited && !tables.querySelector('[aria-invalid="true"]');
  };
  tables.addEventListener("input", offer);
  view.onDraw(offer);
  return h("div", { class: "p-editing" }, h("details", { class: "p-details" }, h("summary", {}, "Edit the numbers"), tables), back);
}

export default guard(render);
