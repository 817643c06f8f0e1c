/* The front page's picture: a model writes, word after word, until somebody touches it. Nothing moves where less
   motion is wanted, while nobody looks, or once the reader has taken over. */
"use strict";

addEventListener("DOMContentLoaded", () => {
  const WRITTEN = 26; // words, as many as the picture has room for
  const [PACE, REST] = [1000, 6000]; // milliseconds behind a word, and behind the last one
  const place = document.querySelector("article .pieces-live");
  const button = document.querySelector(".front-hint button");
  if (!place || !button) return;
  let timer = 0;
  let seen = false;
  let writing = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  let opening = "";
  let written = 0;

  /** A reader of the screen hears what was asked for, not what goes on by itself. */
  function hush(quiet) {
    for (const voice of place.querySelectorAll("[role=status], [aria-live]")) {
      if (quiet) voice.setAttribute("aria-live", "off");
      else voice.removeAttribute("aria-live");
    }
  }

  function write() {
    const model = window.pieces.model(place.dataset.model);
    const [likeliest] = model.get("next_words") ?? [];
    opening ||= model.get("text");
    const again = written >= WRITTEN || !likeliest;
    written = again ? 0 : written + 1;
    model.set({ text: again ? opening : `${model.get("text")} ${likeliest[0]}`, token: 0 });
    model.save_changes();
    run();
  }

  /** Ask for the next word, if one is wanted now. */
  function run() {
    clearTimeout(timer);
    const alive = place.dataset.state === "live";
    hush(writing);
    button.textContent = writing ? button.dataset.pause : button.dataset.play;
    if (writing && alive && seen && !document.hidden) timer = setTimeout(write, written < WRITTEN ? PACE : REST);
  }
  function stop() {
    if (!writing) return;
    writing = false;
    run();
  }

  button.addEventListener("click", () => {
    writing = !writing;
    run();
  });
  for (const touch of ["pointerdown", "keydown", "focusin"]) place.addEventListener(touch, stop);
  document.addEventListener("visibilitychange", run);
  new MutationObserver(run).observe(place, { attributes: true, attributeFilter: ["data-state"] });
  new IntersectionObserver(([entry]) => {
    seen = entry.isIntersecting;
    run();
  }).observe(place);
});
