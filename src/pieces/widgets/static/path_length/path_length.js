/** Two words, and the way between them: cell by cell, layer by layer, or at one jump. */
import {
  count, frame, give, guard, h, limits, live, percent, plain, report, slider, toggle, words,
} from "../kit/kit.js";
import { player } from "../kit/player.js";
import { bands } from "./bands.js";
import { climb, costs, growth, layersFor, sight, SIZE } from "./ways.js";

const KINDS = ["recurrent", "convolution", "attention"];
const NOTHING = { recurrent: "", convolution: "", attention: "" };
const WORDS = {
  title: "From one word to another",
  kinds: { recurrent: "Recurrent network", convolution: "Convolution", attention: "Attention" },
  reach: "convolution sees", side: (n) => `${2 * n + 1} words`, layers: "its layers",
  dilated: "dilated: 1, 2, 4, … apart", length: "words in the text", light: "The light on its way",
  at: (n) => (n === 1 ? "1 step" : `${n} steps`),
  list: "The words. Pressing one moves the nearer of the two lights to it.",
  word: (word, n) => `word ${n}: ${word}`,
  more: (n) => `and ${n.toLocaleString("en")} more ${n === 1 ? "word" : "words"}`,
  way: {
    recurrent: (n) => (n === 1 ? "through 1 cell" : `through ${n} cells in turn`),
    convolution: (n, all) => (n === all ? `through ${WORDS.stack(n)}`
      : `through ${all} layers; ${n} would do`),
    attention: () => "in 1 step",
  },
  short: (seen) => `out of sight: ${seen} words are seen`,
  head: ["to join every pair of words", "sequential steps", "multiplications"],
  grows: (how) => (how ? `grows as ${how}` : "for any text"),
  same: "Both lights stand on the same word: press another one.",
  stack: (n) => (n === 1 ? "1 layer" : `${n} layers`),
  told: (a, b, n, needed) => `From “${a}” to “${b}” the recurrent network takes ${WORDS.at(n)} and `
    + `convolutions need ${WORDS.stack(needed)}. Attention takes 1 step, as always.`,
  few: (layers, seen) => `${layers === 1 ? "One layer sees" : `${layers} layers see`} `
    + `${seen} words, too few for these two.`,
  pays: (n, share) => `Attention’s price: in a text of ${n.toLocaleString("en")} words, ${share} of its `
    + "multiplications compare and mix pairs of words, and the number of pairs grows with the square of "
    + "the length.",
  table: "The way between the two words", columns: ["network", "steps between the two"],
  none: "not connected",
};

/** A large count for people: 13.8 million. */
export function large(n) {
  const names = ["", " thousand", " million", " billion", " trillion", " quadrillion"];
  const group = Math.min(names.length - 1, Math.floor(Math.log10(Math.max(1, n)) / 3 + 1e-12));
  const short = n / 1000 ** group;
  return `${plain(short, 0, short < 100 && group ? 1 : 0)}${names[group]}`;
}

function read(model) {
  const given = words(model, "tokens").filter((word) => word);
  const tokens = given.length > 1 ? given : limits(model, "tokens").default ?? ["a", "b"];
  const length = count(model, "length");
  const drawn = Math.min(length, tokens.length);
  const [first, second] = ["first", "second"].map((trait) => count(model, trait, 1, drawn));
  const [from, to] = [Math.min(first, second) - 1, Math.max(first, second) - 1];
  const kind = { reach: count(model, "reach"), dilated: model.get("dilated") === true };
  const layers = count(model, "layers");
  const places = climb(from, to, layers, kind, drawn);
  const apart = to - from;
  const steps = { recurrent: apart, convolution: places ? layersFor(apart, kind) : null,
    attention: apart ? 1 : 0 };
  const longest = Math.max(apart, places ? layers : 0, 1);
  return { tokens: tokens.slice(0, drawn), length, drawn, first, second, from, to, apart, kind, layers,
    places, steps, longest, step: Math.min(count(model, "step"), longest), needed: layersFor(apart, kind),
    seen: 2 * sight(layers, kind) + 1, costs: costs(length, kind) };
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "path-length" });
  const list = h("div", { class: "p-words", role: "group", "aria-label": WORDS.list });
  const more = h("p", { class: "p-more" });
  /** @type {ReturnType<typeof read>} */
  let now = read(model);
  const drawing = bands(view, { kinds: KINDS, names: WORDS.kinds });
  const film = player(view, { label: WORDS.light, states: 2, tween: 450, dwell: 120, into: h("div"),
    name: WORDS.at, show: () => { if (!view.drawing) view.redraw(); },
    rest: (n) => { if (now && n !== now.step) { model.set({ step: n }); model.save_changes(); } } });
  slider(view, model, "reach", { label: WORDS.reach, show: WORDS.side });
  slider(view, model, "layers", { label: WORDS.layers });
  toggle(view, model, "dilated", { label: WORDS.dilated });
  slider(view, model, "length", { label: WORDS.length, scale: "power", show: (n) => n.toLocaleString("en") });
  const price = h("table", { class: "p-costs" });
  view.panes.append(h("div", { class: "p-pane p-ways" }, film.box, drawing.box, list, more), price);

  /** The nearer of the two lights moves to the word that is pressed. */
  const press = (n) => {
    const { first, second } = now;
    const nearer = Math.abs(first - n) < Math.abs(second - n) ? "first" : "second";
    model.set({ [nearer]: n });
    model.save_changes();
  };
  const buttons = Array.from({ length: limits(model, "first").high ?? 16 }, (_, n) =>
    h("button", { type: "button", class: "p-word", onclick: () => press(n + 1) }));
  list.append(...buttons);
  let shown = "";
  /** The light stands where the trait says; on another way it stands at its end until it is sent again. */
  function follow() {
    const { from, to, layers, kind, drawn, longest } = now;
    const key = JSON.stringify([from, to, layers, kind, drawn]);
    if (key !== shown) {
      if (shown) now.step = longest;
      shown = key;
      film.limit(longest + 1);
      report(model, { step: now.step });
      film.jump(now.step);
    } else if (!film.playing && Number.isInteger(film.position) && film.position !== now.step) {
      film.jump(now.step);
    }
  }
  view.table(WORDS.table, () => ({ head: WORDS.columns, rows: KINDS.map((kind) =>
    [WORDS.kinds[kind], now.steps[kind] === null ? WORDS.none : String(now.steps[kind])]) }));
  view.onDraw(() => {
    now = read(model);
    const { tokens, from, to, apart, layers, places, steps, needed, seen } = now;
    follow();
    buttons.forEach((node, n) => {
      node.hidden = n >= tokens.length;
      if (node.hidden) return;
      node.textContent = tokens[n];
      node.setAttribute("aria-label", WORDS.word(tokens[n], n + 1));
      node.setAttribute("aria-pressed", String(n === from || n === to));
      const role = n === to ? "query" : n === from ? "key" : null;
      give(node, { "data-role": role ?? "" });
    });
    list.style.setProperty("--columns", String(tokens.length));
    more.textContent = now.length > now.drawn ? WORDS.more(now.length - now.drawn) : "";
    const told = { recurrent: WORDS.way.recurrent(apart), attention: WORDS.way.attention(),
      convolution: places ? WORDS.way.convolution(steps.convolution, layers) : WORDS.short(seen) };
    drawing.draw({ ...now, position: film.position, told: apart ? told : NOTHING });
    price.replaceChildren(...costRows(now.costs, growth(now.kind)));
    const { products } = now.costs.attention;
    const share = percent((products - 4 * now.length * SIZE ** 2) / products);
    view.say(!apart ? WORDS.same : [places ? WORDS.told(tokens[from], tokens[to], apart, needed)
      : WORDS.few(layers, seen), WORDS.pays(now.length, share)].join(" "));
    report(model, { steps: KINDS.map((kind) => steps[kind]), needed });
  });
  return live(model, view, () => {
    const { first, second, layers, length, kind, step } = read(model);
    return { first, second, layers, length, step, reach: kind.reach };
  });
}

/** What every word's way to every other one costs, and how that grows: a table that is always open. */
function costRows(costs, grows) {
  const cell = (count, how) => h("td", {}, h("span", {}, count), " ", h("small", {}, WORDS.grows(how)));
  return [
    h("thead", {}, h("tr", {}, ...WORDS.head.map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, ...KINDS.map((kind) => h("tr", { "data-kind": kind },
      h("th", { scope: "row" }, WORDS.kinds[kind]),
      cell(costs[kind].steps.toLocaleString("en"), grows[kind].steps),
      cell(large(costs[kind].products), grows[kind].products)))),
  ];
}

export default guard(render);
