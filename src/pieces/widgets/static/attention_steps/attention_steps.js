/** Self-attention in seven steps, on numbers that can be edited: A × B = C, with one row written out. */
import { arithmetic } from "../kit/arithmetic.js";
import { MAPS, SHOWN, four, lines, low, masked, topOf } from "./attention_matrices.js";
import { editors } from "./attention_steps_edit.js";
import { glides } from "../kit/glide.js";
import {
  choice, count, format, frame, guard, h, heatmap, limits, live, numbers, report, select, slider, stepper,
  words,
} from "../kit/kit.js";
import { masks, selfAttention, transpose } from "../twin/twin.js";

const STEPS = ["query", "key", "value", "score", "scale", "softmax", "mix"];
const WEIGHTS = { Wq: "query", Wk: "key", Wv: "value" };
const named = (s, i) => (s.tokens[i] ? ` (“${s.tokens[i]}”)` : "");
/** The keys that share the largest number of a row, as far as four decimals tell. */
const leaders = (row) => row.flatMap((x, j) => (four(x) === four(Math.max(...row)) ? [j] : []));
const WORDS = {
  title: "Self-attention, step by step", steps: "steps", follow: "follow token", mask: "mask", none: "none",
  causal: "causal",
  token: "token", feature: "feature", query: "query", key: "key", follows: "follows that row or column",
  row: "The arithmetic of the row", kept: ["kept for later", "kept until now"], edit: "Edit the numbers",
  undo: "Undo my edits",
  maps: { X: "input X", Wq: "weights Wq", Wk: "weights Wk", Wv: "weights Wv", Q: "queries Q", K: "keys K",
    V: "values V", Kt: "keys Kᵀ",
    scores: "scores Q Kᵀ", scaled: "scaled scores", weights: "weights A", output: "output O" },
  tables: { X: "input X", Wq: "query weights", Wk: "key weights", Wv: "value weights" },
  hidden: (j) => `: key ${j + 1} is hidden`, sum: " is the sum of exp over the row",
  said: {
    query: (s, i) => `Token ${i + 1}${named(s, i)} asks with q${low(i)}: its row of X meets each column `
      + `of the query weights.`,
    key: (s, i) => `Token ${i + 1}${named(s, i)} can be found by k${low(i)}: the same row of X, other `
      + `weights.`,
    value: (s, i) => `Token ${i + 1}${named(s, i)} has v${low(i)} to hand over. One row of X has become `
      + `three vectors.`,
    score: (s, i) => {
      const first = leaders(s.scores[i]);
      const most = four(Math.max(...s.scores[i]));
      return `Query ${i + 1} meets all six keys, one dot product each. ` + (first.length === 1
        ? `Key ${first[0] + 1}${named(s, first[0])} fits best: ${most}.`
        : `Keys ${first.map((j) => j + 1).join(", ")} fit best, equally well: ${most}.`);
    },
    scale: (s, i) => `Row ${i + 1}, like all rows, is divided by √3, the root of the key size. `
      + (s.scores[i].every((x) => x === s.scores[i][0]) ? "Its scores are equal, and stay so."
        : "The order stays; the spread shrinks."),
    softmax: (s, i) => {
      const first = leaders(s.weights[i]);
      const share = format(100 * Math.max(...s.weights[i]), 1);
      const hides = s.mask && i < s.X.length - 1;
      const positive = s.weights[i].every((x) => x > 0); // a score far below the largest leaves 0
      return `Row ${i + 1} ${positive ? "is positive now and sums to 1" : "sums to 1 now"}. `
        + (first.length === 1
          ? `Key ${first[0] + 1}${named(s, first[0])} gets the largest share, ${share} %.`
          : `Keys ${first.map((j) => j + 1).join(", ")} share the lead with ${share} % each.`)
        + (hides ? " Later keys were hidden before the softmax: their weight is 0."
          : s.mask ? " No key comes later, so the mask hides none." : "");
    },
    mix: (s, i) => {
      const [first, ...others] = leaders(s.weights[i]);
      if (s.mask && !i) return "Output 1 is v₁ itself: under the causal mask token 1 sees nothing else.";
      const rows = s.mask ? `rows 1 to ${i + 1} of V, as the mask allows` : "all the rows of V";
      return `Output ${i + 1} is the weighted average of ${rows}.`
        + (others.length ? "" : ` Row ${first + 1} of V${named(s, first)} counts most.`);
    },
  },
};
const SIGNS = { scale: "÷ √3 =", softmax: "softmax →" };
const KEPT = { Q: 0, K: 1, V: 2 }; // what waits below the picture, and the step that makes it

function read(model) {
  /** @type {any} */
  const s = { X: numbers(model, "X"), step: STEPS[count(model, "step")],
    row: count(model, "row") - 1 };
  for (const trait of Object.keys(WEIGHTS)) s[trait] = numbers(model, trait);
  const T = s.X.length;
  s.mask = choice(model, "mask") === "causal" ? masks.causal(T) : null;
  s.tokens = words(model, "tokens").length === T ? words(model, "tokens") : Array(T).fill("");
  Object.assign(s, selfAttention(s.X, s));
  s.Kt = transpose(s.K);
  const [left, , made] = SHOWN[s.step];
  s.column = count(model, "column", undefined, s[made][0].length) - 1;
  return { ...s, left, made };
}
/** What is framed in each matrix of the step: the row that is followed, and what makes the cell that is. */
function lit(s, name, row, column) {
  const [left, above] = SHOWN[s.step];
  const cell = column === null ? null : { i: row, j: column };
  if (name === above) return { column };
  return name === left && above ? { row } : { row, cell };
}

/** The names as they fit beside a row, and the room that they take there. @param {Element} node */
function fitting(node, names) {
  const brush = h("canvas", {}).getContext("2d");
  brush.font = `11px ${getComputedStyle(node).fontFamily}`;
  const long = (text) => brush.measureText(text).width;
  const short = names.map((name) => {
    let text = name;
    while (text.length > 1 && long(text) > 38) text = `${text.replace("…", "").slice(0, -1)}…`;
    return text;
  });
  return { short, room: Math.ceil(Math.max(18, Math.max(...short.map(long)) + 9)) };
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "attention-steps" });
  stepper(view, model, "step", { label: WORDS.steps, steps: STEPS });
  slider(view, model, "row", { label: WORDS.follow });
  select(view, model, "mask", { label: WORDS.mask,
    options: [["none", WORDS.none], ["causal", WORDS.causal]] });

  /** @type {{row: number|null, column: number|null}} */
  let hovered = { row: null, column: null };
  let now = null;
  const point = (row, column) => {
    if (row === hovered.row && column === hovered.column) return;
    hovered = { row, column };
    view.redraw();
  };
  /** What a cell of a matrix belongs to: a row and a column of the result. */
  const belongs = (name, i, j) => {
    const [left, above] = SHOWN[now.step];
    return { row: name === above ? null : i, column: name === above ? j : name === left && above ? null : j };
  };
  const keep = ({ row, column }) => {
    const again = column === now.column && (row ?? now.row) === now.row;
    if (row !== null) model.set("row", row + 1);
    if (column !== null) model.set("column", again ? 0 : column + 1);
    model.save_changes();
  };
  /** @type {Map<string, HTMLElement>} */
  const panes = new Map();
  const maps = Object.entries(MAPS).map(([name, [role, byToken, toToken]]) => {
    const map = heatmap(view, {
      caption: WORDS.maps[name], role, signed: true, presses: WORDS.follows,
      rowAxis: byToken ? (toToken ? WORDS.query : WORDS.token) : WORDS.feature,
      columnAxis: toToken ? WORDS.key : WORDS.feature,
      press: (i, j) => keep(belongs(name, i, j)),
      point(i, j) {
        if (i === null) point(null, null);
        else { const at = belongs(name, i, j); point(at.row, at.column); }
      },
    });
    map.pane.dataset.columns = toToken ? "6" : "3";
    if (!byToken) map.pane.dataset.shifted = "";
    panes.set(name, map.pane);
    return { name, draw: map.draw, byToken, toToken };
  });
  const [times, equals] = ["p-times", "p-equals"].map((kind) =>
    h("span", { class: `p-operator ${kind}`, "aria-hidden": "true" }, "×"));
  const kept = new Map(Object.keys(KEPT).map((name) =>
    [name, h("span", { class: "p-kept", "data-role": MAPS[name][0] }, name)]));
  const till = h("span", {});
  const store = h("p", { class: "p-store" }, till, ...kept.values());
  view.panes.append(...panes.values(), times, equals, store);
  const work = arithmetic(view, { label: WORDS.row, most: limits(model, "X").rows + 1,
    point: (n) => point(null, n !== null && n < now[now.made][0].length ? n : null),
      press: (n) => keep({ row: null, column: n }) });
  view.sentence.after(work.list);
  view.foot.before(editors(view, model, Object.entries(WORDS.tables).map(([trait, label]) => ({
    trait, label, role: WEIGHTS[trait] ?? "residual",
    title: trait === "X" ? [label] : ["W", h("sup", {}, trait[1].toUpperCase())],
  })), WORDS));

  /** Cells are as large as those of a step, and the names of two matrices, leave room for. */
  let names = [];
  let cell = 0;
  function fit(width) {
    const { short, room } = fitting(view.root, read(model).tokens);
    const wide = width >= 560;
    const side = Math.floor(wide ? (width - 2 * room - 90) / 15 : (width - 2 * room - 28) / 9);
    view.panes.style.setProperty("--cell", `${Math.max(17, Math.min(36, side))}px`);
    view.panes.style.setProperty("--names", `${room}px`);
    view.panes.dataset.wide = String(wide);
    [names, cell] = [short, Math.max(17, Math.min(36, side))];
  }
  fit(view.panes.getBoundingClientRect().width);
  view.onWidth(view.panes, (width) => { fit(width); view.redraw(); });

  const glide = glides(view.panes);
  view.onDispose(glide.stop);
  const things = () => {
    /** @type {[string, HTMLElement][]} */
    const waiting = [...kept].map(([name, node]) => [`kept ${name}`, node]);
    return new Map([...panes, ...waiting].filter(([, node]) => !node.hidden && node.offsetParent));
  };
  /** A matrix comes from where it stood, or from what was kept of it; Kᵀ comes from K. */
  const origins = (name) => {
    const plain = name.replace("kept ", "").replace("Kt", "K");
    return [name, plain, `kept ${plain}`, ...(plain === "K" ? ["Kt"] : [])];
  };
  function paint(row, column) {
    const [left, above, made] = SHOWN[now.step];
    for (const { name, draw, byToken } of maps) {
      const place = { [left]: "left", [above ?? ""]: "above", [made]: "made" }[name];
      panes.get(name).dataset.place = place ?? "";
      draw(!place ? null : {
        values: now[name], largest: cell, least: 20, top: topOf(now, name), mask: masked(now, name),
        rows: byToken && names[0] ? names : [], columns: name === "Kt" && names[0] ? names : [],
        focus: lit(now, name, row, column),
      });
    }
    equals.textContent = SIGNS[now.step] ?? "=";
    view.panes.dataset.product = String(Boolean(above));
    const step = STEPS.indexOf(now.step);
    for (const [name, node] of kept) {
      node.hidden = KEPT[name] >= step;
      node.classList.toggle("p-used", [left, above === "Kt" ? "K" : above].includes(name));
    }
    till.textContent = WORDS.kept[Number(now.step === "mix")];
    store.classList.toggle("p-empty", step === 0);
  }
  let shown = null;
  view.onDraw(() => {
    now = read(model);
    const row = hovered.row ?? now.row;
    const most = now[now.made][0].length;
    const column = hovered.column !== null && hovered.column < most ? hovered.column : now.column < 0 ? null
      : now.column;
    const draw = () => paint(row, column);
    if (shown && shown !== now.step) glide.move(things, draw, origins); else draw();
    shown = now.step;
    work.draw(lines(now, row, WORDS), column);
    view.say(WORDS.said[now.step](now, row));
    report(model, { query: now.Q[now.row], weights: now.weights, output: now.output });
  });
  /** The values that are used for the controls. */
  const used = () => {
    const { column } = read(model);
    return { step: count(model, "step"), row: count(model, "row"), column: column + 1,
      mask: choice(model, "mask") };
  };
  return live(model, view, used);
}

export default guard(render);
