/* "Your answers": what this browser keeps of the exercises, in a table; written to a file and brought back. */
"use strict";

addEventListener("DOMContentLoaded", () => {
  const panel = document.querySelector(".answers-panel");
  const rows = [...document.querySelectorAll(".answers tbody tr")];
  if (!panel || !rows.length) return;
  const BOOK = "Transformer, Piece by Piece";
  const WORDS = {
    right: "✓ right", later: (answer) => `✓ ${answer} was right`, open: "not right yet", mask: "a mask",
    count: (right, typed, all) => `${right} of ${all} questions are answered correctly`
      + `${typed > right ? `, ${typed - right} more are begun` : ""}.`,
    none: "Nothing is answered yet in this browser, so there is nothing to save.",
    saved: (n) => `${n} answer${n === 1 ? "" : "s"} saved.`,
    back: (n, kept) => `${n} answer${n === 1 ? "" : "s"} brought back`
      + `${kept ? `; ${kept} stayed as ${kept === 1 ? "it was" : "they were"} here` : ""}.`,
    strange: (name) => `“${name}” is not a file of answers from this book. Choose one that “Save as a file” has written.`,
    refused: "This browser keeps nothing for this page (a private window, or storage is blocked), so answers cannot be brought back.",
  };
  const say = (/** @type {string} */ words) => { panel.querySelector("[role=status]").textContent = words; };
  const get = (/** @type {string} */ key) => { try { return localStorage.getItem(key); } catch { return null; } };
  /** What is kept of each question: what was typed last, and the answer that was right, if one was. */
  const all = rows.map((row) => {
    const question = row.cells[1].textContent;
    return { row, exercise: row.dataset.exercise, typed: `pieces:${row.dataset.kind}:${question}`,
      right: `pieces:right:${question}`, mask: row.dataset.kind === "mask" };
  });

  /** A mask is kept as rows of true and false: here as rows of x and points. @param {string} text */
  function readable(text, mask) {
    if (!mask) return text;
    try {
      return JSON.parse(text).map((/** @type {boolean[]} */ row) => row.map((x) => (x ? "x" : ".")).join("")).join(" ");
    } catch { return WORDS.mask; }
  }

  function draw() {
    let [right, begun] = [0, 0];
    for (const { row, typed, right: solved, mask } of all) {
      const [text, answer] = [get(typed), get(solved)];
      row.cells[2].textContent = text ? readable(text, mask) : "";
      row.cells[3].textContent = answer === null ? (text ? WORDS.open : "")
        : answer === text ? WORDS.right : WORDS.later(readable(answer, mask));
      right += Number(answer !== null);
      begun += Number(answer !== null || Boolean(text));
    }
    panel.querySelector(".answers-count").textContent = WORDS.count(right, begun, all.length);
    return begun;
  }

  function save() {
    const answers = all.filter(({ typed, right }) => get(typed) || get(right) !== null)
      .map(({ exercise, typed, right }) => ({ exercise, typed: get(typed) ?? "", right: get(right) }));
    if (!answers.length) return say(WORDS.none);
    const who = panel.querySelector("input[type=text]").value.trim();
    const text = `${JSON.stringify({ book: BOOK, version: 1, who, answers }, null, 1)}\n`;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = `answers${who ? `-${who.replace(/[^\p{L}\p{N}]+/gu, "-")}` : ""}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    say(WORDS.saved(answers.length));
  }

  /** The answers of a file; null of a file that has none. @param {string} text */
  function parsed(text) {
    try {
      const { book, answers } = JSON.parse(text);
      const fits = (/** @type {any} */ one) => typeof one?.exercise === "string" && typeof one.typed === "string"
        && (one.right === null || typeof one.right === "string");
      return book === BOOK && Array.isArray(answers) && answers.every(fits) ? answers : null;
    } catch { return null; }
  }

  /** A right answer is never replaced, and a text that somebody typed here neither, but by a right one. */
  async function bring(/** @type {File} */ file) {
    const answers = parsed(await file.text());
    if (!answers) return say(WORDS.strange(file.name));
    let [taken, kept] = [0, 0];
    try {
      for (const { exercise, typed, right } of answers) {
        const here = all.find((one) => one.exercise === exercise);
        if (!here) continue;
        const [text, solved] = [get(here.typed), get(here.right) !== null];
        if (solved || (text && right === null)) {
          kept += Number(text !== typed);
          continue;
        }
        localStorage.setItem(here.typed, typed);
        if (right !== null) localStorage.setItem(here.right, right);
        taken += 1;
      }
    } catch { return say(WORDS.refused); }
    draw();
    say(WORDS.back(taken, kept));
  }

  panel.hidden = false;
  panel.querySelector(".answers-save").addEventListener("click", save);
  const chosen = panel.querySelector("input[type=file]");
  panel.querySelector(".answers-bring").addEventListener("click", () => chosen.click());
  chosen.addEventListener("change", () => {
    if (chosen.files[0]) bring(chosen.files[0]);
    chosen.value = "";
  });
  addEventListener("pageshow", draw); // back from a chapter: what was answered there is here
});
