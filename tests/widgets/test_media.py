"""On paper and in forced colours a widget shows what the screen shows."""

import pytest
from colours import contrast
from oracle import check, maps, recorded, rgb
from samples import NAMES, example

from browser import PAINTED

LOOK = "(e) => { const s = getComputedStyle(e); return [s.color, s.backgroundColor]; }"


@pytest.mark.parametrize("name", NAMES)
def test_a_dark_page_is_printed_dark_on_white(bench, name):
    widget = example(name)
    colours = lambda: [drawn.colours for drawn in maps(page.locator(".pieces"))]  # noqa: E731
    with recorded(bench, widget, dark=True) as page:
        light = colours()
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        page.evaluate(PAINTED)
        assert not light or colours() != light
        page.emulate_media(media="print")
        page.evaluate(PAINTED)
        ink, paper = page.locator(".pieces").evaluate(LOOK)
        assert rgb(paper) == [255, 255, 255]
        assert contrast(rgb(ink), rgb(paper)) > 12
        assert colours() == light, "a canvas drawn for the dark"
        check(page, widget)
        page.emulate_media(media="screen")
        page.evaluate(PAINTED)
        assert sum(rgb(page.locator(".pieces").evaluate(LOOK)[1])) < 150


@pytest.mark.parametrize("name", ["ScoreFunctions"])
def test_bars_and_swatches_are_seen_in_forced_colours(bench, name):
    with bench.show(example(name)) as page:
        page.emulate_media(forced_colors="active")
        page.evaluate(PAINTED)
        for selector in (".p-bar i", ".p-legend i[data-role=query]", ".p-legend i[data-role=key]"):
            fill = page.locator(selector).first.evaluate(LOOK)[1]
            around = page.locator(".pieces").evaluate(LOOK)[1]
            assert contrast(rgb(fill), rgb(around)) >= 3, f"{selector}: {fill} on {around}"
