"""With every table view open, axe-core finds nothing: no two regions of one name, on any page."""

import pytest
from samples import NAMES, example

from axe import OF_COLOUR, violations
from browser import PAINTED

OPEN = """() => document.querySelectorAll("details:has(> .p-tables)")
  .forEach((one) => { one.open = true; })"""
REGIONS = """() => [...document.querySelectorAll(".p-tables [role=region]")]
  .map((one) => one.getAttribute("aria-label"))"""


@pytest.mark.parametrize("name", NAMES)
def test_two_alike_beside_each_other_have_names_of_their_own(bench, name):
    with bench.show(example(name), example(name)) as page:
        page.evaluate(OPEN)
        page.evaluate(PAINTED)
        named = page.evaluate(REGIONS)
        assert len(named) == len(set(named)), sorted(named)
        assert page.record.errors == []  # before axe, which asks a page on disk for its style
        assert violations(page, without=OF_COLOUR) == []  # each alone is asked for its colours
