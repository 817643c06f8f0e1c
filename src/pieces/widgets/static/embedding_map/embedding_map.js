/** The embeddings of a trained model in the plane, and the neighbours of a word by cosine. */
import { bars, format, frame, guard, h, live, percent, plain, real, report, setter, slider,
  text } from "../kit/kit.js";
import { fromPerfect } from "../kit/perfect.js";
import { near } from "../kit/tokens.js";
import { loadModel } from "../twin/model.js";
import { besideDots, leader } from "./names.js";
import { besides, directions, nearest, placed, unit } from "./projected.js";

const [NEAREST, WIDE, HIGH, EDGE] = [8, 520, 400, 16];
const LETTER = 12.5; // px of a name, however wide the picture is
const WORDS = {
  title: "Words near words", word: "word", toward: "move its vector toward", way: "how far",
  map: (V, D) => `All ${V} entries, seen in two of ${D} directions`,
  near: "Nearest by cosine", name: "word", cosine: "cosine",
  head: ["word", "across", "up"], picture: "Where the vectors stand",
  unknown: (word) => `“${word.slice(0, 20)}” is not in this model’s vocabulary.`, try: " Try ",
  replace: (word) => `Show ${word}`,
  told: (list, word) => `The words nearest to “${word}” are ${list}.`,
  moved: (list, word, toward, way) => `At ${way} of the way from “${word}” to “${toward}”, the nearest words `
    + `are ${list}.`,
  honest: (kept, D, same) => ` The picture holds only ${kept} of the spread in ${D} directions, so trust the `
    + `list: ${same === 0 ? "none of these words is" : same === 1 ? "one of these words is"
      : `${same} of these words are`} also among the ${NEAREST} nearest dots.`,
  aria: (word, x, y) => `${word} at ${x}, ${y}. Arrow keys go to the nearest word in that direction.`,
};

/** The table of a model, its directions and its places: computed once. */
const tables = new WeakMap();
function tableOf(model) {
  if (!tables.has(model)) {
    const { data, shape: [V, D] } = model.weights.get("embedding.weight");
    const vectors = Array.from({ length: V }, (_, n) => Array.from(data.subarray(n * D, (n + 1) * D)));
    const units = vectors.map(unit); // as the cosine sees them
    const found = directions(units);
    tables.set(model, { vectors, D, ...found, places: units.map((vector) => placed(vector, found)) });
  }
  return tables.get(model);
}

/** A field for one word, with words that are spelled alike where it is none.
 *  @param {Object} traits @param {Object} model @param {string} trait */
function wordField(traits, model, trait) {
  const put = setter(traits);
  const input = h("input", { type: "text", class: "p-number p-word-field", spellcheck: "false",
    autocapitalize: "off", autocomplete: "off", "aria-label": WORDS[trait],
    oninput: () => put({ [trait]: input.value.slice(0, 40) }) });
  const note = h("p", { class: "p-typed-note", role: "status" });
  const box = h("div", { class: "p-control" }, h("span", { "aria-hidden": "true" },
    WORDS[trait]), input);
  let said = "";
  return {
    box, note,
    draw() {
      const typed = text(traits, trait);
      if (input.value !== typed) input.value = typed;
      const bad = model.idOf(typed.trim()) === null;
      input.setAttribute("aria-invalid", String(bad));
      const key = bad ? `unknown ${typed}` : "";
      if (key === said) return;
      said = key;
      const offers = bad ? near(typed.trim(), model.vocabulary) : [];
      note.replaceChildren(bad ? WORDS.unknown(typed) : "", offers.length ? WORDS.try : "",
        ...offers.map((word) => h("button", { type: "button", class: "p-button p-offer",
          "aria-label": WORDS.replace(word), onclick: () => put({ [trait]: word }) }, word)));
    },
  };
}

/** The picture: a dot for each word, names at those that are told. */
function scatter(view, { V, D, point, press }) {
  const dots = h("g", { class: "p-dots" });
  const names = h("g", { class: "p-names" });
  const lines = h("g", {});
  const svg = h("svg", { class: "p-scatter", viewBox: `0 0 ${WIDE} ${HIGH}`, tabindex: "0",
    role: "application" }, lines, dots, names);
  const pane = h("figure", { class: "p-pane p-pane-scatter" }, h("figcaption", {}, WORDS.map(V, D)), svg);
  let letter = LETTER;
  view.onWidth(svg, (wide) => {
    letter = LETTER * WIDE / wide;
    names.style.fontSize = `${letter}px`;
    view.redraw();
  });
  /** @type {number[][]} */
  let spots = [];
  let at = null;
  const nodes = [];
  const numberOf = (event) => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) * WIDE / box.width;
    const y = (event.clientY - box.top) * HIGH / box.height;
    const [n] = besides(spots, [x, y], 1);
    return n !== undefined && Math.hypot(spots[n][0] - x, spots[n][1] - y) < 14 ? n : null;
  };
  svg.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse") point(numberOf(event));
  });
  svg.addEventListener("pointerleave", () => point(null));
  svg.addEventListener("click", (event) => { const n = numberOf(event); if (n !== null) press(n); });
  svg.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way || event.ctrlKey || event.metaKey || event.altKey || !at) return;
    event.preventDefault();
    // What lies ahead counts once, what lies aside twice; nothing behind.
    let [best, cost] = [null, Infinity];
    spots.forEach(([x, y], n) => {
      const [dx, dy] = [x - at[0], y - at[1]];
      const [ahead, aside] = [dx * way[0] + dy * way[1], Math.abs(dx * way[1] + dy * way[0])];
      if (ahead > 0.5 && ahead + 2 * aside < cost) [best, cost] = [n, ahead + 2 * aside];
    });
    if (best !== null) press(best);
  });
  return {
    pane,
    /** @param {{places: number[][], words: string[], star: number[], name: string, told: number[]}} now */
    draw({ places, words, star, name, told }) {
      const ends = [0, 1].map((axis) => [Math.min, Math.max].map((of) =>
        of(...places.map((place) => place[axis]))));
      const share = (value, /** @type {number[]} */ [low, high]) =>
        (high > low ? (value - low) / (high - low) : 0.5);
      const spot = (/** @type {number[]} */ [x, y]) => [EDGE + share(x, ends[0]) * (WIDE - 2 * EDGE),
        HIGH - EDGE - share(y, ends[1]) * (HIGH - 2 * EDGE)];
      spots = places.map(spot);
      at = spot(star);
      while (nodes.length < spots.length) {
        nodes.push(h("circle", { class: "p-spot", r: 2.6 }));
        dots.append(nodes.at(-1));
      }
      nodes.forEach((node, n) => {
        node.setAttribute("cx", spots[n][0].toFixed(2));
        node.setAttribute("cy", spots[n][1].toFixed(2));
        node.classList.toggle("p-near", told.includes(n));
        node.dataset.word = words[n];
      });
      lines.replaceChildren(...told.map((n) => h("line", { x1: at[0].toFixed(2), y1: at[1].toFixed(2),
        x2: spots[n][0].toFixed(2), y2: spots[n][1].toFixed(2) })));
      const called = [{ name, at, look: "p-star-name" },
        ...told.map((n) => ({ name: words[n], at: spots[n], look: "" }))];
      const boxes = besideDots(called, letter, [WIDE, HIGH]);
      const [cx, cy] = at.map((x) => x.toFixed(2));
      names.replaceChildren(...called.flatMap(({ at: dot }, n) => {
        const end = leader(dot, boxes[n]);
        return end ? [h("path", { class: "p-leader", d: `M${dot.join(" ")}L${end.join(" ")}` })] : [];
      }), h("circle", { class: "p-star", r: 5, cx, cy }), ...called.map(({ name: word, look }, n) => h("text",
        { class: look, x: boxes[n].x.toFixed(2), y: boxes[n].y.toFixed(2) }, word)));
      svg.setAttribute("aria-label", WORDS.aria(name, format(star[0]), format(star[1])));
    },
  };
}

async function render({ model: traits, el }) {
  const model = await loadModel(traits);
  const { vectors, D, kept, places, ...axes } = tableOf(model);
  const view = frame(el, { title: WORDS.title, name: "embedding-map" });
  const put = setter(traits);
  const fields = ["word", "toward"].map((trait) => wordField(traits, model, trait));
  view.controls.before(h("div", { class: "p-fields" }, ...fields.map(({ box }) => box)));
  slider(view, traits, "way", { label: WORDS.way, show: (x) => plain(x) });
  view.controls.after(...fields.map(({ note }) => note));
  let hovered = null;
  const point = (n) => { if (n !== hovered) { hovered = n; view.redraw(); } };
  const picture = scatter(view, { V: vectors.length, D, point,
    press: (n) => put({ word: model.vocabulary[n], way: 0 }) });
  const list = bars(view, { caption: WORDS.near, nameTitle: WORDS.name,
    columns: [{ title: WORDS.cosine, role: "residual" }] });
  view.panes.append(picture.pane, list.pane);
  let last = 0; // the last word that was known: it stays while another is typed
  let end = 0;
  /** @type {any} */
  let now = null;
  view.table(WORDS.picture, () => now && { head: WORDS.head, rows: [now.name, ...now.names].map((name, n) =>
    [name, ...(n ? places[now.told[n - 1]] : now.star).map((x) => format(x, 3))]) });
  fromPerfect(view, model);
  view.onDraw(() => {
    fields.forEach((field) => field.draw());
    last = model.idOf(text(traits, "word").trim()) ?? last;
    end = model.idOf(text(traits, "toward").trim()) ?? end;
    const way = hovered === null ? real(traits, "way") : 0;
    const id = hovered ?? last;
    const vector = vectors[id].map((x, j) => x + way * (vectors[end][j] - x));
    const without = new Set(way ? [] : [id]);
    const found = nearest(vectors, vector, NEAREST, without);
    const star = placed(unit(vector), axes);
    const told = found.map(([n]) => n);
    const names = told.map((n) => model.vocabulary[n]);
    const same = besides(places, star, NEAREST, without).filter((n) => told.includes(n)).length;
    const word = model.vocabulary[id];
    now = { name: word, names, told, star };
    picture.draw({ places, words: model.vocabulary, star, name: word, told });
    list.draw({ names, series: [{ values: found.map(([, cosine]) => cosine), top: 1 }], focus: null });
    const listed = found.slice(0, 3).map(([n, cosine]) =>
      `${model.vocabulary[n]} (${format(cosine, 2)})`).join(", ");
    view.say((way ? WORDS.moved(listed, word, model.vocabulary[end], plain(way)) : WORDS.told(listed, word))
      + WORDS.honest(percent(kept), D, same));
    report(traits, { neighbours: names, cosines: found.map(([, cosine]) => cosine), kept });
  });
  return live(traits, view, () => ({ way: real(traits, "way") }));
}

export default guard(render);
