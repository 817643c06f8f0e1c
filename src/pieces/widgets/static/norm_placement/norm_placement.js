/** Four places for a norm: measured runs race each other, and are looked into layer by layer. */
import { chart } from "../kit/charts.js";
import { choice, count, format, frame, ghost, guard, h, limits, live, report, setter } from "../kit/kit.js";
import { block } from "./norm_blocks.js";
import { median } from "../kit/paths.js";
import { player } from "../kit/player.js";
import { tickName } from "../kit/scales.js";
import { tabs } from "../kit/tabs.js";

const ROLES = { post: "score", pre: "query", sandwich: "key", deep: "output" };
// nats: of 16 symbols; still near that; as good as done
const [CHANCE, NEAR, ARRIVED] = [Math.log(16), 2.5, 0.1];
const WORDS = {
  title: "Where the norm stands", views: "What to look at",
  view: { race: "The race", layers: "Layer by layer" },
  names: { post: "Post", pre: "Pre", sandwich: "Sandwich", deep: "DeepNorm" },
  choose: "Placement of the norm",
  formula: { post: "y = Norm(x + f(x))", pre: "y = x + f(Norm(x))", sandwich: "y = x + Norm(f(Norm(x)))",
    deep: "y = Norm(α x + f(x))" },
  small: ", f small at first", halves: { plain: { deep: "α alone" }, scaled: { post: "β alone" } },
  parts: { norm: "Norm", f: "f", alpha: "× α" },
  settings: { lr: "learning rate", warmup: "warm-up", layers: "layers", depth: "layers",
    start: "first weights" },
  warmup: { 0: "none", 40: "40 steps" },
  start: { own: "each its own", plain: "all plain", scaled: "all scaled by β" },
  film: "the race", steps: "training step", loss: "loss, nats", race: "Loss of every seed, the median thick",
  was: (name, lr, warmup, layers) => `. Dotted: ${name} before, at rate ${lr}, warm-up ${warmup}, `
    + `${layers} layers`,
  chance: "guessing: ln 16", layer: "layer", stream: "Stream after each layer: its size, rms", rms: "rms",
  gradient: "Gradient of each layer’s last matrix", norm: "norm",
  size: (v) => `rms ${format(v)}`, nats: (v) => `${format(v)} nats`, at: (n) => `step ${n}`, none: "–",
  ready: "The runs are at the start. Which will arrive, which will crawl? Press Play.",
  after: (n, all) => `Step ${n} of ${all}. `,
  fate: { arrived: `Seeds below ${ARRIVED} nats`, under: "In between", guessing: `Above ${NEAR} nats` },
  named: (names, fate) => `${fate}: ${names.join(", ")}. `, seeds: (name, n) => `${name} ${n}`,
  measured: "Measured runs of small models, three seeds each.",
  looked: (name, rms, first, last) => `${name}, before training: after the last layer the stream has size `
    + `${format(rms)}; the gradient is ${few(first)} in the first layer and ${few(last)} in the last. `,
};
/** A size that may be tiny: four decimals below a tenth, then a power of ten. */
const few = (v) => format(v, v >= 0.1 ? 3 : 4);

function read(model) {
  const stretch = limits(model, "step").step;
  const step = Math.round(count(model, "step") / stretch) * stretch;
  const [view, placement, lr, warmup, layers, depth, start] =
    ["view", "placement", "lr", "warmup", "layers", "depth", "start"].map((trait) => choice(model, trait));
  return { view, placement, lr, warmup, layers, step, depth, start };
}

/** How a run fares: by its loss. */
const fate = (loss) => (loss < ARRIVED ? "arrived" : loss > NEAR ? "guessing" : "under");
/** How the first weights of a placement were drawn: only DeepNorm's own are scaled. */
const begun = (place, start) => (start !== "own" ? start : place === "deep" ? "scaled" : "plain");

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "norm-placement" });
  const put = setter(model);
  const places = limits(model, "placement").options;
  const { high: steps, step: stretch } = limits(model, "step"); // of a run; of a point of its curve
  const runs = (kind, key) => {
    const found = model.get("measured")?.[kind]?.[key];
    return Array.isArray(found) ? found.filter(Array.isArray) : [];
  };

  const which = tabs(view, model, "view", { label: WORDS.views, options: Object.entries(WORDS.view) });
  const loss = Object.fromEntries(places.map((place) => [place, h("b", {})]));
  const names = places.map(() => h("span", {}));
  const cards = places.map((place, n) => h("button", { type: "button", class: "p-place", "data-place": place,
    "data-role": ROLES[place], onclick: () => put({ placement: place }) },
  block(place, WORDS.parts), names[n], loss[place]));
  const formula = h("p", { class: "p-formula" });
  const setting = (trait, options) => h("div", { class: "p-setting", "data-trait": trait },
    h("span", {}, WORDS.settings[trait]),
    tabs(view, model, trait, { label: WORDS.settings[trait], options }).box);
  const named = (trait) => limits(model, trait).options.map((value) =>
    [value, ({ warmup: WORDS.warmup, start: WORDS.start }[trait] ?? {})[value]
      ?? (Number.isInteger(value) ? tickName(value) : String(value))]);
  const settings = (...traits) => h("div", { class: "p-settings" },
    ...traits.map((trait) => setting(trait, named(trait))));
  const [ruling, looking] = [settings("lr", "warmup", "layers"), settings("depth", "start")];
  const film = player(view, { label: WORDS.film, states: steps / stretch + 1, tween: 90, dwell: 0,
    into: h("div"),
    name: (n) => WORDS.at(n * stretch), show: (at) => roll(at),
    rest: (n) => { if (now && n * stretch !== now.step) put({ step: n * stretch }); } });
  const curves = chart(view, { caption: WORDS.race, xTitle: WORDS.steps, yTitle: WORDS.loss, low: 0,
    high: 3.2,
    digits: 2, height: 270 });
  const inner = { digits: 3, height: 250, logY: true, xTitle: WORDS.layer };
  const stream = chart(view, { caption: WORDS.stream, yTitle: WORDS.rms, ...inner });
  const slopes = chart(view, { caption: WORDS.gradient, yTitle: WORDS.norm, ...inner });
  const caption = curves.pane.querySelector("figcaption");
  view.controls.hidden = true;
  view.controls.before(which.box, h("div",
    { class: "p-places p-swap", role: "group", "aria-label": WORDS.choose }, ...cards),
    formula, ruling, looking, film.box);
  view.panes.append(curves.pane, stream.pane, slopes.pane);

  /** @type {any} */
  let now = null;
  const before = ghost();
  /** @type {any} */
  let last = null; // what was set before the last change, once it had stood for a while
  const series = (make) => places.map((place) =>
    ({ name: called(place), role: ROLES[place], ...make(place) }));
  const key = (s, place) => (s.view === "race" ? `${place} ${s.layers} ${s.lr} ${s.warmup}`
    : `${place} ${s.depth} ${begun(place, s.start)}`);
  /** The name of a placement; of what is only half of DeepNorm, that half. */
  const called = (place) => (now.view === "layers" && WORDS.halves[now.start]?.[place]) || WORDS.names[place];

  function roll(at) {
    if (!now || now.view !== "race") return;
    const seen = Math.floor(at + 1e-9);
    const until = (run) => [NaN, ...run.map((v, n) => (n < seen ? v : NaN))]; // step 0 has no loss yet
    const was = last?.view === "race" ? last : null;
    caption.textContent = WORDS.race
      + (was ? WORDS.was(WORDS.names[now.placement], was.lr, WORDS.warmup[was.warmup], was.layers) : "");
    curves.draw({ x: Array.from({ length: steps / stretch + 1 }, (_, n) => n * stretch),
      at: Math.round(at) * stretch,
      marks: [{ y: CHANCE, name: WORDS.chance }],
      series: series((place) => ({ runs: runs("race", key(now, place)).map(until),
        ghost: was && place === now.placement ? until([...median(runs("race", key(was, place)))])
          : undefined })) });
  }
  function inside() {
    const of = (place, n) => runs("layers", key(now, place)).map((run) => run[n]);
    const x = of("post", 0)[0] ?? [];
    [stream, slopes].forEach((picture, n) =>
      picture.draw({ x, series: series((place) => ({ runs: of(place, n + 1) })) }));
  }
  function remember() {
    const name = JSON.stringify([now.view, now.lr, now.warmup, now.layers]);
    last = before(now, name);
  }
  const middle = (list) => median(list.map((v) => [v]))[0] ?? NaN;
  function race() {
    const losses = places.map((place) =>
      (now.step ? runs("race", key(now, place)).map((run) => run[now.step / stretch - 1]) : []));
    if (film.position * stretch !== now.step && !film.playing) film.jump(now.step / stretch);
    else roll(film.position);
    places.forEach((place, n) => {
      loss[place].textContent = losses[n].length ? WORDS.nats(middle(losses[n])) : WORDS.none;
    });
    const fates = Object.keys(WORDS.fate).map((one) => [places.map((place, n) =>
      [WORDS.names[place], losses[n].filter((v) => fate(v) === one).length]).filter(([, seeds]) => seeds),
        WORDS.fate[one]])
      .filter(([those]) => those.length).map(([those, one]) =>
        WORDS.named(those.map((of) => WORDS.seeds(...of)), one));
    view.say(now.step ? WORDS.after(now.step, steps) + fates.join("") + WORDS.measured : WORDS.ready);
    report(model, { losses, sizes: null });
  }
  function look() {
    inside();
    const sizes = places.map((place) => {
      const ends = runs("layers", key(now, place)).map(([, x, g]) =>
        [x[x.length - 1], g[0], g[g.length - 1]]);
      return [0, 1, 2].map((n) => middle(ends.map((end) => end[n])));
    });
    places.forEach((place, n) => { loss[place].textContent = WORDS.size(sizes[n][0]); });
    view.say(WORDS.looked(called(now.placement), ...sizes[places.indexOf(now.placement)]) + WORDS.measured);
    report(model, { sizes, losses: null });
  }
  view.onDraw(() => {
    now = read(model);
    const racing = now.view === "race";
    view.root.dataset.chosen = ROLES[now.placement];
    cards.forEach((card, n) => card.setAttribute("aria-pressed", String(places[n] === now.placement)));
    const small = begun(now.placement, racing ? "own" : now.start) === "scaled";
    formula.textContent = WORDS.formula[now.placement] + (small ? WORDS.small : "");
    names.forEach((node, n) => { node.textContent = called(places[n]); });
    [ruling, film.box, curves.pane].forEach((node) => { node.hidden = !racing; });
    [looking, stream.pane, slopes.pane].forEach((node) => { node.hidden = racing; });
    remember();
    (racing ? race : look)();
  });
  return live(model, view, read);
}

export default guard(render);
