"""What can be measured of a chapter's page in a browser: places, heights, widths, open code."""

from dataclasses import dataclass

DESK, PHONE = (1366, 768), (390, 844)
# Everything in one question. Only what is seen counts: what is folded is not.
MEASURE = """() => {
  const article = document.querySelector("article.bd-article");
  const all = (selector) => [...article.querySelectorAll(selector)];
  const seen = (part) => part.checkVisibility() && part.offsetHeight > 0;
  const box = (part) => part.getBoundingClientRect();
  const name = (part) => part.textContent.trim().slice(0, 50) || part.className;
  const outermost = (part, at, parts) =>
    !parts.some((other) => other !== part && other.contains(part));
  const widgets = all(".pieces-live, .pieces-still").filter(seen).filter(outermost);
  const code = all("div.cell_input pre, .pieces-code .highlight pre, div[class*=highlight-] pre")
    .filter((part) => seen(part) && !part.closest(".cell_output .output, .pieces, .formula"));
  const tables = ".pieces-table, .pst-scrollable-table-container";
  const boxes = all(`pre, ${tables}, div.math, .pieces-live, .cell_output`);
  const wide = boxes.filter((part) => seen(part) && part.scrollWidth > part.clientWidth + 1);
  return {
    first_widget: widgets.length ? box(widgets[0]).top + scrollY : Infinity,
    length: document.scrollingElement.scrollHeight,
    widgets: widgets.reduce((sum, part) => sum + box(part).height, 0),
    code: code.reduce((sum, part) => sum + box(part).height, 0),
    blocks: code.map((part) => [part.textContent.trim().split("\\n").length, name(part)]),
    wide: wide.map((part) => `${part.className || part.tagName}: ${name(part)}`),
    page_width: document.scrollingElement.scrollWidth,
    headings: all("h1, h2, h3, h4, h5, h6").map((part) => Number(part.tagName[1])),
  };
}"""


@dataclass(frozen=True)
class Page:
    """The numbers of one page at one width of the screen, in px."""

    first_widget: float
    length: int
    widgets: float
    code: float
    blocks: list
    wide: list
    page_width: int
    headings: list

    @property
    def widget_share(self) -> float:
        """How much of the page is widgets."""
        return self.widgets / self.length

    @property
    def code_share(self) -> float:
        """How much of the page is open code."""
        return self.code / self.length

    @property
    def longest_block(self) -> tuple[int, str]:
        """The lines of the longest open block, and how it begins."""
        return tuple(max(self.blocks, default=(0, "")))


def measure(page) -> Page:
    """Return the numbers of an open page."""
    return Page(**page.evaluate(MEASURE))
