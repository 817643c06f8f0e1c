/* Paper is light whatever the screen shows, and shows the notes that a page folds away. */
"use strict";

(() => {
  const root = document.documentElement;
  let before = null; // what the screen showed, while it is paper's turn

  function begin() {
    if (before) return;
    const notes = [...document.querySelectorAll("details.pieces-notes:not([open])")];
    before = { notes, theme: root.dataset.theme };
    for (const part of notes) part.open = true;
    if (before.theme) root.dataset.theme = "light";
  }

  function end() {
    if (!before) return;
    for (const part of before.notes) part.open = false;
    if (before.theme) root.dataset.theme = before.theme;
    before = null;
  }

  addEventListener("beforeprint", begin);
  addEventListener("afterprint", end);
  matchMedia("print").addEventListener("change", ({ matches }) => (matches ? begin() : end()));
})();
