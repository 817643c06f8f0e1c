"""A control lays its page out as rarely as can be: each time costs a reader a millisecond or two."""

import pytest

from browser import PAINTED
from pieces.widgets import Alignment, HeadSplitter, MaskExplorer, NormAxes

# A control, and how often a press of it may lay the page out. Words that are joined by arcs, and a bridge,
# ask once where they stand; a list of choices is laid out by the browser itself before it tells of a choice.
CASES = {
    HeadSplitter: ("[data-trait=heads] input[type=range]", 1),  # blocks
    NormAxes: ("[data-trait=eps] input[type=range]", 1),  # heat maps
    MaskExplorer: ("[data-trait=T] input[type=range]", 2),  # arcs over a heat map
    Alignment: ("[data-trait=text] select", 3),  # a bridge beside a heat map
}


@pytest.mark.parametrize("widget", CASES, ids=lambda widget: widget.__name__)
def test_a_press_lays_the_page_out_so_often(bench, widget):
    control, most = CASES[widget]
    with bench.show(widget()) as page:
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")

        def laid_out():
            page.evaluate(PAINTED)
            metrics = session.send("Performance.getMetrics")["metrics"]
            return next(one["value"] for one in metrics if one["name"] == "LayoutCount")

        place = page.locator(control).first
        place.evaluate(
            "(node) => { const fold = node.closest('details'); if (fold) fold.open = true; }"
        )
        place.focus()
        counts = []
        for _ in range(2):
            before = laid_out()
            page.keyboard.press("ArrowDown" if "select" in control else "ArrowRight")
            counts.append(laid_out() - before)
        assert page.record.errors == []
        assert 1 <= min(counts) <= most, counts
