"""BertViz's views: nothing leaves the machine, the lines are the weights, failures are said."""

import json
import re
from importlib.resources import files

import pytest
import torch
from playwright.sync_api import Browser

from pieces.book.bertviz import LIBRARIES, head_view, model_view, packed, views

TOKENS = ["Lily", "has", "a", "</script><b>red", "ball"]
VIEWS = {"head view": head_view, "model view": model_view}
FOLDER = files("pieces.book") / "libraries"
OLD = "delete globalThis.DecompressionStream"  # a browser that cannot unpack
# The strength of each line of the head view, by head, query and key.
LINES = """() => [...document.querySelectorAll(".headAttention")].map((head) =>
  [...head.querySelectorAll(".tokenAttention")].map((token) =>
    [...token.querySelectorAll("line")].map((line) => +line.getAttribute("stroke-opacity"))))"""


@pytest.fixture(scope="module")
def weights():
    torch.manual_seed(0)
    scores = torch.randn(2, 1, 3, 5, 5).masked_fill(~torch.ones(5, 5).tril().bool(), -torch.inf)
    return list(scores.softmax(-1))


@pytest.fixture
def shown(chromium: Browser, tmp_path):
    """Opens a view on a page from disk; ``requests`` of the page are what left the machine."""
    contexts = []

    def show(view, *, before="", width=1000):
        contexts.append(chromium.new_context(viewport={"width": width, "height": 800}))
        page = contexts[-1].new_page()
        page.requests, page.errors = [], []
        page.on("request", lambda request: page.requests.append(request.url))
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.route(re.compile("^https?://"), lambda route: route.abort())
        page.add_init_script(before)
        file = tmp_path / "page.html"
        file.write_text(f"<!doctype html><main>{view._repr_html_()}</main>", encoding="utf-8")
        page.goto(file.as_uri())
        return page

    yield show
    for context in contexts:
        context.close()


def opened(page, which=0):
    page.get_by_role("button").nth(which).click()
    return page.frame_locator("iframe").nth(which)


@pytest.mark.parametrize("name", VIEWS)
def test_without_a_network_it_draws(shown, weights, name):
    page = shown(VIEWS[name](weights, TOKENS))
    frame = opened(page)
    frame.locator("#vis svg").first.wait_for()
    assert [url for url in page.requests if not url.startswith(("file:", "about:"))] == []
    assert page.errors == []
    assert frame.locator("#sorry").is_hidden()


def test_its_libraries_are_the_versions_that_are_told(shown, weights):
    page = shown(head_view(weights, TOKENS))
    opened(page).locator("#vis svg").first.wait_for()
    assert page.frames[1].evaluate("[d3.version, jQuery.fn.jquery]") == ["5.7.0", "2.2.4"]


def test_each_library_comes_with_its_licence():
    for name in LIBRARIES:
        licence = FOLDER / f"{name.partition('.')[0]}.LICENSE.txt"
        assert "Redistribution" in licence.read_text() or "Permission" in licence.read_text()


def test_two_views_bring_the_libraries_once(shown, weights):
    both = views(weights, TOKENS, layer=1)
    assert both._repr_html_().count(packed()) == 1
    assert len(packed()) < 150_000  # of a page's million
    page = shown(both)
    for which, drawn in ((1, ".attn_background"), (0, ".headAttention")):
        frame = opened(page, which)
        frame.locator("#vis svg").first.wait_for()
        assert frame.locator(drawn).count() > 0
    assert page.errors == []


@pytest.mark.parametrize("there", [True, False])
def test_on_the_site_a_press_asks_for_the_libraries(shown, weights, tmp_path, there):
    class OfTheSite:
        def _repr_html_(self):
            html = views(weights, TOKENS)._repr_html_()
            return html.replace(f'data-libraries="{packed()}"', 'data-file="bertviz.js"')

    if there:
        (tmp_path / "bertviz.js").write_text(f"self.piecesBertviz = {json.dumps(packed())};")
    page = shown(OfTheSite())
    asked = [url for url in page.requests if url.endswith("bertviz.js")]
    assert asked == []  # before a press
    for which in (1, 0):
        frame = opened(page, which)
        frame.locator("#vis svg" if there else "#sorry").first.wait_for()
    asked = [url for url in page.requests if url.endswith("bertviz.js")]
    assert len(asked) == (1 if there else 2)  # what did not arrive is asked for again


def test_the_lines_of_the_head_view_are_the_weights(shown, weights):
    page = shown(head_view(weights, TOKENS, layer=1))
    frame = opened(page)
    frame.locator("#vis svg").first.wait_for()
    drawn = torch.tensor(page.frames[1].evaluate(LINES))  # [H, T, S]
    assert torch.allclose(drawn * 3, weights[1][0], atol=2e-4)  # a third, as there are three heads
    assert frame.locator("text=</script><b>red").count() == 2
    assert frame.locator("b").count() == 0


def test_the_model_view_has_a_picture_for_each_head(shown, weights):
    frame = opened(shown(model_view(weights, TOKENS)))
    frame.locator("#vis svg").first.wait_for()
    assert frame.locator(".attn_background").count() == 6


@pytest.mark.parametrize("name", VIEWS)
def test_a_browser_that_cannot_unpack_says_so(shown, weights, name):
    frame = opened(shown(VIEWS[name](weights, TOKENS), before=OLD))
    frame.locator("#sorry").wait_for()
    assert "cannot unpack" in frame.locator("#sorry").inner_text()
    assert frame.locator("#view").is_hidden()


@pytest.mark.parametrize("name", VIEWS)
def test_the_frame_is_as_high_as_what_it_shows_and_no_wider_than_the_page(shown, weights, name):
    page = shown(VIEWS[name](weights, TOKENS), width=390)
    opened(page).locator("#vis svg").first.wait_for()
    page.wait_for_function("() => document.querySelector('iframe').style.height !== '340px'")
    inside = page.frames[1].evaluate("() => document.body.scrollHeight")
    assert inside > 50
    assert 0 <= page.locator("iframe").bounding_box()["height"] - inside <= 24
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


def test_twice_made_it_is_the_same(weights):
    first, again = (head_view(weights, TOKENS)._repr_html_() for _ in range(2))
    assert first == again
    assert repr(model_view(weights, TOKENS)) == "BertViz's model view"
    assert repr(views(weights, TOKENS)) == "BertViz's head view and model view"
    assert json.dumps(TOKENS)[1:-1] not in first


def test_too_few_words_are_refused(weights):
    with pytest.raises(ValueError, match=r"len\(tokens\) = 4: must be 5"):
        head_view(weights, TOKENS[:4])
