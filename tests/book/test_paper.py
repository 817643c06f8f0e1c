"""A chapter on paper: light whatever the screen shows, all of it readable, the notes unfolded."""

import pytest

from axe import of_colour
from browser import FREE, PAINTED, ROOT

CHAPTERS = [f"chapters/{path.stem}" for path in sorted((ROOT / "chapters").glob("[0-9]*.ipynb"))]
A4 = 718  # 190 mm between margins, in px
# Code that paper would cut off at its right, in a sentence or a block.
BEYOND = """(width) => [...document.querySelectorAll(".bd-article :is(p code, pre)")]
  .filter((e) => e.checkVisibility() && (e.getBoundingClientRect().right > width
    || e.matches("pre") && e.scrollWidth > e.clientWidth)).map((e) => e.textContent)"""


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_dark_page_is_printed_dark_on_white(tabs, home, name):
    with tabs.opened(f"{home}/{name}.html", width=A4, dark=True) as page:
        theme = lambda: page.evaluate("document.documentElement.dataset.theme")  # noqa: E731
        shut = page.locator(".bd-article details:not([open])")
        assert theme() == "dark"
        assert shut.first.is_visible()
        page.emulate_media(media="print", color_scheme="dark")
        page.wait_for_function("document.documentElement.dataset.theme === 'light'")
        page.evaluate(PAINTED)
        assert page.locator("details.pieces-notes").evaluate("(d) => d.open")
        assert shut.evaluate_all(FREE) == [], "a press opens nothing on paper"
        assert page.evaluate(BEYOND, A4) == []
        found = of_colour(page)
        assert not found, "\n".join(found)
        page.emulate_media(media="screen", color_scheme="dark")
        page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
        assert not page.locator("details.pieces-notes").evaluate("(d) => d.open")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert theme() == "light", "a browser that tells of printing in no other way"
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert theme() == "dark"
