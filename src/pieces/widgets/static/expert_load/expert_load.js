/** ExpertLoad: training runs we measured, played: how many words each expert gets, by its balance loss. */
import { bars, choice, count, format, frame, guard, h, limits, live, percent, real, report, setter,
  slider } from "../kit/kit.js";
import { chart } from "../kit/charts.js";
import { player } from "../kit/player.js";
import { tabs } from "../kit/tabs.js";

const WEIGHTS = ["0", "0.01", "0.1"];
const ROLES = { 0: "score", 0.01: "key", 0.1: "output" };
const WORDS = {
  title: "Who gets the words?", film: "the training", at: (n) => `step ${n}`,
  traits: { setting: "experts, and visits per word", layer: "layer", seed: "seed" },
  settings: { "8 1": "8, one visit", "16 1": "16, one visit", "8 2": "8, two visits" },
  names: { 0: "No balance loss", 0.01: "Loss × 0.01", 0.1: "Loss × 0.1" },
  load: "Visits to each expert, in % of all; the line is the room it has", expert: "expert",
    fair: "fair share",
  chart: "The busiest expert’s share of visits, every seed thin, the median thick", steps: "training step",
    share: "of visits, %",
  room: "room per expert", rooms: (c) => `${format(c)} fair shares`,
  start: "The experts are as they were drawn at the start. Which will get the words? Press Play.",
  busiest: (name, e, share) => `${name}: expert ${e} gets ${percent(share)} of the visits`,
  lost: (share) => `, and ${percent(share)} of all would find no room`,
  here: (step, layer, list) => `Step ${step}, layer ${layer}. ${list.join(". ")}.`,
    measured: (seed) => ` Measured runs: bars and sentence show seed ${seed}, the curves all three.`,
};

function read(model) {
  const stretch = limits(model, "step").step;
  return { setting: choice(model, "setting"), layer: count(model, "layer"), seed: count(model, "seed"),
    step: Math.round(count(model, "step") / stretch) * stretch, capacity: real(model, "capacity") };
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "expert-load" });
  const put = setter(model);
  const { high: steps, step: stretch } = limits(model, "step"); // of a run; of a point of it
  /** The runs of a weight, one a seed: [point][layer][expert], in thousandths. */
  const runs = (weight) => {
    const found = model.get("measured")?.[now.setting]?.[weight];
    return Array.isArray(found) ? found.filter(Array.isArray) : [];
  };
  /** The shares of the experts at a point of a run. */
  const shares = (run, point) => (run?.[point]?.[now.layer - 1] ?? []).map((x) => x / 1000);
  /** @type {any} */
  let now = read(model);

  const whole = (trait) => ({ get: () => String(read(model)[trait]), save_changes: () => model.save_changes(),
    set: (_, value) => model.set(trait, Number(value)) });
  const setting = (trait, traits, options) => h("div", { class: "p-setting", "data-trait": trait },
    h("span", {}, WORDS.traits[trait]), tabs(view, traits, trait, { label: WORDS.traits[trait],
      options }).box);
  const digits = (trait) => {
    const { low, high } = limits(model, trait);
    return Array.from({ length: high - low + 1 }, (_, n) => [String(low + n), String(low + n)]);
  };
  const settings = h("div", { class: "p-settings" }, setting("setting", model,
    Object.entries(WORDS.settings)),
    setting("layer", whole("layer"), digits("layer")), setting("seed", whole("seed"), digits("seed")));
  const film = player(view, { label: WORDS.film, states: steps / stretch + 1, tween: 160, dwell: 60,
    into: h("div"),
    name: (n) => WORDS.at(n * stretch), show: (at) => roll(at),
    rest: (n) => { if (n * stretch !== read(model).step) put({ step: n * stretch }); } });
  const loads = bars(view, { caption: WORDS.load, nameTitle: WORDS.expert,
    columns: WEIGHTS.map((weight) => ({ title: WORDS.names[weight], role: ROLES[weight] })),
    print: (share) => (share === undefined ? format(share) : share.toFixed(1)) });
  const busiest = chart(view, { caption: WORDS.chart, xTitle: WORDS.steps, yTitle: WORDS.share, low: 0,
    high: 100, digits: 0, height: 230 });
  slider(view, model, "capacity", { label: WORDS.room, show: WORDS.rooms });
  view.controls.before(settings, film.box);
  view.panes.append(loads.pane, busiest.pane);
  view.panes.after(view.controls);

  /** The bars between two points of the film, and the line of the step. */
  function roll(at) {
    const [from, part] = [Math.floor(at), at - Math.floor(at)];
    const experts = Number(now.setting.split(" ")[0]);
    const room = new Array(experts).fill((100 * now.capacity) / experts);
    const between = (run) => shares(run, from)
      .map((share, e) => 100 * (share + part * ((shares(run, from + 1)[e] ?? share) - share)));
    loads.draw({ names: Array.from({ length: experts }, (_, e) => String(e + 1)),
      series: WEIGHTS.map((weight) =>
      ({ values: between(runs(weight)[now.seed - 1]), top: 100, ghost: room })) });
    const most = (run) => run.map((_, point) =>
      (point <= at + 1e-9 ? 100 * Math.max(...shares(run, point)) : NaN));
    busiest.draw({ x: Array.from({ length: steps / stretch + 1 }, (_, n) => n * stretch),
      at: Math.round(at) * stretch,
      marks: [{ y: 100 / experts, name: WORDS.fair, below: true }],
      series: WEIGHTS.map((weight) => ({ name: WORDS.names[weight], role: ROLES[weight],
        runs: runs(weight).map(most) })) });
  }
  view.onDraw(() => {
    now = read(model);
    if (film.position * stretch !== now.step && !film.playing) film.jump(now.step / stretch);
    else roll(film.position);
    const load = WEIGHTS.map((weight) => shares(runs(weight)[now.seed - 1], now.step / stretch));
    const dropped = load.map((list) => list.reduce((sum, x) => sum + Math.max(0,
      x - now.capacity / list.length), 0));
    const told = load.map((list, n) => [WEIGHTS[n], list, Math.max(...list), dropped[n]]).filter(([,
      list]) => list.length)
      .map(([weight, list, most, lost]) => WORDS.busiest(WORDS.names[weight], list.indexOf(most) + 1, most)
        + WORDS.lost(lost));
    view.say(now.step ? WORDS.here(now.step, now.layer, told) + WORDS.measured(now.seed) : WORDS.start);
    report(model, { load, dropped });
  });
  return live(model, view, read);
}

export default guard(render);
