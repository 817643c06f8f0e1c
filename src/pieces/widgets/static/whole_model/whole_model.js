/** WholeModel: a trained model at work on typed text, whole; each part can be opened, and pulled out. */
import { choice, count, frame, guard, h, limits, live, report, setter, text } from "../kit/kit.js";
import { typedText } from "../kit/typed_text.js";
import { behind } from "../stories/prose.js";
import { truths } from "../stories/truth.js";
import { votes } from "../twin/inside.js";
import { loadModel } from "../twin/model.js";
import { choose } from "../twin/sampling.js";
import { parts } from "../twin/switches.js";
import { uniform } from "../twin/twin.js";
import { arrange, barsOf, floorOf, keyOf } from "./below.js";
import { costOf, loudest, reader, stripsOf, sumsOf } from "./columns.js";
import { filmOf } from "./film.js";
import { layoutOf, PHONE } from "./layout.js";
import { nextRows, nextWords } from "./next_words.js";
import { opened } from "./opened.js";
import { partRows } from "./part_rows.js";
import { picture } from "./picture.js";
import { sideOf } from "./side.js";
import { wholeTables } from "./tables.js";
import { drawnTold, restTold, stepsOf } from "./tell.js";
import { trials } from "./trials.js";
import { WORDS } from "./words.js";

const short = (value) => value.toFixed(1).replace(/^-0\.0$/, "0.0").replace("-", "−");

async function render({ model: traits, el }) {
  const model = await loadModel(traits);
  const { vocabulary, layers, heads } = model;
  const [names, strips] = [parts(model), stripsOf(model)];
  const experts = model.config.n_experts ?? 0;
  const most = Math.min(limits(traits, "word").high, model.longest);
  const view = frame(el, { title: WORDS.title, name: "whole-model" });
  const [read, readPulled, truthOf] = [reader(model), reader(model), truths(model)];
  const links = traits.get("links") ?? {};
  const trial = trials(model, { done: () => view.redraw() });
  const put = setter(traits);
  let hovered = /** @type {number|null} */ (null);
  let pointed = /** @type {string|null} */ (null);
  let width = 0;
  let computed = 0;
  let visited = false; // parts are tried for somebody who is there
  let picks = 0; // how often the pointer has moved over an opened part
  let drawn = ""; // the text behind which a word was drawn, with it

  /** The traits as they are used, and what is computed from them. */
  function now() {
    const { ids: all, unknown } = model.encode(text(traits, "text"));
    const ids = all.slice(0, most);
    const given = traits.get("off");
    const off = [...new Set(Array.isArray(given) ? given : [])].filter((name) => names.includes(name)).sort();
    const word = Math.min(count(traits, "word"), ids.length);
    const wanted = text(traits, "part");
    const known = [...names, "next word", "embedding"].includes(wanted);
    const steps = stepsOf(strips).length;
    return { ids, unknown, over: all.length > ids.length, words: ids.map((id) => vocabulary[id]), off, word,
      step: Math.min(count(traits, "step"), steps) % steps, layer: count(traits, "layer", undefined, layers),
      open: known ? wanted : "", target: model.idOf(text(traits, "target")), bars: choice(traits, "bars") };
  }
  let drawnLayer = 0;
  const turn = (name) => {
    const { off } = now();
    const left = off.includes(name) ? off.filter((one) => one !== name) : [...off, name];
    put({ off: left, ...(tabs.hidden ? {} : { layer: drawnLayer }) }); // where a finger is, it stays
  };
  const open = (name) => { inner.expect(); put({ part: name }); };
  const close = () => { const { open: from } = now(); put({ part: "" }); back(from); };

  const typing = { get: traits.get.bind(traits), save_changes: () => traits.save_changes(),
    set: (name, value) => { film.quiet(); traits.set({ [name]: value, word: 0, target: "" }); } };
  const field = typedText(view, typing, model, WORDS);
  const next = nextWords({ press: (id) => put({ target: now().target === id ? "" : vocabulary[id] }) });
  const seen = picture({ strips, layers, heads, experts, vocabulary, label: WORDS.picture,
    press: (t) => put({ word: t + 1 === now().ids.length ? 0 : t + 1 }),
    point: (t) => { if (t !== hovered) { hovered = t; view.redraw(); } } });
  const rows = partRows({ parts: names, experts: experts > 0, links, open, turn,
    point: (name) => { pointed = name; view.redraw(); } });
  const side = sideOf({ strips, open });
  const inner = opened(view, { model, links, close, measured, touched: () => { picks++; view.redraw(); } });
  const stage = h("div", { class: "w-stage" }, seen.svg, side.box, rows.box);
  const tabs = h("div", { class: "p-tabs w-layers", role: "group", "aria-label": WORDS.layers },
    ...Array.from({ length: layers }, (_, l) => h("button", { type: "button", class: "p-tab",
      onclick: () => put({ layer: l + 1 }) }, WORDS.layer(l + 1))));
  const keys = keyOf({ fed: strips.some((name) => name.endsWith(".feed_forward")), experts: experts > 0 });
  const body = h("div", { class: "w-body" }, tabs, stage, keys.box, inner.box,
    h("div", { class: "w-side" }, next.box, inner.sum));
  const floor = floorOf(model);
  const lead = h("p", { class: "w-lead" }, WORDS.lead([...model.weights.values()].reduce((sum, { data }) =>
    sum + data.length, 0)));
  const foot = h("div", { class: "w-foot" }, field.box, view.sentence, floor);
  const one = h("button", { type: "button", class: "p-button w-one", title: WORDS.chance,
    onclick: () => say() }, WORDS.one);
  const reset = h("button", { type: "button", class: "p-button w-reset", onclick: () => put({ off: [] }) },
    WORDS.reset);
  view.controls.before(lead);
  const film = filmOf(view, { model, strips, seen, side, rows, next, stage, traits, latest: () => latest });
  view.controls.append(one, reset);
  const bars = barsOf(view, traits);
  stage.append(bars.box);
  view.panes.append(body);
  view.panes.after(foot);
  const around = { view, foot, body, stage, rows, keys, film, bars, floor };

  /** What many stories told of a unit: the words that open it. */
  function measured(l, unit) {
    const { words } = traits.get("opened")?.[`${l}.${unit}`] ?? {};
    return Array.isArray(words) ? words.slice(0, 3).map((pair) => vocabulary[pair?.[0]]).filter(Boolean)
      : null;
  }
  /** The model says a word: it is drawn, drops into the text, and its column alone rises. */
  function say() {
    const { ids } = now();
    if (!ids.length || !latest) return;
    if (ids.length >= most) { view.say(WORDS.full(most)); return; }
    const column = latest.columns.at(-1);
    const random = uniform(7 + 31 * ids.length + column.id);
    const id = choose(column.at("logits"), { temperature: 1, topP: 0.9, random });
    film.drop(id, ids.length, () => {
      drawn = [...ids, id].join();
      traits.set({ text: continued(id), word: 0, target: "" });
      traits.save_changes();
      view.draw();
    });
  }
  /** The text with one word more, as it is printed: capitals, and no blank before a comma. */
  function continued(id) {
    const { gap, shown } = behind(now().words, vocabulary[id]);
    return text(traits, "text").trim() + gap + (model.idOf(shown) === id ? shown : vocabulary[id]);
  }
  /** The focus goes back to where it came from. */
  function back(name) {
    requestAnimationFrame(() => /** @type {HTMLElement|null} */ (rows.box.querySelector(
      `[data-name="${name}"] .w-part-open`))?.focus());
  }
  for (const come of ["pointerover", "focusin"]) {
    view.root.addEventListener(come, () => { visited = true; view.redraw(); }, { once: true });
  }
  view.root.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && now().open) { event.preventDefault(); close(); }
  });
  seen.svg.addEventListener("keydown", (event) => {
    const ways = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    const by = ways[/** @type {KeyboardEvent} */ (event).key];
    const { ids, word } = now();
    if (!by || !ids.length) return;
    event.preventDefault();
    const to = Math.min(ids.length, Math.max(1, (word || ids.length) + by));
    put({ word: to === ids.length ? 0 : to });
  });

  /** @type {any} */
  let latest = null;
  const tables = wholeTables(view, { strips, names, vocabulary, now: () => latest });
  view.onWidth(body, (wide) => { width = wide; arrange(wide < PHONE, around); view.redraw(); });
  view.onTheme(() => view.redraw());
  view.onDispose(() => trial.stop());
  view.onDraw(() => {
    const state = now();
    const { ids, words, off, unknown, over } = state;
    const asked = film.to(state.step); // a text may come with the step to show
    const other = latest && latest.ids.join() !== ids.join(); // not at the first draw: a link may hold a step
    if (state.open || (film.playing && other && !asked)) film.quiet(); // all stands
    const T = ids.length;
    field.draw({ words, unknown, over });
    [body, film.box].forEach((node) => { node.hidden = !T; });
    one.setAttribute("aria-disabled", String(T >= most));
    reset.hidden = !off.length;
    if (!T) { latest = null; view.say(WORDS.empty); report(traits, nothing); return; }
    const plain = read(ids, []);
    const pulled = off.length ? readPulled(ids, off) : plain;
    computed = pulled.fresh || computed;
    const columns = pulled.columns;
    const before = off.length ? plain.columns : null;
    const t = hovered !== null && hovered < T && !state.open ? hovered : (state.word || T) - 1;
    const column = columns[t];
    const layer = (film.playing && film.layer) || state.layer
      || loudest(sumsOf(votes(model, column.values, column.guess.id, column.row)), layers);
    const layout = layoutOf(width || 690, T, strips, { layer, experts: experts > 0 });
    const wanted = visited || state.bars === "cost";
    const trying = wanted && !off.length && t === T - 1 ? trial.of(ids, t, column.guess.id) : null;
    const key = [ids, off, t, state.open, state.bars, state.target, width, layer, hovered, pointed,
      film.playing, trying !== null, picks].join("|");
    const world = traits.get("world");
    if (latest && key === latest.key && world === latest.world) return; // a letter more, no other word
    const { truth, lost } = truthOf(words.slice(0, t + 1), world);
    const target = state.target ?? column.guess.id;
    const counted = votes(model, column.values, target, column.row, off);
    latest = { ...state, key, world, columns, before, t, layout, strips, model, counted, target, trying,
      truth };
    const out = new Set(names.filter((name) => off.includes(name)
      || off.includes(name.replace(/head\.\d+$/, "attention"))
      || off.includes(name.replace(/expert\.\d+$/, "feed_forward"))));
    const isOff = (name) => out.has(name);
    const silent = (l, n) => isOff(`layer.${l}.head.${n + 1}`);
    const first = nextRows(column.probabilities, before?.[t].probabilities ?? null, truth, vocabulary,
      layout.phone ? 4 : 5, state.target);
    next.draw(words[t], first, state.bars === "votes");
    stage.hidden = Boolean(state.open);
    tabs.hidden = !layout.phone || Boolean(state.open);
    drawnLayer = layer;
    [...tabs.children].forEach((tab, l) => tab.setAttribute("aria-pressed", String(l + 1 === layer)));
    const opening = inner.box.hidden && state.open;
    inner.box.hidden = inner.sum.hidden = !state.open;
    keys.draw(off.length > 0, Boolean(state.open));
    bars.draw([target, column.guess.id].map((id) => vocabulary[id]));
    body.classList.toggle("w-opened", Boolean(state.open));
    body.classList.toggle("w-phone", layout.phone);
    bars.box.style.transform = layout.phone ? "" : `translate(${layout.right + 14}px, ${layout.words.y}px)`;
    body.style.setProperty("--side", `${Math.round(width - layout.right - 14)}px`);
    if (state.open) inner.draw(state.open, { ...latest, words }, open);
    else {
      inner.hide();
      stage.style.height = layout.phone ? "" : `${layout.height}px`;
      const only = /^layer\.(\d+)\.head\.(\d+)$/.exec(pointed ?? "");
      seen.draw({ columns, before, layout, followed: t, silent, off: off.join(),
        only: only ? [Number(only[1]), Number(only[2]) - 1] : null });
      const lostBy = trying && new Map([...trying].map(([name, p]) => [name, column.guess.p - p]));
      const values = state.bars === "votes" ? sumsOf(counted) : lostBy;
      const cost = state.bars === "cost";
      rows.place(layout, layer, layers);
      rows.draw({ isOff, values, top: values ? Math.max(...[...values.values()].map(Math.abs)) : 1,
        say: (name, value) => (cost ? WORDS.bar.cost(name, value)
          : WORDS.bar.votes(name, value, vocabulary[target])),
        show: (value) => (cost ? WORDS.loss(value) : short(value)),
        wait: WORDS.bar.waits[off.length ? "on" : t < T - 1 ? "last" : "now"] });
      seen.tell(t, T, WORDS.at(words[t], t + 1, T, vocabulary[column.guess.id], column.guess.p));
      side.draw({ column, before: before?.[t] ?? null, layout, vocabulary, experts });
      film.rise();
    }
    if (opening) inner.arrive();
    const costs = before ? /** @type {[number, number]} */ ([costOf(plain.columns), costOf(columns)]) : null;
    if (!film.playing) view.say(restTold({ column, before: before?.[t] ?? null, word: words[t], vocabulary,
      off, strips, truth, lost: lost >= 0 ? words[lost] : null, first: lost === 0,
      tried: trying, costs: costs && Number.isFinite(costs[0]) ? costs : null,
      said: t === T - 1 && ids.join() === drawn ? drawnTold(columns, words) : "" }));
    report(traits, { next_words: first.map((row) => [row.word, row.p, row.truth]),
      continued: T < most ? continued(columns[T - 1].guess.id) : null,
      votes: Object.fromEntries(counted), lens: column.lens.map(({ id, p: share }) =>
        [vocabulary[id], share]),
      computed, text_cost: T > 1 ? costOf(columns) : null,
      losses: trying && Object.fromEntries([...trying].map(([name, p]) => [name, column.guess.p - p])) });
  });
  const nothing = { next_words: [], continued: null, votes: null, lens: [], computed: 0, text_cost: null,
    losses: null };
  film.to(now().step, true);
  const end = live(traits, view, () => { const { off, word, open: opens, bars, step, layer } = now();
    return { off, word, part: opens, bars, step, layer }; });
  return () => { tables.stop(); end(); };
}

export default guard(render);
