/** A question whose answer is a number: typed, checked here, kept over a reload. */
import { frame, guard, h, live, parseNumber, real, remembered, report, text as read } from "../kit/kit.js";

const WORDS = {
  title: "Predict the number", yours: "Your answer", check: "Check", show: "Show the answer",
  ask: "Type a number, for instance 0.25, 1/4 or 25 %.", again: "Look again at the equation.",
  right: (answer, why) => `✓ Right: ${answer}. ${why}`,
  near: (typed, answer, why) => `✓ Right: you said ${typed}, and it is ${answer}. ${why}`,
  wrong: (number, hint) => `✗ Not ${number}. ${hint}`,
  shown: (number, why) => `The answer is ${number}. ${why}`,
};
const SLIP = 0.05; // how near to a slip's own size a number is that slip
const TRIES = 2; // wrong answers after which the right one may be seen

/** A number as a reader would write it: 17, not 17.000, and a whole one in full, 1,048,576. */
const readable = (number) => number.toLocaleString("en-US",
  Math.abs(number) < 1000 ? { maximumSignificantDigits: 6 } : { maximumFractionDigits: 2 })
  .replaceAll("-", "−");

/** How many decimals and how many digits in all were typed, of a plain number: 1.22 has 2 and 3. */
function precision(typed) {
  const [, whole, part = ""] = /^[+−-]?0*(\d*)(?:[.,](\d*))?$/u.exec(typed.trim()) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/, "").length;
  return whole === undefined ? null : { decimals: part.length, digits };
}

/** Whether it is the answer, rounded to the digits that were typed: no more were asked for. */
function rounds(typed, number, answer) {
  const { decimals, digits } = precision(typed) ?? {};
  return digits >= 2 && Math.abs(Number(answer.toFixed(decimals)) - number) < 1e-12;
}

/**
 * What was typed, as a number, a fraction of two or a percentage: 0.75, 3/4 or 75 %; NaN where it
 * is none. Where percentages are asked for, 75 % is 75.
 */
function value(typed, percents) {
  const [over, under = "1", ...more] = typed.replace(/%\s*$/u, percents ? "" : "/100").split("/");
  return more.length ? NaN : parseNumber(over) / parseNumber(under);
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "predict-number", heading: false });
  view.details.remove();
  const question = h("p", { class: "p-question" });
  const kept = remembered("predict", read(model, "question"));
  const input = h("input", {
    type: "text", inputmode: "decimal", autocomplete: "off", class: "p-number", "aria-label": WORDS.yours,
    oninput: () => { kept.write(input.value); input.removeAttribute("aria-invalid"); verdict("", ""); },
    onkeydown: (event) => { if (event.key === "Enter") check(); },
  });
  input.value = kept.read() ?? "";
  const button = h("button", { type: "button", class: "p-button", onclick: check }, WORDS.check);
  const reveal = h("button", { type: "button", class: "p-button", hidden: true, onclick: show }, WORDS.show);
  view.panes.append(question, h("div", { class: "p-answer" }, input, button, reveal, view.foot));
  /** What is no number is no answer, and none is right then. */
  const known = (trait) => real(model, trait, undefined, undefined, NaN);
  const wrong = new Set(); // the same wrong answer twice is one try

  function verdict(kind, words) {
    view.root.dataset.verdict = kind;
    view.say(words);
  }
  function check() {
    const number = value(input.value, /percentage/iu.test(read(model, "question")));
    const finite = Number.isFinite(number);
    const [answer, tolerance] = [known("answer"), known("tolerance")];
    const slip = diagnosis(number, tolerance);
    const right = finite && (Math.abs(number - answer) <= tolerance + 1e-12
      || (!slip && tolerance > 0 && rounds(input.value, number, answer)));
    input.setAttribute("aria-invalid", String(!finite));
    if (finite && !right) wrong.add(number);
    if (right) kept.solve();
    reveal.hidden = right || wrong.size < TRIES;
    verdict(right ? "right" : "wrong", !finite ? WORDS.ask
      : !right ? WORDS.wrong(readable(number), slip || read(model, "hint") || WORDS.again)
      : readable(number) === readable(answer) ? WORDS.right(readable(answer), read(model, "why"))
      : WORDS.near(readable(number), readable(answer), read(model, "why")));
    report(model, { typed: input.value, correct: finite ? right : null });
  }
  /**
   * What is said to a typical slip: the nearest of those that are as near as a right answer would
   * have to be, and within a twentieth of their own size. A wide tolerance is the answer's alone.
   */
  function diagnosis(number, tolerance) {
    const slips = Array.isArray(model.get("slips")) ? model.get("slips") : [];
    const off = ([slip]) => Math.abs(number - slip);
    const [near] = [...slips].sort((a, b) => off(a) - off(b));
    return near && off(near) <= Math.min(tolerance, Math.abs(near[0]) * SLIP) + 1e-12 ? near[1] : "";
  }
  function show() {
    const answer = known("answer");
    verdict("shown", WORDS.shown(readable(answer), read(model, "why")));
    reveal.hidden = true;
  }
  view.onDraw(() => { question.textContent = read(model, "question"); });
  return live(model, view);
}

export default guard(render);
