/** A signal forward and a gradient back through a stack of random layers, with skips and without. */
import { chart } from "../kit/charts.js";
import { button, choice, count, frame, ghost, guard, h, live, real, report, select, setter, slider,
  toggle } from "../kit/kit.js";
import { tickName } from "../kit/scales.js";
import { flow, laws } from "./flow.js";
import { lamps } from "./lamps.js";

const SHADE = 1 / 256; // of the full light: the palest that a screen has
const WORDS = {
  title: "What arrives through many layers?",
  depth: "layers", gain: "gain g of a sublayer", skip: "skip connections", norm: "norm",
  norms: { none: "none", pre: "Pre, before f", post: "Post, after +" },
  sublayer: "sublayer",
  sublayers: { linear: "g · W x", relu: "g · √2 · W max(0, x)", opposed: "−g · x" },
  anew: "Other weights",
  rows: ["signal, from the input →", "← gradient, from the loss"],
  chart: "The same sizes on a logarithmic scale; from 1 up a lamp is fully lit",
  layer: "layer", size: "size",
  signal: "signal", gradient: "gradient", shade: "palest shade a screen shows",
  was: (s, seed) => `; dotted: before (${layers(s.depth)}, ${s.skip ? "skips" : "no skips"}, `
    + `${WORDS.sublayers[s.sublayer]}, g = ${tickName(s.gain)}, `
    + `${s.norm === "none" ? "no norm" : `norm ${WORDS.norms[s.norm]}`}`
    + `${s.seed === seed ? "" : `, weights of draw ${s.seed}`})`,
  lamps: (s, first, last) => `${WORDS.head(s)}The signal has size ${told(last)} after the last one, `
    + `the gradient ${told(first)} at the input.`,
  place: (at) => (at ? `After layer ${at}` : "At the input"),
  law: "on average", none: "this stack has no simple law",
  head: (s) => `${layers(s.depth)} ${s.skip ? "with" : "without"} skip connections. `,
  arrives: [
    [0, () => "No gradient arrives at the input: it is exactly 0. "],
    [SHADE, (v) => `The gradient fades to ${told(v)} at the input, paler than a screen can show. `],
    [0.5, (v) => `The gradient fades to ${told(v)} at the input. `],
    [2, (v) => `The gradient arrives with size ${told(v)}, not far from its first size. `],
    [Infinity, (v) => `The gradient grows to ${told(v)} on its way to the input. `],
  ],
  leaves: [
    [0, () => "The signal is exactly 0 after the last layer."],
    [SHADE, (v) => `The signal fades to ${told(v)}.`],
    [0.5, (v) => `The signal fades to ${told(v)}.`],
    [2, (v) => `The signal leaves with size ${told(v)}.`],
    [Infinity, (v) => `The signal grows to ${told(v)}.`],
  ],
};
const layers = (n) => `${n} ${n === 1 ? "layer" : "layers"}`;
/** A size in three digits, whatever it is. */
const told = (v) => tickName(Number(v.toPrecision(3)));
const saying = (list, v) => list.find(([most]) => v <= most)[1](v);

function read(model) {
  const depth = count(model, "depth");
  return { depth, gain: real(model, "gain"), skip: model.get("skip") !== false, norm: choice(model, "norm"),
    sublayer: choice(model, "sublayer"), seed: count(model, "seed"), layer: count(model, "layer", 0, depth) };
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "gradient-flow" });
  const put = setter(model);
  slider(view, model, "depth", { label: WORDS.depth });
  slider(view, model, "gain", { label: WORDS.gain });
  toggle(view, model, "skip", { label: WORDS.skip });
  select(view, model, "norm", { label: WORDS.norm, options: Object.entries(WORDS.norms) });
  select(view, model, "sublayer", { label: WORDS.sublayer, options: Object.entries(WORDS.sublayers) });
  button(view, { label: WORDS.anew, press: () => put({ seed: (read(model).seed % 99) + 1 }) });

  /** @type {any} */
  let now = null;
  let held = null; // the place under the pointer
  let sizes = { forward: [], backward: [] };
  const before = ghost();
  /** @type {any} */
  let was = null; // what was drawn before the last change
  const place = () => Math.min(now.depth, held ?? now.layer);
  const stack = lamps(view, { rows: WORDS.rows, press: (at) => put({ layer: at }),
    point: (at) => { if (now && at !== held) { held = at; look(true); } },
    label: () => WORDS.lamps(now, sizes.backward[0], sizes.forward[now.depth]) });
  const curves = chart(view, { caption: WORDS.chart, xTitle: WORDS.layer, yTitle: WORDS.size, logY: true,
    digits: 3, height: 180, low: 0.1, high: 10,
    read: (at) => { if (now && at !== held) { held = at; look(at === null); } } });
  const picture = curves.pane.querySelector("svg");
  for (const done of ["click", "keyup"]) {
    picture.addEventListener(done, () => { if (held !== null && held !== now.layer) put({ layer: held }); });
  }
  const caption = curves.pane.querySelector("figcaption");
  const work = h("p", { class: "p-flow-work" });
  view.panes.append(stack.pane, curves.pane, work);

  /** A term of the arithmetic: its colour, what was measured, and what is so on average. */
  const term = (role, name, value, law) => h("span", { "data-role": role },
    h("b", {}, `${name} ${told(value)}`),
    ...(law ? [` (${WORDS.law} `, law.how[0], law.how[1] ? h("sup", {}, law.how[1]) : null,
      law.how[0] === told(law.value) && !law.how[1] ? null : ` = ${told(law.value)}`, ")"] : []));
  function look(whole) {
    const at = place();
    const law = laws(now, at);
    work.replaceChildren(`${WORDS.place(at)}: `,
      term("residual", WORDS.signal, sizes.forward[at], law?.[0]), ", ",
      term("score", WORDS.gradient, sizes.backward[at], law?.[1]), law ? "." : `; ${WORDS.none}.`);
    stack.mark(at);
    if (whole) draw();
  }
  function draw() {
    const x = Array.from({ length: now.depth + 1 }, (_, n) => n);
    const series = [["signal", "residual", "forward"], ["gradient", "score", "backward"]]
      .map(([name, role, of]) => ({ name: WORDS[name], role, y: sizes[of],
        ghost: was?.sizes[of].slice(0, x.length) }));
    const all = [...sizes.forward, ...sizes.backward].filter((v) => v > 0);
    const within = Math.min(...all) < SHADE / 2 && Math.max(...all) > SHADE;
    caption.textContent = WORDS.chart + (was ? WORDS.was(was, now.seed) : "");
    curves.draw({ x, series, at: place(), marks: within ? [{ y: SHADE, name: WORDS.shade }] : [] });
  }
  view.onDraw(() => {
    now = read(model);
    sizes = flow(now);
    const { layer, ...stackOf } = now;
    was = before({ ...now, sizes }, JSON.stringify(stackOf));
    stack.draw({ ...now, ...sizes, at: place() });
    look(true);
    view.say(WORDS.head(now) + saying(WORDS.arrives, sizes.backward[0])
      + saying(WORDS.leaves, sizes.forward[now.depth]));
    report(model, sizes);
  });
  return live(model, view, read);
}

export default guard(render);
