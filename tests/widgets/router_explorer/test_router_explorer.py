"""RouterExplorer: typed words and their experts, by every hand."""

import pytest
import torch
from oracle import check, recorded
from trials import trials
from twins import build, vocabulary

from browser import PAINTED, put, said, state
from pieces.widgets import RouterExplorer
from widgets.router_explorer.expected import routed, shipped

TestOracle = trials(__file__)

TEXT = "One day, Lily found the red ball. She had a"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("model_name", "stories_llama"), ("text", 3), ("layer", 0), ("token", -1), ("capacity", 3.5),
     ("capacity", float("nan")), ("closed", [[1]]), ("closed", "1.2")],
)  # fmt: skip
def test_refuses_nonsense(trait, value):
    with pytest.raises(ValueError, match=trait):
        RouterExplorer(**{trait: value})


def test_takes_no_model_without_experts():
    _, llama = build("llama")
    words = vocabulary(llama.config.vocab_size)
    with pytest.raises(ValueError, match="mixtral"):
        RouterExplorer.from_model(llama, "the blue book", vocabulary=words)


def test_says_what_is_shown():
    text = repr(RouterExplorer(text="the ball", layer=2, closed=[[2, 1]], capacity=1.5))
    shut = "layer 2, with expert 1 of layer 2 shut"
    assert f"reads “the ball”: {shut}, and room for 1.5 times the fair share" in text


def test_words_layers_experts_and_room(bench):
    widget = RouterExplorer(text=TEXT)
    with recorded(bench, widget) as page:
        check(page, widget)
        page.get_by_role("radio", name="ball", exact=False).click()
        assert state(page, widget)["token"] == 8
        check(page, widget)
        page.locator(".p-way").nth(2).click()
        assert state(page, widget)["layer"] == 3
        check(page, widget)
        page.get_by_role("button", name="Shut expert 4").click()
        page.get_by_role("button", name="Shut expert 1").click()
        assert state(page, widget)["closed"] == [[3, 4], [3, 1]]
        check(page, widget)
        assert page.get_by_role("button", name="Shut expert 2").is_disabled()
        page.get_by_role("button", name="Open expert 4").click()
        assert state(page, widget)["closed"] == [[3, 1]]
        room = page.get_by_role("slider", name="room per expert")
        assert room.evaluate("(r) => [r.value, r.ariaValueText]") == ["12", "no limit"]
        for key, share in (("ArrowRight", 0), ("ArrowLeft", 3), ("Home", 0.25), ("End", 0)):
            room.press(key)
            assert state(page, widget)["capacity"] == share, "no limit is the most room"
        put(page, widget, capacity=1.1)
        room.press("ArrowLeft")
        assert state(page, widget)["capacity"] == 1
        check(page, widget)
        page.get_by_label("A text in the").fill("the ball")
        assert state(page, widget)["token"] == 0
        check(page, widget)


def test_by_keyboard_and_finger_on_a_phone(bench):
    widget = RouterExplorer(text=TEXT)
    with recorded(bench, widget, width=390, touch=True) as page:
        page.locator(".p-way").nth(1).press("Enter")
        page.locator(".p-expert button").nth(2).press(" ")
        now = state(page, widget)
        assert (now["layer"], now["closed"]) == (2, [[2, 3]])
        page.get_by_role("radio").nth(3).tap()
        page.get_by_role("radio").nth(3).press("ArrowRight")
        assert state(page, widget)["token"] == 5
        check(page, widget)
        page.set_viewport_size({"width": 320, "height": 800})
        page.evaluate(PAINTED)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert page.record.errors == []


def test_a_card_lights_its_words(bench):
    widget = RouterExplorer(text=TEXT)
    with recorded(bench, widget) as page:
        page.locator(".p-expert").nth(1).hover()
        page.evaluate(PAINTED)
        dark = page.locator(".p-chip").evaluate_all(
            "(all) => all.map((one) => one.classList.contains('p-elsewhere'))"
        )
        experts = state(page, widget)["experts"][0]
        assert dark == [2 not in row for row in experts]
        assert any(dark)
        assert not all(dark)


def test_unknown_words_and_none(bench):
    widget = RouterExplorer(text="<b>zebra</b> the ball")
    with recorded(bench, widget) as page:
        assert page.locator(".pieces b", has_text="zebra").count() == 0
        page.get_by_label("A text in the").fill("zebra")
        now = state(page, widget)
        assert now["experts"] == now["next_words"] == []
        assert page.locator(".p-expert:visible").count() == 0
        page.get_by_label("A text in the").fill(TEXT)
        check(page, widget)
        assert page.record.errors == []


def test_set_by_python_and_held_within_bounds(bench):
    widget = RouterExplorer(text=TEXT)
    with recorded(bench, widget) as page:
        put(page, widget, layer=2, token=3, closed=[[2, 2]], capacity=0.5)
        check(page, widget)
        put(page, widget, layer=99, token=60, closed=[[1, 1], [1, 2], [1, 3], [7, 1]], capacity=9)
        now = state(page, widget)
        assert (now["layer"], now["capacity"]) == (3, 3)
        assert now["closed"] == [[1, 1], [1, 2]], "two of four stay open"
        check(page, widget)


@pytest.mark.parametrize("name", ["mixtral", "one-expert"])
def test_a_model_of_ones_own(bench, name):
    _, model = build(name)
    words = vocabulary(model.config.vocab_size)
    text = "the blue book . Tom the blue"
    widget = RouterExplorer.from_model(model, text, vocabulary=words, capacity=1, closed=[[2, 1]])
    ids = [words.index(word) for word in text.split()]
    routings, probabilities = routed(model, ids, [[2, 1]], 1)
    with bench.show(widget) as page:
        now = state(page, widget)
        for layer, one in enumerate(routings):
            assert (one.experts[0] + 1).tolist() == now["experts"][layer]
            assert torch.tensor(now["weights"][layer]).float().allclose(one.weights[0], atol=1e-5)
        for word, p, _ in now["next_words"]:
            assert p == pytest.approx(float(probabilities[-1, words.index(word)]), abs=1e-5)
        assert "In layer 1" in said(page)
        assert page.record.errors == []


def test_the_books_model_is_the_shipped_one():
    model, _ = shipped("stories_moe")
    assert (model.config.n_experts, model.config.k, model.config.n_layers) == (4, 2, 3)
