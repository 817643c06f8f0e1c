/* What is far from the screen keeps its height and is neither laid out nor painted: a control then costs its
   own widget, not the page around it. It can still be searched, linked to, read out and printed. */
"use strict";

addEventListener("load", () => {
  // Chromium wakes such a part 1.5 screens away; by then it must stand as any other.
  const watching = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target, boundingClientRect: { height } } of seen) {
      const part = /** @type {HTMLElement} */ (target);
      const far = !isIntersecting && stands(part);
      if (far && !part.classList.contains("p-far")) part.style.containIntrinsicHeight = `${height}px`;
      part.classList.toggle("p-far", far);
    }
  }, { rootMargin: "160%" });

  /** Whether its widgets have the heights that they will have. */
  const stands = (part) => [...part.querySelectorAll(".pieces-live[data-module]")].every(
    ({ dataset: { settled, state } }) => settled !== undefined || state === "failed");

  /** Look at a part again: it may have another height. */
  function again(part) {
    part.classList.remove("p-far");
    watching.unobserve(part);
    watching.observe(part);
  }

  // The margin below a section is lost in the heading's of the next; the last one's would be missed.
  const page = document.querySelector("article:has(.pieces-live) > section");
  const all = [...page?.querySelectorAll(":scope > section:not(:last-child):has(> h2), "
    + ".cell:not(.exercise ~ .cell):has(.pieces-live)") ?? []]; // what belongs to an exercise stands in its frame
  all.forEach(again);
  const changed = ({ target }) => all.filter((part) => part.contains(target)).forEach(again);
  addEventListener("pieces-fitted", changed); // a widget has another height (host.js)
  addEventListener("toggle", changed, true);
  let [wide, rest] = [innerWidth, 0];
  addEventListener("resize", () => {
    if (innerWidth === wide) return; // a phone's address bar changes the height alone
    wide = innerWidth;
    all.forEach((part) => { watching.unobserve(part); part.classList.remove("p-far"); });
    clearTimeout(rest);
    rest = setTimeout(() => all.forEach(again), 600); // the theme moves its columns for a while
  });
});
