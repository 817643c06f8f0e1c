"""How widgets write numbers: none as 4.3e−3, and no probability and no weight with a power of ten."""

import re

from samples import beside

from browser import painted

# Each text with what it is of: a table's caption and the column's head, a heat map's, a class.
TEXTS = """() => { const root = document.querySelector(".pieces");
  const place = (node) => { const cell = node.closest("td, th"); const table = node.closest("table");
    return cell && table ? `${table.caption?.textContent ?? table.className}: ${
      table.rows[0].cells[cell.cellIndex]?.textContent}` : node.className.baseVal ?? node.className; };
  const roleOf = (node) => node?.dataset.role ?? node?.dataset.lit ?? "";
  const found = [];
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode())
    found.push([node.textContent, place(node.parentElement), roleOf(node.parentElement.closest("[data-role], [data-lit]"))]);
  for (const node of root.querySelectorAll("[aria-label], [title], [aria-description]"))
    for (const name of ["aria-label", "title", "aria-description"])
      if (node.hasAttribute(name)) found.push([node.getAttribute(name), name, ""]);
  for (const canvas of root.querySelectorAll("canvas"))
    for (const mark of window.drawn(canvas))
      if (mark.text) found.push([mark.text, canvas.closest(".p-pane")?.querySelector("figcaption").textContent ?? "", ""]);
  return found; }"""
TIPS = """() => [...document.querySelectorAll(".p-pane")].flatMap((pane) => {
  const [board, tip] = [pane.querySelector(".p-board"), pane.querySelector(".p-tip")];
  if (!board || !tip || !board.offsetParent) return [];
  const box = board.getBoundingClientRect();
  const told = new Set();
  for (let y = 20; y < box.height; y += 12) for (let x = 20; x < box.width; x += 12) {
    board.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, pointerType: "mouse",
      clientX: box.left + x, clientY: box.top + y }));
    if (!tip.hidden) told.add(tip.textContent);
  }
  return [...told].map((text) => [text, `tip: ${pane.querySelector("figcaption").textContent}`, ""]);
})"""
TYPED = re.compile(r"\de[−+-]?\d")  # as a program writes it
POWER = re.compile(r"\d·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]")


def numbers_to_mend(page, name: str) -> list[str]:
    """Return each number that a widget tells as a program writes it, and each chance as a power of ten."""
    # What may be a power of ten is no probability; where it stands, the widget's samples say.
    no_chance, found = getattr(beside(name, "samples"), "NO_CHANCE", None), []
    for text, place, role in painted(page, TEXTS) + page.evaluate(TIPS):
        allowed = no_chance is not None and re.search(no_chance, f"{place} {role} {text}")
        if TYPED.search(text) or (POWER.search(text) and (not allowed or role == "weight")):
            found.append(f"{text!r} in {place!r}")
    return found
