"""At 320 px nothing is cut and no text is under 9 px: captions, labels, words, numbers of cells."""

import pytest
from oracle import recorded
from samples import NAMES, example

# Every text that is seen: its size on the screen, and whether its own box cuts it.
READ = """() => { const found = []; const root = document.querySelector(".pieces");
  const edge = root.getBoundingClientRect();
  const range = document.createRange();
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const on = node.parentElement;
    if (!node.textContent.trim() || !on.checkVisibility({ opacityProperty: true, visibilityProperty: true })
      || on.closest(".p-hidden, .p-tables, option, sub, sup")) continue;
    const svg = on.closest("svg");
    const scale = svg ? on.getScreenCTM?.()?.a ?? 1 : 1;
    const size = parseFloat(getComputedStyle(on).fontSize) * (on.getAttribute("transform") ? 1 : Math.abs(scale));
    const box = on.getBoundingClientRect();
    range.selectNodeContents(node);
    const text = range.getBoundingClientRect();
    let cut = false; // by any box that it stands in and that cannot be scrolled
    for (let up = on; !svg && up !== root.parentElement; up = up.parentElement) {
      const around = up.getBoundingClientRect();
      if (getComputedStyle(up).overflowX === "hidden" && (text.right > around.right + 1 || text.left < around.left - 1)) cut = true;
    }
    const out = svg && (box.right > edge.right + 2 || box.left < edge.left - 2);
    // A name for screen readers alone is in no place, or has no size.
    if (!size || (!svg && box.width < 2)) continue;
    if (size < 8.99 || cut || out) found.push([node.textContent.trim().slice(0, 30), size, cut, out, on.className.baseVal ?? on.className]);
  }
  for (const canvas of root.querySelectorAll("canvas")) {
    if (!canvas.checkVisibility() || canvas.closest("[hidden]")) continue;
    for (const mark of window.drawn(canvas))
      if (mark.size < 8.99) found.push([mark.text, mark.size]);
  }
  return found; }"""


@pytest.mark.parametrize("name", NAMES)
def test_all_can_be_read_at_320_px(bench, name):
    with recorded(bench, example(name), width=320) as page:
        assert page.evaluate(READ) == []
