"""No page overflows sideways, however wide the window is or however large the letters are."""

import pytest

from browser import PAINTED, book_pages, opened

# From a phone to a desk; 195 and 683 px are a phone and a desk at 200 %.
WIDTHS = (195, *range(320, 1441, 40), 683)
BEYOND = "() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
HEIGHT = 844


def too_wide(page):
    """The widths of the window at which a page is wider, and by how much, in px."""
    found = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.evaluate(PAINTED)
        beyond = page.evaluate(BEYOND)
        if beyond > 0:
            found[width] = beyond
    return found


@pytest.mark.parametrize("name", [*book_pages(), "py-modindex"])
def test_a_page_fits(chromium, home, name):
    with opened(chromium, f"{home}/{name}.html", width=1440) as page:
        assert too_wide(page) == {}


@pytest.mark.parametrize("part", range(3))
def test_the_pages_of_the_code_fit(chromium, site, part):
    """A third of them in one visit: they differ in their names and in their code."""
    pages = sorted(site.glob("_modules/**/*.html"))[part::3]
    assert len(pages) > 20
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    wide = {}
    for path in pages:
        page.goto(path.as_uri())
        for width in (195, 320, 360, 480, 683, 1000):
            page.set_viewport_size({"width": width, "height": HEIGHT})
            if (beyond := page.evaluate(BEYOND)) > 0:
                wide[path.stem, width] = beyond
    context.close()
    assert wide == {}


def test_what_is_too_wide_is_found(chromium, tmp_path):
    path = tmp_path / "page.html"
    path.write_text('<!doctype html><div style="width: 700px">wide</div>', encoding="utf-8")
    with opened(chromium, path.as_uri()) as page:
        found = too_wide(page)
    assert set(found) == {width for width in WIDTHS if width < 700}
