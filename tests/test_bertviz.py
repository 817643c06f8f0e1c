"""BertViz's views: asked for by a press, the weights that were handed over, a sentence offline."""

import json
import re

import pytest
import torch
from playwright.sync_api import Browser

from browser import ROOT
from pieces.bertviz import CDN, head_view, model_view

MODULES = ROOT / "tests/types/node_modules"
# BertViz names jQuery 2.0.0, which npm does not hold; the last 2.x answers for it.
ANSWERS = {
    "require.js/2.3.6/require.min.js": "requirejs/require.js",
    "d3/5.7.0/d3.min.js": "d3/dist/d3.min.js",
    "jquery/2.0.0/jquery.min.js": "jquery/dist/jquery.min.js",
}
TOKENS = ["Lily", "has", "a", "</script><b>red", "ball"]
VIEWS = {"head view": head_view, "model view": model_view}
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

    def show(view, *, reachable=True, width=1000):
        contexts.append(chromium.new_context(viewport={"width": width, "height": 800}))
        page = contexts[-1].new_page()
        page.requests, page.errors = [], []
        page.on("request", lambda request: page.requests.append(request.url))
        page.on("pageerror", lambda error: page.errors.append(str(error)))

        def answer(route):
            name = route.request.url.split("/ajax/libs/")[-1]
            if reachable and name in ANSWERS:
                route.fulfill(path=MODULES / ANSWERS[name], content_type="text/javascript")
            else:
                route.abort()

        page.route(re.compile("^https?://"), answer)
        file = tmp_path / "page.html"
        file.write_text(f"<!doctype html><main>{view._repr_html_()}</main>", encoding="utf-8")
        page.goto(file.as_uri())
        return page

    yield show
    for context in contexts:
        context.close()


def opened(page):
    page.get_by_role("button").click()
    return page.frame_locator("iframe")


@pytest.mark.parametrize("name", VIEWS)
def test_it_asks_nobody_until_it_is_pressed(shown, weights, name):
    page = shown(VIEWS[name](weights, TOKENS))
    assert [url for url in page.requests if not url.startswith("file:")] == []
    assert CDN in page.get_by_role("button").inner_text()
    frame = opened(page)
    frame.locator("#vis svg").first.wait_for()
    assert {url.split("/ajax/libs/")[-1] for url in page.requests if CDN in url} == set(ANSWERS)
    assert page.errors == []
    assert frame.locator("#sorry").is_hidden()


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
def test_without_its_cdn_it_says_so(shown, weights, name):
    page = shown(VIEWS[name](weights, TOKENS), reachable=False)
    frame = opened(page)
    frame.locator("#sorry").wait_for()
    assert CDN in frame.locator("#sorry").inner_text()
    assert frame.locator("#view").is_hidden()


def test_the_frame_is_as_high_as_what_it_shows_and_no_wider_than_the_page(shown, weights):
    page = shown(head_view(weights, TOKENS), width=390)
    opened(page).locator("#vis svg").first.wait_for()
    page.wait_for_function("() => document.querySelector('iframe').offsetHeight !== 340")
    inside = page.frames[1].evaluate("() => document.documentElement.scrollHeight")
    assert abs(page.locator("iframe").bounding_box()["height"] - inside) <= 20
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


def test_twice_made_it_is_the_same(weights):
    first, again = (head_view(weights, TOKENS)._repr_html_() for _ in range(2))
    assert first == again
    assert repr(model_view(weights, TOKENS)) == "BertViz's model view"
    assert json.dumps(TOKENS)[1:-1] not in first


def test_too_few_words_are_refused(weights):
    with pytest.raises(ValueError, match=r"len\(tokens\) = 4: must be 5"):
        head_view(weights, TOKENS[:4])
