"""No text of a widget lies on another, on a page of ours or in an output of Jupyter."""

import pytest
from samples import NAMES, example

from browser import PAINTED
from overlaps import JUPYTER, OVERLAPS


@pytest.mark.parametrize("name", NAMES)
def test_no_text_lies_on_another(bench, name):
    with bench.show(example(name)) as page:
        for place in ("page", "output of Jupyter"):
            for width in (320, 390, 760, 1280):
                page.set_viewport_size({"width": width, "height": 900})
                page.evaluate(PAINTED)
                assert page.evaluate(OVERLAPS) == [], f"{place}, {width} px"
            page.locator("main").evaluate("(main) => main.classList.add('jp-OutputArea-output')")
            page.add_style_tag(content=JUPYTER)


def test_two_texts_on_one_another_are_found(bench):
    with bench.show(example("ConfigCalculator")) as page:
        page.locator(".p-facts dd").first.evaluate("(node) => { node.style.marginTop = '-1em'; }")
        assert len(page.evaluate(OVERLAPS)) > 0
