"""Figures on the pages: one picture of each is seen, and its words can be read on a phone."""

from browser import ROOT

# Of each figure that is seen: how many pictures of it are, the smallest of its words in px, and the
# words that stand beyond its picture.
FIGURES = """() => {
  document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  return [...document.querySelectorAll("article .pieces-figure")].map((figure) => {
    const seen = [...figure.querySelectorAll("svg")].filter((one) => one.checkVisibility());
    const at = seen[0].getBoundingClientRect();
    const scale = at.width / seen[0].viewBox.baseVal.width;
    const words = [...seen[0].querySelectorAll("text")];
    const sizes = words.map((word) => parseFloat(getComputedStyle(word).fontSize));
    const beyond = words.filter((word) => {
      const { left, right, top, bottom } = word.getBoundingClientRect();
      return Math.max(at.left - left, right - at.right, at.top - top, bottom - at.bottom) > 3;
    });
    return {
      pictures: seen.length,
      narrow: seen[0].classList.contains("pieces-narrow"),
      smallest: Math.min(...sizes) * scale,
      beyond: beyond.map((word) => word.textContent),
      named: seen[0].getAttribute("aria-label").slice(0, 60),
    };
  });
}"""
# The width of the window, and the least that a word of a figure measures there, in px.
LEAST = {360: 8.0, 390: 8.7, 1366: 10.5}
CHAPTERS = sorted(path.stem for path in (ROOT / "chapters").glob("[0-9]*.ipynb"))


def test_one_picture_of_a_figure_is_seen_and_read(chromium, site):
    """No script is needed for it."""
    narrow = dict.fromkeys(LEAST, 0)
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    for name in CHAPTERS:
        page.goto((site / "chapters" / f"{name}.html").as_uri())
        for width, least in LEAST.items():
            page.set_viewport_size({"width": width, "height": 844})
            for figure in page.evaluate(FIGURES):
                said = f"{name} at {width} px: {figure}"
                assert figure["pictures"] == 1, said
                assert figure["smallest"] >= least, said
                assert figure["beyond"] == [], said
                narrow[width] += figure["narrow"]
    context.close()
    desk = narrow.pop(max(LEAST))
    assert min(narrow.values()) > 20
    assert desk == 0
