/** What speaks of the same thing lights up together: words, arithmetic and picture. */

/**
 * Elements say what they are of by `data-lit` (a role) and `data-key` (which one, on them or around them).
 * Under the pointer, or in focus, one lights all others of its role and key; a key alone all of that key.
 * @param {Object} view @param {(key: number|null) => void} tell which key is pointed at now
 */
export function lights(view, tell = () => {}) {
  const { root } = view;
  /** @type {{role: string|null, key: string|null}|null} */
  let now = null;
  const keyOf = (node) => node.closest("[data-key]")?.getAttribute("data-key") ?? null;
  function paint() {
    root.classList.toggle("p-dimmed", now !== null);
    for (const node of root.querySelectorAll("[data-lit]")) {
      const key = keyOf(node);
      const mine = now !== null && (now.role === null || node.getAttribute("data-lit") === now.role)
        && (now.key === null || key === null || key === now.key);
      node.classList.toggle("p-lit", mine);
    }
  }
  function point(target) {
    const marked = target instanceof Element ? target.closest("[data-lit], [data-key]") : null;
    const next = marked && { role: marked.getAttribute("data-lit"), key: keyOf(marked) };
    if (next?.role === now?.role && next?.key === now?.key) return;
    const before = now?.key ?? null;
    now = next;
    paint();
    if ((now?.key ?? null) !== before) tell(now?.key == null ? null : Number(now.key));
  }
  root.addEventListener("pointerover", (event) => { if (!event.buttons) point(event.target); });
  root.addEventListener("pointerleave", () => point(null));
  root.addEventListener("focusin", (event) => {
    if (event.target.matches(":focus-visible")) point(event.target);
  });
  root.addEventListener("focusout", () => point(null));
  return {
    /** Light again what a draw has made anew. */
    paint: () => { if (now) paint(); },
  };
}
