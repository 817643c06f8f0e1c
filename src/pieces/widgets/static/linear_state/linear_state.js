/** Pairs read into a cache that grows and a square that does not; then both are asked for a name. */
import { chart } from "../kit/charts.js";
import {
  bars, count, frame, guard, h, heatmap, limits, live, plural, report, setter, slider, text,
} from "../kit/kit.js";
import { player } from "../kit/player.js";
import { ask, known, pairsOf, squares } from "./memories.js";

const [ROWS, CELL] = [5, 16]; // bars: the best matches; px of a cell
const WORDS = {
  title: "A cache that grows, a square that does not", player: "Pairs read",
  at: (n, of) => `${n} of ${of}`,
  size: "numbers in a key",
  typed: "Pairs of a name and a word, with commas between",
  hint: "Names and what they have. Change them, or add more.",
  loose: (list) => `Not a pair of two words: ${list.map((one) => `“${one}”`).join(", ")}. `,
  over: (n) => `There is room for 24 pairs; ${n} more ${n === 1 ? "is" : "are"} left out. `,
  keys: "The cache: a column for each pair, keys", values: "and values",
  square: "The square: all pairs added up", number: "number", pair: "pair", of: "of the key",
  into: "of the value",
  ask: "Ask for", asked: (name) => `Ask for ${name}`,
  said: "The answer, multiplied by each word’s vector", word: "word", cache: "attention",
  linear: "linear attention",
  curve: "Pairs still known, of those read", read: "pairs read", right: "answered right",
  begin: "Nothing is read yet. Press Play, or step.", none: "Type a name and a word: Tom red.",
  numbers: (n, size, cache) => `${plural(n, "pair")}: the cache holds 2 × ${n} × ${size} = ${cache} numbers, `
    + `the square ${size} × ${size} = ${size * size}. `,
  both: (name, word) => `Asked for ${name}, both say “${word}”, which is right. `,
  one: (name, first, second, truth) => `Asked for ${name}, attention says “${first}” and linear `
    + `attention “${second}”; “${truth}” is right. `,
  wrong: (name, word, truth) => `Asked for ${name}, both say “${word}”; “${truth}” is right. `,
  known: (n, cache, state) => `Of ${plural(n, "pair")}, attention knows ${cache} and linear attention `
    + `${state}.`,
};

/** What is read so far, computed again only for another text or size. @param {number} most pairs */
function reading(most) {
  let [key, kept] = ["", null];
  return (typed, size) => {
    const now = JSON.stringify([typed, size]);
    if (now !== key) {
      const found = pairsOf(typed, size, most);
      const states = squares(found.pairs, size);
      const told = states.map((square, n) => known(found.pairs.slice(0, n), square));
      [key, kept] = [now, { ...found, states, told }];
    }
    return kept;
  };
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "linear-state" });
  const put = setter(model);
  const read = reading(limits(model, "step").high);
  let [last, step] = [0, -1];
  const stage = h("div", { class: "p-stage" });
  view.controls.before(stage);
  const process = player(view, { into: stage, label: WORDS.player, states: 2, tween: 0, dwell: 800,
    show: (at) => { if (Math.round(at) !== step) put({ step: Math.round(at) }); },
    name: (n) => WORDS.at(n, last) });
  slider(view, model, "size", { label: WORDS.size });
  const field = h("textarea", { class: "p-typed", rows: 4, spellcheck: "false", autocapitalize: "off",
    autocomplete: "off", "data-lm-suppress-shortcuts": "true", "aria-label": WORDS.typed,
    oninput: () => put({ text: field.value.slice(0, limits(model, "text").longest) }) });
  const note = h("p", { class: "p-typed-note", role: "status" }, WORDS.hint);
  const names = h("div", { class: "l-names", role: "group", "aria-label": WORDS.ask });
  const asking = h("div", { class: "l-ask" }, h("span", {}, WORDS.ask), names);

  const small = { largest: CELL, print: false };
  const options = { signed: true, rowAxis: WORDS.number, columnAxis: WORDS.pair };
  const keys = heatmap(view, { ...options, caption: WORDS.keys, role: "key" });
  const values = heatmap(view, { ...options, caption: WORDS.values, role: "value" });
  const square = heatmap(view, { caption: WORDS.square, role: "output", signed: true, rowAxis: WORDS.of,
    columnAxis: WORDS.into });
  const answers = bars(view, { caption: WORDS.said, nameTitle: WORDS.word, columns: [
    { title: WORDS.cache, role: "weight", signed: true },
    { title: WORDS.linear, role: "output", signed: true }] });
  const curve = chart(view, { caption: WORDS.curve, xTitle: WORDS.read, yTitle: WORDS.right, height: 190,
    low: 0, high: 1 });
  const cache = h("div", { class: "l-cache" }, keys.pane, values.pane);
  view.panes.before(asking, view.sentence);
  view.panes.append(cache, h("div", { class: "l-asked" }, square.pane, answers.pane), curve.pane,
    h("div", { class: "p-typing" }, field, note));

  const pressed = (event) => {
    const at = Number(event.target.closest("button")?.dataset.at);
    if (at && at <= step) put({ asked: at });
  };
  names.addEventListener("click", pressed);
  let listed = "";
  /** @param {import("./memories.js").Pair[]} pairs @param {number} asked @param {number} step */
  function list(pairs, asked, step) {
    const key = pairs.map(({ name }) => name).join(" ");
    if (key !== listed) {
      listed = key;
      while (names.children.length > pairs.length) names.lastElementChild.remove();
      while (names.children.length < pairs.length) {
        names.append(h("button", { type: "button", class: "p-button",
          "data-at": String(names.children.length + 1) }));
      }
      pairs.forEach(({ name }, n) => {
        names.children[n].textContent = name;
        names.children[n].setAttribute("aria-label", WORDS.asked(name));
      });
    }
    [...names.children].forEach((one, n) => {
      one.setAttribute("aria-disabled", String(n >= step));
      one.setAttribute("aria-pressed", String(n === asked && n < step));
    });
  }
  /** Where the field stands that is typed into: it stays there while nothing can be read. */
  const place = () => field.getBoundingClientRect().top - view.root.getBoundingClientRect().top;
  const transposed = (rows) => rows[0].map((_, j) => rows.map((row) => row[j]));

  view.onDraw(() => {
    const [typed, size] = [text(model, "text"), count(model, "size")];
    const all = read(typed, size);
    const before = last > 0 && !all.pairs.length ? place() : null;
    if (all.pairs.length) field.parentElement.removeAttribute("style");
    last = all.pairs.length;
    step = Math.min(count(model, "step"), last);
    process.limit(last + 1);
    if (process.position !== step && !process.playing) process.jump(step);
    if (field.value !== typed) field.value = typed;
    note.textContent = (all.loose.length ? WORDS.loose(all.loose) : "")
      + (all.over ? WORDS.over(all.over) : "") || WORDS.hint;
    const pairs = all.pairs.slice(0, step);
    const asked = Math.min(count(model, "asked"), Math.max(1, step)) - 1;
    list(all.pairs, asked, step);
    asking.hidden = !last;
    const state = all.states[step];
    square.draw({ ...small, values: state, ghost: step ? all.states[step - 1] : null });
    const share = (which) => all.told.slice(1).map((told, n) => told[which] / (n + 1));
    curve.draw(last ? { x: all.told.slice(1).map((_, n) => n + 1), at: step || null, series: [
      { name: WORDS.cache, role: "weight", y: share(0) },
      { name: WORDS.linear, role: "output", y: share(1) }] } : null);
    const result = { numbers: [2 * step * size, size * size], state, known: all.told[step], answers: null };
    if (!step) {
      [keys, values, answers].forEach((one) => one.draw(null));
      view.say(last ? WORDS.begin : WORDS.none);
      if (before !== null) field.parentElement.setAttribute("style", `padding-top: ${before - place()}px`);
      report(model, result);
      return;
    }
    const found = ask(asked, pairs, state);
    const columns = pairs.map(({ name }) => name);
    keys.draw({ ...small, values: transposed(pairs.map(({ key }) => key)), columns,
      focus: { column: asked } });
    values.draw({ ...small, values: transposed(pairs.map(({ value }) => value)),
      columns: pairs.map(({ thing }) => thing), focus: { column: asked } });
    const order = pairs.map((_, n) => n).sort((a, b) => found.scores[1][b] - found.scores[1][a]);
    const own = order.filter((n) => pairs[n].thing === found.truth);
    const shown = [...new Set([...own.slice(0, 1), ...order])].slice(0, ROWS);
    const series = found.scores.map((scores) => ({ values: shown.map((n) => scores[n]) }));
    const top = Math.max(...series.flatMap(({ values: row }) => row.map(Math.abs)));
    answers.draw({ names: shown.map((n) => pairs[n].thing), focus: 0,
      series: series.map((one) => ({ ...one, top })) });
    const { name } = pairs[asked];
    const [first, second] = found.said;
    const told = found.right.every(Boolean) ? WORDS.both(name, first)
      : first === second ? WORDS.wrong(name, first, found.truth)
      : WORDS.one(name, first, second, found.truth);
    view.say(WORDS.numbers(step, size, 2 * step * size) + told + WORDS.known(step, ...all.told[step]));
    report(model, { ...result, answers: found.said });
  });
  return live(model, view, () => ({ text: text(model, "text"), size: count(model, "size"),
    step: Math.min(count(model, "step"), last || Infinity), asked: count(model, "asked") }));
}

export default guard(render);
