/** A question whose answer is a number: typed, checked here, kept over a reload. */
import { clamp, frame, guard, h, live, parseNumber, remembered, report, text as read } from "./kit.js";

const WORDS = {
  title: "Predict the number", yours: "Your answer", check: "Check", show: "Show the answer",
  ask: "Type a number, for instance 0.25, 1/4 or 25 %.", again: "Look again at the equation.",
  right: (number, why) => `✓ Right: ${number}. ${why}`,
  wrong: (number, hint) => `✗ Not ${number}. ${hint}`,
  shown: (number, why) => `The answer is ${number}. ${why}`,
};
const TRIES = 2; // wrong answers after which the right one may be seen

/** A number as a reader would write it: 17, not 17.000. */
const shortest = (number) => String(Number(number.toPrecision(6))).replaceAll("-", "−");

/**
 * What was typed, as a number, a fraction of two or a percentage: 0.75, 3/4 or 75 %; NaN where it
 * is none.
 */
function value(typed) {
  const [over, under = "1", ...more] = typed.replace(/%\s*$/u, "/100").split("/");
  return more.length ? NaN : parseNumber(over) / parseNumber(under);
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "predict-number", heading: false });
  view.details.remove();
  const question = h("p", { class: "p-question" });
  const kept = remembered(`predict:${read(model, "question")}`);
  const input = h("input", {
    type: "text", inputmode: "decimal", autocomplete: "off", class: "p-number", "aria-label": WORDS.yours,
    oninput: () => { kept.write(input.value); input.removeAttribute("aria-invalid"); verdict("", ""); },
    onkeydown: (event) => { if (event.key === "Enter") check(); },
  });
  input.value = kept.read() ?? "";
  const button = h("button", { type: "button", class: "p-button", onclick: check }, WORDS.check);
  const reveal = h("button", { type: "button", class: "p-button", hidden: true, onclick: show }, WORDS.show);
  view.panes.append(question, h("div", { class: "p-answer" }, input, button, reveal));
  const wrong = new Set(); // the same wrong answer twice is one try

  function verdict(kind, words) {
    view.root.dataset.verdict = kind;
    view.say(words);
  }
  function check() {
    const number = value(input.value);
    const finite = Number.isFinite(number);
    const [answer, tolerance] = ["answer",
      "tolerance"].map((trait) => clamp(model.get(trait), -1e9, 1e9, NaN));
    const right = finite && Math.abs(number - answer) <= tolerance + 1e-12;
    input.setAttribute("aria-invalid", String(!finite));
    if (finite && !right) wrong.add(number);
    reveal.hidden = right || wrong.size < TRIES;
    verdict(right ? "right" : "wrong", !finite ? WORDS.ask
      : right ? WORDS.right(shortest(number), read(model, "why"))
      : WORDS.wrong(shortest(number), diagnosis(number, tolerance) || read(model, "hint") || WORDS.again));
    report(model, { typed: input.value, correct: finite ? right : null });
  }
  /**
   * What is said to a typical slip: the nearest of those that are as near as a right answer would
   * have to be.
   */
  function diagnosis(number, tolerance) {
    const slips = Array.isArray(model.get("slips")) ? model.get("slips") : [];
    const off = ([slip]) => Math.abs(number - slip);
    const [near] = [...slips].sort((a, b) => off(a) - off(b));
    return near && off(near) <= tolerance + 1e-12 ? near[1] : "";
  }
  function show() {
    const answer = clamp(model.get("answer"), -1e9, 1e9, NaN);
    verdict("shown", WORDS.shown(shortest(answer), read(model, "why")));
    reveal.hidden = true;
  }
  view.onDraw(() => { question.textContent = read(model, "question"); });
  return live(model, view);
}

export default guard(render);
