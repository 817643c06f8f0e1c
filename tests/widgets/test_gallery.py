"""The gallery: every page opens from disk, alive and without a complaint, wide and on a phone, light and dark."""

import importlib.util

import pytest

from axe import violations
from browser import ROOT, opened

spec = importlib.util.spec_from_file_location("gallery_build", ROOT / "gallery" / "build.py")
gallery = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gallery)
OVERFLOW = """() => [...document.querySelectorAll("body, .pieces, .p-pane")]
  .filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.className || node.tagName)"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return {page.stem: page for page in gallery.build(tmp_path_factory.mktemp("gallery"))}


@pytest.mark.parametrize(("width", "dark"), [(1000, False), (390, True), (320, False)])
@pytest.mark.parametrize("name", ["index", *gallery.PAGES])
def test_pages_are_alive_and_fit(chromium, pages, name, width, dark):
    with opened(chromium, pages[name].as_uri(), width=width, dark=dark) as page:
        assert page.record.errors == []
        assert page.record.foreign("file:") == []
        states = page.locator(".pieces-live").evaluate_all(
            "(all) => all.map((p) => p.dataset.state)"
        )
        assert states == ([] if name == "index" else ["live"])
        assert page.evaluate(OVERFLOW) == []
        if width == 1000:
            assert violations(page) == []


def test_every_primitive_has_a_page():
    pages = [gallery.needed(f"gallery/gallery_{name}", gallery.source) for name in gallery.PAGES]
    shown = {module.rpartition("/")[2] for page in pages for module in page}
    primitives = {"arcs", "blocks", "bridge", "charts", "heatmap", "keyed", "parts", "plane", "player", "plots",
                  "selection", "table", "tabs", "tensor", "tokens"}  # fmt: skip
    assert primitives <= shown
