/* The front page's picture: a model writes, word after word, until somebody touches it. Nothing moves where less
   motion is wanted, while nobody looks, or once the reader has taken over. */
"use strict";

addEventListener("DOMContentLoaded", () => {
  // Milliseconds for the opening, which is read, for each word, and for the last one.
  const [OPENING, PACE, REST] = [7000, 3000, 7000];
  const place = document.querySelector("article .pieces-live");
  const button = document.querySelector(".front-write");
  if (!place || !button) return;
  let timer = 0;
  let seen = false;
  let writing = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  let opening = "";
  let written = 0;

  /** How many words fit in behind the first seven, while each column still says its guess at every height: it
   *  needs 30 px. */
  function room() {
    const wide = place.clientWidth;
    return wide < 600 ? Math.max(2, Math.floor((wide - 40) / 30) - 7) : wide < 940 ? 5 : 9;
  }

  /** A reader of the screen hears what was asked for, not what goes on by itself. */
  function hush(quiet) {
    for (const voice of place.querySelectorAll("[role=status], [aria-live]")) {
      if (quiet) voice.setAttribute("aria-live", "off");
      else voice.removeAttribute("aria-live");
    }
  }

  function write() {
    const model = window.pieces.model(place.dataset.model);
    const longer = model.get("continued");
    opening ||= model.get("text");
    const again = written >= room() || !longer;
    written = again ? 0 : written + 1;
    model.set({ text: again ? opening : longer, word: 0 });
    model.save_changes();
    run();
  }

  /** Ask for the next word, if one is wanted now. */
  function run(asked = false) {
    clearTimeout(timer);
    const alive = place.dataset.state === "live";
    if (alive && button.hidden) {
      place.querySelector(".w-one").after(button); // beside the other controls
      button.hidden = false;
    }
    hush(writing);
    button.textContent = writing ? button.dataset.pause : button.dataset.play;
    button.classList.toggle("front-writing", writing);
    const pause = asked ? PACE / 6 : !written ? OPENING : written < room() ? PACE : REST;
    if (writing && alive && seen && !document.hidden) timer = setTimeout(write, pause);
  }
  function stop(event) {
    if (!writing || button.contains(event.target)) return;
    writing = false;
    run();
  }

  button.addEventListener("click", () => {
    writing = !writing;
    const { get } = window.pieces.model(place.dataset.model);
    if (writing && !(opening && get("text").startsWith(opening))) [opening, written] = [get("text"), 0];
    run(writing);
  });
  // A link has brought a state of its own, or sets one now.
  if (location.hash.startsWith("#see-")) writing = false;
  for (const touch of ["pointerdown", "keydown", "focusin", "click", "pieces-set"]) place.addEventListener(touch, stop);
  document.addEventListener("visibilitychange", () => run());
  new MutationObserver(() => run()).observe(place, { attributes: true, attributeFilter: ["data-state"] });
  new IntersectionObserver(([entry]) => {
    seen = entry.isIntersecting;
    run();
  }).observe(place);
});

/* The list of chapters is the picture's key: who points at a chapter sees its part light up beside it, and
   who points at a part sees its chapters. */
addEventListener("DOMContentLoaded", () => {
  const model = document.querySelector(".front-key .here-model");
  const entries = [...document.querySelectorAll(".front-map dt[data-lit]")];
  if (!model) return;
  const kinds = (entry) => entry.dataset.lit.split(/ (?!word)/);
  const light = (lit) => {
    const classes = lit.map((kind) => `lit-${kind.replace(" ", "-")}`);
    model.setAttribute("class", ["here-model", ...classes].join(" "));
  };
  for (const entry of entries) {
    for (const part of [entry, entry.nextElementSibling]) {
      const [on, off] = [() => light(kinds(entry)), () => light([])];
      for (const come of ["pointerenter", "focusin"]) part.addEventListener(come, on);
      for (const go of ["pointerleave", "focusout"]) part.addEventListener(go, off);
    }
  }
  for (const part of model.children) {
    const kind = part.getAttribute("class").replace("here-", "").replace("-", " ");
    const mark = (on) => entries.forEach((entry) => {
      entry.classList.toggle("front-lit", on && kinds(entry).includes(kind));
    });
    part.addEventListener("pointerenter", () => { light([kind]); mark(true); });
    part.addEventListener("pointerleave", () => { light([]); mark(false); });
  }
});
