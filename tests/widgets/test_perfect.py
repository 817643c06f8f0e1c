"""Each widget with a trained model says how far that model is from perfect, by the record of its run."""

import math

import pytest
from samples import example

import pieces.widgets
from pieces.trained import load
from pieces.widgets import WholeModel
from pieces.widgets.trained_model import TrainedModelWidget

SHOWN = [widget for widget in map(vars(pieces.widgets).get, pieces.widgets.__all__)
         if issubclass(widget, TrainedModelWidget)]  # fmt: skip
CASES = [(widget, name) for widget in SHOWN for name in widget.models]
CHANCE = "On stories it never saw, the word that comes gets on average {:.1f}\u00a0% of its true"
USUAL = "On texts it never saw, this model is {} nats a word from perfect."


def above(name: str) -> str:
    """Return how far a model is from the floor, in as many decimals as are worth telling."""
    record = load(name).record
    distance = record["loss"] - record["floor"]
    return f"{distance:.{4 if distance < 0.01 else 3}f}"


def chance(name: str) -> float:
    """Return what share of its true chance a model gives to the words that come: a geometric mean."""
    record = load(name).record
    return math.exp(record["floor"] - record["loss"])


@pytest.mark.parametrize(("widget", "name"), CASES, ids=lambda one: getattr(one, "__name__", one))
def test_says_how_far_the_model_is_from_perfect(bench, widget, name):
    with bench.show(widget(model_name=name)) as page:
        said = page.locator(".p-perfect:visible, .p-say:visible").all_inner_texts()
        told = (
            CHANCE.format(100 * chance(name)) if widget is WholeModel else USUAL.format(above(name))
        )
        assert told in " ".join(said)
        assert page.record.errors == []


@pytest.mark.parametrize("name", ["AttentionHeatmap"])
def test_says_nothing_of_a_model_without_a_record(bench, name):
    with bench.show(example(name)) as page:
        assert page.locator(".p-perfect").count() == 0
