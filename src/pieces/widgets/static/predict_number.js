/** A question whose answer is a number: typed, checked here, kept over a reload. */
import { clamp, frame, guard, h, live, parseNumber, remembered, report, text as read } from "./kit.js";

/** A number as a reader would write it: 17, not 17.000. */
const shortest = (number) => String(Number(number.toPrecision(6))).replaceAll("-", "−");

/** What was typed, as a number or a fraction of two: 0.75 or 3/4; NaN where it is none. */
function value(typed) {
  const [over, under = "1", ...more] = typed.split("/");
  return more.length ? NaN : parseNumber(over) / parseNumber(under);
}

function render({ model, el }) {
  const view = frame(el, { title: "Predict the number", name: "predict-number", heading: false });
  view.details.remove();
  const question = h("p", { class: "p-question" });
  const kept = remembered(`predict:${read(model, "question")}`);
  const input = h("input", {
    type: "text", inputmode: "decimal", autocomplete: "off", class: "p-number", "aria-label": "Your answer",
    oninput: () => { kept.write(input.value); input.removeAttribute("aria-invalid"); verdict("", ""); },
    onkeydown: (event) => { if (event.key === "Enter") check(); },
  });
  input.value = kept.read() ?? "";
  const button = h("button", { type: "button", class: "p-button", onclick: check }, "Check");
  view.panes.append(question, h("div", { class: "p-answer" }, input, button));

  function verdict(kind, words) {
    view.root.dataset.verdict = kind;
    view.say(words);
  }
  function check() {
    const number = value(input.value);
    const finite = Number.isFinite(number);
    const [answer, tolerance] = ["answer", "tolerance"].map((trait) => clamp(model.get(trait), -1e9, 1e9, NaN));
    const right = finite && Math.abs(number - answer) <= tolerance + 1e-12;
    input.setAttribute("aria-invalid", String(!finite));
    verdict(right ? "right" : "wrong", !finite ? "Type a number, for instance 0.25 or 1/4."
      : right ? `✓ Right: ${shortest(number)}. ${read(model, "why")}`
      : `✗ Not ${shortest(number)}. ${read(model, "hint") || "Look again at the equation."}`);
    report(model, { typed: input.value, correct: finite ? right : null });
  }
  view.onDraw(() => { question.textContent = read(model, "question"); });
  return live(model, view);
}

export default guard(render);
