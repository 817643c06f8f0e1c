"""A draw changes what has changed, and asks the page for no layout: that is what makes it slow."""

import pytest

from browser import put
from pieces.widgets import BiasMaps, HeadSplitter, MaskExplorer, NormAxes, ScoreFunctions

COUNT = """() => {
  window.asked = 0;
  const of = (kind, name) => {
    const own = Object.getOwnPropertyDescriptor(kind, name);
    const noted = own.get ? { get() { window.asked += 1; return own.get.call(this); } }
      : { value(...given) { window.asked += 1; return own.value.apply(this, given); } };
    Object.defineProperty(kind, name, { ...noted, configurable: true });
  };
  of(SVGTextContentElement.prototype, "getComputedTextLength");
  of(HTMLElement.prototype, "offsetTop");
  of(HTMLElement.prototype, "offsetLeft");
  of(HTMLElement.prototype, "offsetParent");
  of(window, "getComputedStyle");
}"""
KEPT = """() => { window.kept = [...document.querySelectorAll(".p-names text")]; }"""
GONE = "() => window.kept.filter((node) => !node.isConnected).length"


@pytest.mark.parametrize(
    ("widget", "change"),
    [
        (MaskExplorer(T=24), {"kind": "prefix"}),
        (ScoreFunctions(), {"seed": 7}),
        (BiasMaps(T=24), {"query": 5, "key": 2}),
        (HeadSplitter(), {"silenced": 1}),
        (NormAxes(), {"gain": [2, 1, 1, 1]}),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_change_lays_nothing_out_and_keeps_its_nodes(bench, widget, change):
    with bench.show(widget) as page:
        page.evaluate(KEPT)
        page.evaluate(COUNT)
        put(page, widget, **change)
        assert page.evaluate("window.asked") == 0
        assert page.evaluate(GONE) == 0
