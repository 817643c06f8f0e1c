/** The buttons of a gallery page: theme and width. A classic script: the page opens from disk. */
(() => {
  "use strict";
  const root = document.documentElement;
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".g-tools [data-theme]"))) {
    button.addEventListener("click", () => { root.dataset.theme = button.dataset.theme; });
  }
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".g-tools [data-width]"))) {
    button.addEventListener("click", () => { document.querySelector("main").style.maxWidth = button.dataset.width; });
  }
  if (matchMedia("(prefers-color-scheme: dark)").matches) root.dataset.theme = "dark";
})();
