/** A text grows beyond the length of training: measured runs of each scheme, played, with every seed. */
import { chart } from "../kit/charts.js";
import { choice, count, format, frame, guard, h, limits, live, report, select, setter,
  words } from "../kit/kit.js";
import { median } from "../kit/paths.js";
import { player } from "../kit/player.js";
import { tabs } from "../kit/tabs.js";

const WORSE = 0.1; // nats a word above the reader who forgets: where a scheme counts as broken
/** @type {Record<string, string[]>} role, and how the line is drawn */
const LOOKS = {
  none: ["residual"], sinusoidal: ["query"], learned: ["key"], untrained_rows: ["key", "dashed"],
  last_row: ["output", "dashed"], t5: ["value"],
  alibi: ["weight"], rotary: ["score"], unscaled: ["score"], linear: ["query"], ntk: ["key"],
  dynamic: ["value"], yarn: ["weight"],
  llama3: ["output"], window: ["residual", "dashed"],
};
const WORDS = {
  title: "Beyond the length of training", tabs: "what is compared", factor: "factor of the scaling",
  length: "length of the text",
  views: { positions: "six schemes", scalings: "RoPE, slowed" }, switches: "schemes to draw",
  words: (n) => `${n} words`,
  names: {
    none: "none", sinusoidal: "sinusoidal", learned: "learned", untrained_rows: "learned (untrained rows)",
    last_row: "learned (last row again)",
    t5: "T5", alibi: "ALiBi", rotary: "RoPE", unscaled: "RoPE as trained", linear: "linear",
    ntk: "NTK-aware", dynamic: "dynamic",
    yarn: "YaRN", llama3: "LLaMA 3", window: "RoPE (last 32 words only)",
  },
  caption: "Distance to the floor; thin lines are seeds", x: "words in the text", y: "nats a word",
  mark: "trained up to here",
  text: (from, to) => `words ${from} to ${to}`,
  note: (seeds, weights, trained) => `Measured runs, replayed: models of about `
    + `${Math.round(weights / 1000)},000 weights, `
    + `${seeds === 1 ? "one seed" : `${seeds} seeds`} each, trained on ${trained} words.`,
  value: (name, low, mid, high) => `${name} ${format(mid, 2)} (${format(low, 2)} to ${format(high, 2)})`,
  refused: (name, trained) => `${name} has no row for word ${trained + 1} and stops`,
  nothing: "Switch a scheme on.",
  say: (to, list) => `After ${to} words, in nats above the floor: ${list.join(", ")}.`,
  broken: (names, from, to, trained) => ` As early as words ${from} to ${to}, `
    + `${names.length > 1 ? "some" : "one"} would do clearly better `
    + `with only the last ${trained} words in view: ${names.join(", ")}.`,
  whole: (trained) => ` Forgetting all but the last ${trained} words `
    + `would not clearly help any of them yet.`,
  behind: (names, from, to, trained) => ` Beyond training, ${names.join(", ")} `
    + `${names.length > 1 ? "do" : "does"} clearly worse as early as words ${from} to ${to} than RoPE `
    + `as trained with only the last ${trained} words in view.`,
  ahead: (trained) => " None does clearly worse yet than RoPE as trained with only the last "
    + `${trained} words in view.`,
};

/** The measured runs of one name, a curve a seed: `runs("scalings", "8", "yarn")`. */
const measuredBy = (model) => (...path) => {
  const found = path.reduce((at, key) => at?.[key], model.get("measured"));
  return Array.isArray(found) ? found.filter(Array.isArray).map((run) =>
    Float64Array.from(run, (x) => x ?? NaN)) : [];
};
/** The curves of every scheme of a comparison. */
function curvesOf(runs, schemes, { what, factor }) {
  const own = schemes[what].map((name) =>
    [name, what === "positions" ? runs(what, name) : runs(what, factor, name)]);
  return Object.fromEntries([...own, ["window", runs("window", "rotary")]]);
}

/**
 * The first stretch beyond training in which the median does worse than the same model that
 * forgets, and with slowed clocks than that model as trained; null if none. `known`: the last
 * stretch that training has seen.
 */
function breaks(runs, schemes, known, name, curves) {
  const owner = { untrained_rows: "learned", last_row: "learned" }[name]
    ?? (schemes.positions.includes(name) ? name : "rotary");
  const forgetful = runs("window", owner);
  if (!curves.length || !forgetful.length) return null;
  const [mid, bound] = [median(curves), median(forgetful)];
  const at = mid.findIndex((x, n) => n > known && !(x <= bound[n] + WORSE)); // NaN: it refuses
  return at < 0 ? null : at;
}

function read(model) {
  return {
    what: choice(model, "what"), factor: choice(model, "factor"), stretch: count(model, "stretch"),
    shown: [...new Set(words(model, "shown"))].filter((name) => Object.hasOwn(LOOKS, name)),
  };
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "beyond-length" });
  const runs = measuredBy(model);
  const { text = "", seeds = [], parameters = 0 } = model.get("measured") ?? {};
  const story = String(text).split(" ");
  const put = setter(model);
  const { high, words: size, trained } = limits(model, "stretch");
  const { schemes } = limits(model, "what");
  const known = trained / size - 1;
  const lengths = Array.from({ length: high + 1 }, (_, n) => size * (n + 1));
  const factors = [...limits(model, "factor").options].reverse();
  const open = tabs(view, model, "what",
    { label: WORDS.tabs, options: Object.entries(WORDS.views) });
  const factor = select(view, model, "factor",
    { label: WORDS.factor, options: factors.map((one) => [one, one]) });
  const film = player(view, {
    label: WORDS.length, states: lengths.length, tween: 0, dwell: 700, into: h("div"),
    name: (n) => WORDS.words(lengths[n]),
    show: () => {}, rest: (n) => { if (n !== read(model).stretch) put({ stretch: n }); },
  });
  const flip = (name) => { // a name that is on is taken away, another one is put at the end
    const { shown } = read(model);
    put({ shown: shown.includes(name) ? shown.filter((one) => one !== name) : [...shown, name] });
  };
  const boxes = Object.fromEntries(Object.keys(LOOKS).map((name) =>
    [name, h("input", { type: "checkbox", onchange: () => flip(name) })]));
  const switches = Object.fromEntries(Object.keys(LOOKS).map((name) => [name,
    h("label", { class: "p-switch", "data-name": name, "data-role": LOOKS[name][0] }, boxes[name],
      h("span", {}, WORDS.names[name]))]));
  const lines = chart(view, { caption: WORDS.caption, xTitle: WORDS.x, yTitle: WORDS.y, height: 280,
    low: 0 });
  const where = h("b", {});
  const [before, here] = [h("span", { class: "p-before" }), h("mark", {})];
  const group = h("div", { class: "p-switches", role: "group", "aria-label": WORDS.switches });
  let offered = ""; // the comparison whose schemes can be switched
  view.panes.append(open.box, group,
    factor.box, film.box, h("p", { class: "p-text" }, where, before, here), lines.pane,
    h("p", { class: "p-measured" }, WORDS.note(seeds.length, parameters, trained)));
  view.onDraw(() => {
    const now = read(model);
    const { what, stretch, shown } = now;
    factor.show(what === "scalings");
    if (film.position !== stretch) film.jump(stretch);
    const curves = curvesOf(runs, schemes, now);
    const drawn = Object.keys(curves).filter((name) => shown.includes(name));
    if (offered !== what) group.replaceChildren(...Object.keys(curves).map((name) => switches[name]));
    offered = what;
    for (const [name, box] of Object.entries(boxes)) {
      box.checked = shown.includes(name);
      switches[name].classList.toggle("p-on", box.checked);
    }
    const so_far = (run) => run.map((x, n) => (n <= stretch ? x : NaN));
    lines.draw({
      x: lengths, at: lengths[stretch], marks: [{ x: trained, name: WORDS.mark }],
      high: Math.max(1,
        ...drawn.flatMap((name) => curves[name].flatMap((run) => [...run].filter(Number.isFinite)))),
      series: drawn.map((name) => ({ name: WORDS.names[name], role: LOOKS[name][0],
        dashed: LOOKS[name].length > 1,
        runs: curves[name].map(so_far) })),
    });
    const piece = (n) => story.slice(n * size, (n + 1) * size).join(" ");
    where.textContent = WORDS.text(stretch * size + 1, (stretch + 1) * size);
    before.textContent = stretch ? ` … ${piece(stretch - 1)} ` : " ";
    here.textContent = piece(stretch);
    const values = Object.fromEntries(drawn.map((name) => [name, curves[name].map((run) => run[stretch])]));
    const told = drawn.map((name) => {
      const list = [...values[name]].sort((a, b) => a - b);
      return Number.isFinite(list[0]) ? WORDS.value(WORDS.names[name], list[0],
        median(values[name].map((x) => [x]))[0], list.at(-1))
        : WORDS.refused(WORDS.names[name], trained);
    });
    const fallen = drawn.map((name) => ({ name, at: breaks(runs, schemes, known, name, curves[name]) }))
      .filter(({ at }) => at !== null && at <= stretch).sort((a, b) => a.at - b.at);
    const first = fallen.filter(({ at }) => at === fallen[0].at).map(({ name }) => WORDS.names[name]);
    const [worse, fine] = what === "scalings" ? [WORDS.behind, WORDS.ahead] : [WORDS.broken, WORDS.whole];
    const verdict = fallen.length
      ? worse(first, fallen[0].at * size + 1, (fallen[0].at + 1) * size, trained) : fine(trained);
    view.say(told.length ? WORDS.say((stretch + 1) * size, told) + (stretch > known ? verdict : "")
      : WORDS.nothing);
    const found = (list) => list.map((x) => (Number.isFinite(x) ? x : null));
    report(model, { excess: Object.fromEntries(drawn.map((name) => [name, found(values[name])])) });
  });
  return live(model, view, () => read(model));
}

export default guard(render);
