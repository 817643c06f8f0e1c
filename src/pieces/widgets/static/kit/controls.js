/** Controls: each shows one trait, sets one trait, has a label, and works by keyboard and touch. */
import { clamp, commit, format, h, limits, parseNumber, plain } from "./dom.js";

let serial = 0;
const unique = () => `p${++serial}`;

function set(node, name, value) {
  if (node[name] !== String(value)) node[name] = String(value);
}

/** A slider, with the range and the step of Python's trait, or a narrower range. `max` may be a function,
 *  where another control decides how far this one goes.
 *  `scale: "power"` steps through powers of two, or of `radix`, "ten" through whole powers of ten; `stops`
 *  gives the values themselves, of which the trait's must be one. `into` is where it stands, above the
 *  panes if not said.
 *  @param {Object} frame @param {Object} model @param {string} trait
 *  @param {{label: string, min?: number, max?: number|(() => number), step?: number, scale?: "power"|"ten",
 *    radix?: number, stops?: () => number[], into?: Element, show?: (n: number) => string}} options */
export function slider(frame, model, trait, options) {
  const own = limits(model, trait);
  const { label, max = own.high ?? 0, scale, radix = 2 } = options;
  // Of the stops those that the trait may have, and the one where it stands.
  const within = (value) => value >= (own.low ?? -Infinity) && value <= (own.high ?? Infinity);
  const stops = options.stops && (() => options.stops().filter((value) =>
    within(value) || value === model.get(trait)));
  const min = Math.max(own.low ?? options.min ?? 0, options.min ?? -Infinity);
  // On another scale, and among stops, a step is one of those.
  const { step = scale || stops ? 1 : own.step ?? 1 } = options;
  const { into = frame.controls, show = plain } = options;
  const most = () => Math.min(own.high ?? Infinity, typeof max === "function" ? max() : max);
  const power = (value) => Number((Math.log(value) / Math.log(radix)).toFixed(9));
  const scaled = { power, ten: Math.log10 }[scale] ?? ((value) => value);
  const toThumb = (value) => (stops ? stops().indexOf(value) : scaled(value));
  /** The nearest stop of a thumb, which stands between two where Python put it there. */
  const stop = (at) => Math.round(at / step) * step;
  const toTrait = (at) => {
    if (stops) return stops()[stop(at)];
    if (scale === "power") return radix ** stop(at);
    return Number(scale === "ten" ? `1e${stop(at)}` : stop(at).toFixed(6));
  };
  const held = (value) => (stops ? value : clamp(value, min, most(), min));
  const id = unique();
  const output = h("output", { for: id, "aria-live": "off" }); // the slider itself speaks
  const input = h("input", {
    id, type: "range", min: stops ? 0 : scaled(min),
    "data-radix": { power: radix, ten: 10 }[scale] ?? null,
    oninput: () => commit(model, trait, held(toTrait(Number(input.value)))),
  });
  const box = h("div", { class: "p-control", "data-trait": trait }, h("label", { for: id }, label), output,
    input);
  into.append(box);
  frame.onDraw(() => {
    const value = held(model.get(trait));
    const at = toThumb(value);
    // In this order: a thumb is held within the bounds and the steps that stand when it is put.
    set(input, "max", stops ? stops().length - 1 : scaled(most()));
    set(input, "step", Math.abs(stop(at) - at) < 1e-9 ? step : "any");
    if (stops) input.dataset.stops = stops().join(" ");
    if (input.value !== String(at)) input.value = String(at);
    const text = show(value);
    if (output.value !== text) { output.value = text; input.setAttribute("aria-valuetext", text); }
  });
  return { box, show(visible) { box.hidden = !visible; } };
}

/**
 * A choice among words: a native list, which phones and screen readers know. `before` sets what
 * goes with it.
 */
export function select(frame, model, trait, { label, options, before = () => {} }) {
  const id = unique();
  const input = h("select", { id, onchange: () => choose(input.value) },
    ...options.map(([value, name]) => h("option", { value }, name)));
  const choose = (value) => { before(); commit(model, trait, value); };
  const box = h("div", { class: "p-control", "data-trait": trait }, h("label", { for: id }, label), input);
  frame.controls.append(box);
  frame.onDraw(() => {
    const value = options.some(([known]) => known === model.get(trait)) ? model.get(trait) : options[0][0];
    if (input.value !== value) input.value = value;
  });
  return { box, show(visible) { box.hidden = !visible; } };
}

/** On or off. */
export function toggle(frame, model, trait, { label }) {
  const input = h("input", { type: "checkbox", onchange: () => commit(model, trait, input.checked) });
  const box = h("label", { class: "p-control p-toggle", "data-trait": trait }, input, h("span", {}, label));
  frame.controls.append(box);
  frame.onDraw(() => { input.checked = model.get(trait) === true; });
  return { box, show(visible) { box.hidden = !visible; } };
}

/** A button. */
export function button(frame, { label, press }) {
  const node = h("button", { type: "button", class: "p-button", onclick: press }, label);
  frame.controls.append(node);
  return { box: node, show(visible) { node.hidden = !visible; } };
}

/** Numbered steps, one at a time: back, the name of each step, on. */
export function stepper(frame, model, trait, { label, steps }) {
  const go = (to) => commit(model, trait, clamp(to, 0, steps.length - 1, 0));
  const now = () => Math.round(clamp(model.get(trait), 0, steps.length - 1, 0));
  const back = h("button", { type: "button", class: "p-button", "aria-label": "Previous step",
    onclick: () => go(now() - 1) }, "‹");
  const on = h("button", { type: "button", class: "p-button", "aria-label": "Next step",
    onclick: () => go(now() + 1) }, "›");
  const stops = steps.map((name, i) =>
    h("button", { type: "button", class: "p-step", onclick: () => go(i) }, h("b", {}, `${i + 1}`),
      ` ${name}`));
  const box = h("div", { class: "p-stepper", "data-trait": trait, role: "group", "aria-label": label },
    back, h("div", { class: "p-steps" }, ...stops), on);
  frame.controls.append(box);
  frame.onDraw(() => {
    stops.forEach((stop, i) => stop.setAttribute("aria-current", i === now() ? "step" : "false"));
    back.disabled = now() === 0;
    on.disabled = now() === steps.length - 1;
  });
  return { box };
}

/** A field for one number, `whole` or any. What is typed stays until the value changes elsewhere; only a
 *  finite number in range is used. An arrow key adds `by`.
 *  @param {{label: string, low: number, high: number|(() => number), value: () => number,
 *    change: (number: number) => void, by?: number, whole?: boolean, even?: boolean,
 *    complain?: () => void}} options */
export function numberField(options) {
  const { label, low, high, value, change, by = 0.1, whole = false, even = false } = options;
  const { complain = () => {} } = options;
  const kind = even ? "an even number" : whole ? "a whole number" : "a number";
  const most = typeof high === "function" ? high : () => high;
  let [typing, used] = [false, NaN];
  const input = h("input", {
    type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", class: "p-number",
    "aria-label": label,
    oninput: () => { typing = true; judge(); },
    onblur: () => { typing = false; },
    onkeydown: (event) => {
      const step = { ArrowUp: by, ArrowDown: -by }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = clamp(Math.round((value() + step) * 1000) / 1000, low, most(), 0);
      input.value = String(next);
      judge();
    },
  });
  function judge() {
    const number = parseNumber(input.value);
    const good = Number.isFinite(number) && number >= low && number <= most()
      && !(whole && number % (even ? 2 : 1));
    used = value();
    input.setAttribute("aria-invalid", String(!good));
    input.title = good ? "" : `“${input.value.slice(0, 12)}” is not ${kind} `
      + `from ${plain(low)} to ${plain(most())}: `
      + `${whole || value() > 999 ? plain(value()) : format(value())} stays in use.`;
    complain();
    if (good) change(number);
  }
  return {
    input,
    update() {
      const bad = input.getAttribute("aria-invalid") === "true";
      if (typing || (bad && value() === used)) return;
      if (bad) { input.setAttribute("aria-invalid", "false"); input.title = ""; complain(); }
      const text = String(Math.round(value() * 1e4) / 1e4);
      if (input.value !== text) input.value = text;
    },
  };
}

/** A matrix whose cells can be edited: one trait, nested lists. What is no number is said below it.
 *  @param {Object} frame @param {Object} model @param {string} trait
 *  @param {{label: string, role: string, read: () => number[][]}} options */
export function matrixEditor(frame, model, trait, { label, role, read }) {
  const fields = [];
  const { bound, rows, columns } = limits(model, trait);
  const body = h("tbody", {});
  const note = h("p", { class: "p-note", role: "status" });
  const complain = () => {
    note.textContent = body.querySelector('[aria-invalid="true"]')?.getAttribute("title") ?? "";
  };
  for (let i = 0; i < rows; i++) {
    const line = h("tr", {});
    for (let j = 0; j < columns; j++) {
      const field = numberField({
        label: `${label}, row ${i + 1}, column ${j + 1}`, low: -bound, high: bound,
        value: () => read()[i][j], complain,
        change: (number) => commit(model, trait,
          read().map((row, r) => row.map((x, c) => (r === i && c === j ? number : x)))),
      });
      fields.push(field);
      line.append(h("td", {}, field.input));
    }
    body.append(line);
  }
  frame.onDraw(() => { fields.forEach((field) => field.update()); complain(); });
  return h("div", {}, h("table", { class: "p-matrix", "data-role": role, "aria-label": label }, body), note);
}
