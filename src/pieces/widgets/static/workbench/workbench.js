/** A Transformer block whose parts are swapped: what it costs, how it starts, how it learns, and its code. */
import { board } from "./drawing.js";
import { exact, stops } from "../kit/exact.js";
import { KINDS, PRESETS, SIZES, SWITCHES, fitted, gated, partsOf, signature, widthOf } from "./bench.js";
import { PARTS, cacheNumbers, countParts, operationsByPart, reach, scoreParameters, tokenOperations,
} from "../twin/costs.js";
import { chart } from "../kit/charts.js";
import { beforeControl, choice, count, frame, guard, h, limits, live, report, select, setter,
  toggle } from "../kit/kit.js";
import { codeBoard } from "./code_board.js";
import { line, lines } from "./line.js";
import { looked } from "./probe.js";
import { giga, parts, whole } from "../kit/parts.js";
import { divisors } from "../kit/scales.js";
import { stepsTable } from "./steps_table.js";
import { trainedBoard } from "./trained_board.js";
import { WORDS } from "./words.js";

const ROLES = { embedding: "query", positions: "key", attention: "weight", "feed-forward": "value",
  router: "score", norms: "residual", head: "output" };
const ALL = [...SIZES, ...KINDS, ...SWITCHES];

/** What the reader wishes: each part in its own range, whatever the others say. */
const wished = (model) => /** @type {import("./bench.js").Wish} */ (Object.fromEntries([
  ...SIZES.map((name) => [name, count(model, name)]), ...KINDS.map((name) => [name, choice(model, name)]),
  ["bias", model.get("bias") === true], ["tied", model.get("tied") !== false]]));
const read = (model) => fitted(wished(model));
/** Parts from elsewhere, whatever stands there: each in its range, what is missing as it is when new. */
const sane = (model, given) => wished({ get: (name) => (name === "_limits" ? model.get(name)
  : given?.[name] ?? limits(model, name).default) });
const isObject = (x) => typeof x === "object" && x !== null && !Array.isArray(x);

/** What the record says, as far as it can be drawn. */
function trainedOf(model) {
  const { base, steps, variants } = isObject(model.get("measured")) ? model.get("measured") : {};
  const good = (one) => isObject(one) && typeof one.name === "string" && Array.isArray(one.above)
    && one.above.length > 0 && one.above.every(Number.isFinite);
  return { base: isObject(base) ? base : {}, steps: Number.isFinite(steps) ? steps : 0,
    variants: (Array.isArray(variants) ? variants : []).filter(good)
      .map((one) => ({ ...one, swap: isObject(one.swap) ? one.swap : {} })) };
}
/** @returns {any} */
const only = (s) => Object.fromEntries(ALL.map((name) => [name, s[name]]));
const known = (s) => Object.keys(PRESETS).find((name) =>
  signature({ ...s, ...PRESETS[name] }) === signature(s)) ?? "";

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "workbench" });
  const put = setter(model);
  const proxy = { get: () => known(read(model)), save_changes() {},
    set: (_, name) => (name in PRESETS ? put(PRESETS[name]) : view.redraw()) };
  select(view, proxy, "preset", { label: WORDS.preset,
    options: [...Object.entries(WORDS.presets), ["", WORDS.own]] });

  const controls = h("div", { class: "p-bench-controls" });
  const mark = (name) => () => {
    const [wish, is] = [wished(model), read(model)];
    if (name === "d_ff") return gated(is) ? WORDS.marks.d_ff(wish, widthOf(is)) : "";
    if (name === "prefix_len" && is.mask !== "prefix") return "";
    return wish[name] === is[name] ? "" : WORDS.marks[name](wish, is);
  };
  const kinds = Object.fromEntries(Object.entries(WORDS.kinds).map(([name, label]) => {
    const one = select(view, model, name, { label, options: Object.entries(WORDS.options[name]) });
    controls.append(one.box);
    return [name, one];
  }));
  const note = h("p", { class: "p-mark", role: "status" });
  kinds.place.box.append(note);
  const among = { n_kv_heads: () => divisors(read(model).n_heads),
    n_chosen: () => divisorsTo(read(model).n_experts), prefix_len: () => stops(1, read(model).length) };
  const complaint = h("p", { class: "p-note", role: "status" });
  const sliders = Object.fromEntries(Object.entries(WORDS.sizes).map(([name, label]) => {
    const fixed = stops(limits(model, name).low, limits(model, name).high);
    exact(view, model, name, { label, exactly: name === "n_kv_heads" || name === "n_chosen" ? ""
      : WORDS.exactly(label), among: among[name] ?? (() => fixed), used: () => read(model)[name],
    into: controls, mark: name in WORDS.marks ? mark(name) : undefined,
    complain: (text) => { complaint.textContent = text; } });
    return [name, controls.lastElementChild];
  }));
  const switches = Object.entries(WORDS.switches).map(([name, label]) =>
    toggle(view, model, name, { label }));
  controls.append(h("div", { class: "p-switches" }, ...switches.map(({ box }) => box)), complaint);

  /** @type {string|null} */
  let held = null;
  /** @type {string|null} */
  let pointed = null;
  const point = (part) => { pointed = part; light(); };
  const press = (part) => { held = held === part ? null : part; pointed = null; light(); };
  const told = h("p", { class: "p-bench-told", role: "status" });
  const picture = board(WORDS.drawing, { point, press, name: (part) => WORDS.parts[part] });
  const code = codeBoard(WORDS, { point, press });
  const counted = parts(view, { caption: WORDS.counted, unit: WORDS.unit,
    point: (_, p) => point(p === null ? null : now.shown[p]) });
  const facts = Object.fromEntries(Object.keys(WORDS.facts).map((name) =>
    [name, { value: h("dd", {}), how: h("dd", { class: "p-how" }), was: h("dd", { class: "p-was" }) }]));
  const sheet = h("dl", { class: "p-facts" }, ...Object.entries(WORDS.facts).map(([name, label]) =>
    h("div", { "data-fact": name }, h("dt", {}, label), ...Object.values(facts[name]))));
  const table = stepsTable(view, WORDS, { point, press });
  const signals = chart(view, { caption: WORDS.signals, xTitle: WORDS.at, yTitle: WORDS.size, logY: true,
    digits: 3, height: 230, low: 0.1, high: 10 });
  const small = h("p", { class: "p-bench-small" });
  const trained = trainedBoard(view, WORDS, { take: (swap) => put(variant(swap)) });
  const measured = () => trainedOf(model);
  const variant = (swap) => sane(model, { ...PRESETS.baseline, ...measured().base, ...swap });
  view.panes.append(
    h("div", { class: "p-bench" }, h("div", { class: "p-bench-left" }, picture.svg), controls),
    told, sheet, trained.pane, code.pane, counted.pane, table.pane, signals.pane, small);

  /** @type {{s: any, counts: any, ops: any, shown: string[]}} */
  let now = { s: null, counts: {}, ops: {}, shown: [] };
  function light() {
    const part = pointed ?? held;
    for (const node of view.root.querySelectorAll("[data-part]")) {
      if (node.closest(".p-part-board")) continue;
      node.classList.toggle("p-on", node.getAttribute("data-part") === part);
    }
    for (const node of picture.svg.querySelectorAll("[role=button]")) {
      node.setAttribute("aria-pressed", String(node.getAttribute("data-part") === held));
    }
    const bar = part === "score" || part === "mask" ? "attention" : part;
    const at = now.shown.indexOf(bar ?? "");
    counted.light(at < 0 ? null : { w: 0, p: at });
    told.textContent = part === null ? WORDS.hint : tell(part);
  }
  function tell(part) {
    const { s, counts, ops } = now;
    if (part === "mask") return WORDS.bare.mask;
    if (part === "layers") return WORDS.bare.layers(s.n_layers);
    if (part === "score") return WORDS.bare.score(s.n_layers * scoreParameters(s.score, s.head_dim));
    const share = Math.round((1000 * counts[part]) / counts.total) / 10;
    return WORDS.lit(WORDS.parts[part], counts[part], share, ops[part]);
  }

  const turned = beforeControl(ALL, only(wished(model)));
  const before = (wish) => turned(only(wish),
    isObject(model.get("before")) ? only(sane(model, model.get("before"))) : null,
    (one, other) => signature(fitted(one)) === signature(fitted(other)));
  const cacheOf = (s) => (s.mask === "full" ? null : cacheNumbers(s));
  const figures = (s) => {
    const p = partsOf(s);
    const [counts, cache] = [countParts(p), cacheOf(s)];
    return { total: whole(counts.total), operations: giga(tokenOperations(p, s.length)),
      cache: cache === null ? WORDS.no : whole(cache),
      text: cache === null ? WORDS.no : giga(cache * reach(p, s.length)) };
  };
  const bar = (name, s) => {
    const counts = countParts(partsOf(s));
    return { name, parts: now.shown.map((part) =>
      ({ name: WORDS.parts[part], role: ROLES[part], value: counts[part] })) };
  };
  const shared = ({ forward, backward }) => [forward, backward];

  view.onDraw(() => {
    const wish = wished(model);
    const s = fitted(wish);
    const p = partsOf(s);
    const was = before(wish);
    const old = was && fitted(was);
    const [counts, ops] = [countParts(p), operationsByPart(p, s.length)];
    const total = tokenOperations(p, s.length);
    const then = old && countParts(partsOf(old));
    now = { s, counts, ops, shown: PARTS.filter((name) => counts[name] || then?.[name]) };
    note.textContent = wish.place === s.place ? "" : WORDS.marks.place();
    const needs = { window: s.mask === "window", prefix_len: s.mask === "prefix", n_chosen: wish.n_experts > 1
      || wish.n_chosen > 1 };
    for (const [name, seen] of Object.entries(needs)) {
      /** @type {HTMLElement} */ (sliders[name]).hidden = !seen;
    }
    picture.draw(s, WORDS.draw);
    code.draw(lines(s), line(s));
    counted.draw([bar(WORDS.now, s), ...(old ? [bar(WORDS.before, old)] : [])]);
    const [is, ghost] = [figures(s), old && figures(old)];
    for (const [name, { value, how, was: past }] of Object.entries(facts)) {
      value.textContent = is[name];
      const told_ = WORDS.how[name];
      how.textContent = typeof told_ === "function" ? told_(reach(p, s.length)) : told_;
      past.textContent = ghost && ghost[name] !== is[name] ? WORDS.was(ghost[name]) : "";
    }
    table.draw(s);
    const look = looked(s);
    const [forward, backward] = shared(look);
    const ghosts = old ? shared(looked(old)) : [];
    const along = (list) => (list && list.length === forward.length ? list : undefined);
    signals.draw({ x: forward.map((_, n) => n / 2), series: [
      { name: WORDS.forward, role: "residual", y: forward, ghost: along(ghosts[0]) },
      { name: WORDS.backward, role: "score", y: backward, dashed: true, ghost: along(ghosts[1]) }] });
    small.textContent = WORDS.small(look.own, look.small) + WORDS.ends(forward, backward);
    const above = trained.draw(measured(), s,
      (swap) => signature(fitted(variant(swap))));
    view.say(WORDS.say(s, counts, total, cacheOf(s)));
    light();
    report(model, { preset: known(s), code: line(s), parameters: counts, operations: total,
      cache: cacheOf(s), before: was,
      built: Object.fromEntries(ALL.filter((name) => wish[name] !== s[name]).map((name) => [name, s[name]])),
      forward, backward, above_floor: above });
  });
  return live(model, view, wished);
}

const divisorsTo = (n) => Array.from({ length: n }, (_, i) => i + 1);

export default guard(render);
