"""HiddenUnits: read, followed and held by every hand, against the same model in PyTorch."""

import json

import pytest
import torch
from oracle import check, recorded
from trials import trials
from twins import build, vocabulary

from browser import said, state
from pieces.book import measured
from pieces.trained import path_of
from pieces.widgets import HiddenUnits
from widgets.hidden_units.expected import read, shipped

TestOracle = trials(__file__)

TEXT = HiddenUnits.class_traits()["text"].default_value


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("layer", 0), ("layer", 33), ("unit", 0), ("unit", 1.5), ("token", 65), ("held", 1),
     ("value", 1001.0), ("value", float("nan")), ("model_name", "stories_moe"), ("text", 3),
     ("opened", {"3.147": {"size": 0, "words": []}}), ("opened", {"3.147": {"words": []}}),
     ("opened", {"3.147": {"size": 1.0, "words": [[1]]}}), ("opened", [1])],
)  # fmt: skip
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        HiddenUnits(**{trait: value})


def test_says_what_is_shown():
    assert "unit 147 of layer 3, held at 90" in repr(HiddenUnits(held=True, value=90.0))
    assert "held" not in repr(HiddenUnits())


def test_the_record_is_of_the_model_that_is_shipped():
    """A few units, measured again: if this fails, `make experiment NAME=hidden_units`."""
    units = measured.record_of("hidden_units")["units"]
    model, words = shipped()
    assert len(units) == model.config.n_layers * model.config.d_ff
    text = (
        "once upon a time there was a kind girl named Lily . she had a brown ball . one windy day"
    )
    ids = [words.index(word) for word in text.split()]
    seen, _ = read(model, ids)
    for name, word in (("3.147", "kind"), ("2.145", "kind"), ("3.113", "windy"), ("1.101", "one")):
        layer, unit = map(int, name.split("."))
        value = float(seen[f"{layer - 1}.dropout"][ids.index(words.index(word)), unit - 1])
        means = {words[i]: mean for i, mean in units[name]["words"]}
        assert value == pytest.approx(means[word], rel=0.1), f"{name} at {word}"
        assert abs(value) <= 1.05 * units[name]["size"]


def test_held_by_the_slider_and_let_go(bench):
    widget = HiddenUnits()
    with recorded(bench, widget) as page:
        check(page, widget)
        slider = page.get_by_label("hold the unit at")
        slider.press("End")
        now = state(page, widget)
        assert now["held"]
        assert now["value"] == pytest.approx(measured_size("3.147"), rel=1e-4)
        assert now["next_words"][0][0] in ("boy", "girl")
        check(page, widget)
        slider.press("ArrowLeft")
        assert state(page, widget)["value"] < now["value"]
        check(page, widget)
        page.get_by_role("button", name="Let it go").click()
        assert not state(page, widget)["held"]
        assert page.get_by_role("button", name="Let it go").is_disabled()
        check(page, widget)


def measured_size(name):
    return measured.record_of("hidden_units")["units"][name]["size"]


def test_shut_where_it_is_open_changes_next_to_nothing(bench):
    widget = HiddenUnits(token=8)
    with recorded(bench, widget) as page:
        page.get_by_role("button", name="Shut it").click()
        now = state(page, widget)
        assert (now["held"], now["value"]) == (True, 0)
        assert all(abs(p - q) < 0.03 for _, p, q in now["next_words"])
        assert "it leaves" in said(page)
        check(page, widget)


def test_a_word_and_a_unit_are_chosen(bench):
    widget = HiddenUnits(held=True, value=50.0)
    with recorded(bench, widget) as page:
        page.locator(".p-chip").nth(4).click()
        page.mouse.move(2, 2)
        assert state(page, widget)["token"] == 5
        check(page, widget)
        page.keyboard.press("ArrowRight")
        assert state(page, widget)["token"] == 6
        page.locator(".p-widest button").nth(2).click()
        now = state(page, widget)
        assert now["unit"] != 147
        assert not now["held"], "another unit is free"
        check(page, widget)
        page.get_by_label("layer").select_option("2")
        assert state(page, widget)["layer"] == 2
        page.locator("[data-trait=unit] input").press("ArrowRight")
        check(page, widget)


def test_by_a_finger(bench):
    widget = HiddenUnits()
    with recorded(bench, widget, width=390, touch=True) as page:
        page.locator(".p-chip").nth(7).tap()
        assert state(page, widget)["token"] == 8
        page.get_by_role("button", name="Shut it").tap()
        page.locator(".p-widest button").first.tap()
        check(page, widget)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_typed_text_is_read_and_only_ever_text(bench):
    widget = HiddenUnits()
    with recorded(bench, widget) as page:
        field = page.locator("textarea")
        page.locator(".p-chip").nth(3).click()
        page.mouse.move(2, 2)
        assert state(page, widget)["token"] == 4
        field.fill("In a quiet <b>zebra</b>")
        assert state(page, widget)["token"] == 0, "who writes follows the last word"
        now = state(page, widget)
        assert len(now["values"]) == 3
        assert page.locator(".p-chip").all_inner_texts() == ["in", "a", "quiet"]
        page.get_by_text("The model has never met").wait_for()
        assert page.locator(".pieces b", has_text="zebra").count() == 0
        field.fill("zebra")
        assert state(page, widget)["next_words"] == []
        assert page.locator(".p-chip:visible").count() == 0
        field.fill(TEXT)
        check(page, widget)
        assert page.record.errors == []


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_a_model_of_ones_own(bench, name):
    kind, model = build(name)
    words = vocabulary(model.config.vocab_size)
    text = "the blue book . Tom"
    ids = [words.index(word) for word in text.split()]
    widget = HiddenUnits.from_model(
        model, text, vocabulary=words, layer=2, unit=3, held=True, value=2.5
    )
    value, probabilities = own(model, ids, 2, 3, 2.5)
    with bench.show(widget) as page:
        now = state(page, widget)
        assert now["values"] == pytest.approx(value.tolist(), abs=1e-5)
        for word, p, _ in now["next_words"]:
            assert p == pytest.approx(float(probabilities[-1, words.index(word)]), abs=1e-5)
        assert page.get_by_text("nothing is known but this text").is_visible()
        assert (page.locator(".p-unit-sum").inner_text() != "") == (kind == "llama")
        assert page.record.errors == []


def own(model, ids, layer, unit, held):
    """The unit's values, and the probabilities with it held, of any model with such layers."""
    seen, _ = read(model, ids)
    _, probabilities = read(model, ids, (layer, unit, held))
    return seen[f"{layer - 1}.dropout"][:, unit - 1], probabilities


def test_what_is_recorded_of_units_is_small_and_whole():
    data = path_of("stories_llama").parents[1] / "book" / "measured" / "hidden_units.json"
    assert data.stat().st_size < 200_000
    for name, unit in json.loads(data.read_text("utf-8"))["units"].items():
        assert unit["size"] > 0, name
        assert 0 <= unit["closed"] <= 1
        assert 0 <= unit["held"] <= 1
        assert all(torch.tensor(mean).isfinite() for _, mean in unit["words"])
