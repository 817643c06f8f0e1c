/* Folded parts of a page: one switch opens all code, on every page from then on; a link opens what it
   leads into. Each part opens without this script too. */
"use strict";

(() => {
  const KEY = "pieces-code";
  const CODE = "details:is(.above-input, .pieces-other)";
  // An answer is the reader's own to open.
  const folded = () => [...document.querySelectorAll(CODE)].filter((part) => !part.closest("#exercises"));
  let kept = "closed"; // for a browser that lets nothing be kept

  function remembered() {
    try {
      return localStorage.getItem(KEY) ?? kept;
    } catch {
      return kept;
    }
  }

  function remember(state) {
    kept = state;
    try {
      localStorage.setItem(KEY, state);
    } catch {
      // This page still does as it is told.
    }
  }

  /** Show or hide all code, and let the switch say what it would do next. */
  function apply(state) {
    for (const part of folded()) part.open = state === "open";
    const button = document.querySelector(".pieces-switch button");
    const words = button?.dataset[state === "open" ? "hide" : "show"];
    if (button && button.textContent !== words) button.textContent = words;
  }

  /** Open whatever the address leads into. */
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const notes = target.querySelector(":scope > details.pieces-notes");
    let opened = false;
    for (let part = notes ?? target; part; part = part.parentElement) {
      if (part.tagName !== "DETAILS" || part.open) continue;
      opened = part.open = true;
    }
    if (opened) target.scrollIntoView();
  }

  // Code that is to be open is opened as it arrives, before anyone sees it closed.
  const arriving = new MutationObserver(() => apply("open"));
  if (remembered() === "open") arriving.observe(document, { childList: true, subtree: true });

  addEventListener("DOMContentLoaded", () => {
    arriving.disconnect();
    apply(remembered());
    document.querySelector(".pieces-switch button")?.addEventListener("click", () => {
      remember(remembered() === "open" ? "closed" : "open");
      apply(remembered());
    });
    reveal();
  });
  addEventListener("hashchange", reveal);
  addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest("a[href*='#']");
    if (link && link.href === location.href) reveal(); // the address stays, so no other event comes
  });
  addEventListener("pageshow", (event) => event.persisted && apply(remembered()));
})();
