"""RouterExplorer: which expert takes which word of a text, in a trained mixture of experts."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from pieces.widgets.trained_model import READ, ModelName, TrainedModelWidget
from pieces.widgets.traits import Cells, Count, Real, Result, Text
from pieces.widgets.world import World

MODELS = ("stories_moe",)
TEXT = (
    "Once upon a time there was a shy girl named Lily. She had a red ball. "
    "One sunny day, she took the red"
)


class RouterExplorer(TrainedModelWidget):
    """Read a text with a mixture of experts: see who takes which word, and shut an expert.

    The words of the text are the batch: ``capacity`` gives each expert room for so many visits as
    ``Router(capacity_factor=...)`` does, and a visit that finds none is dropped.

    Args:
        model_name: "stories_moe"; a Mixtral of your own comes in by ``from_model``.
        text: what the model reads; a word it does not know is named and left out.
        layer: the layer that is shown large, from 1.
        token: the word that is followed, from 1; 0 is the last one, as after each typing.
        closed: experts that are shut, as [layer, expert], both from 1; in each layer as many stay
            open as a word visits.
        capacity: the room of an expert in fair shares, 0 to 3; 0 is no limit.
        world: the words from which the page knows what is true; {} for a model with other words.

    Read back:
        experts: of each layer and word its experts from 1, best first.
        weights: their weights, 0 where there was no room.
        load: of each layer the share of all visits by expert, those without room counted too.
        balance: of each layer the balancing loss of this text.
        next_words: the likeliest words behind the followed one: [word, probability, as it was].

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Which expert takes which word"
    models: ClassVar[tuple[str, ...]] = MODELS
    kinds: ClassVar[tuple[str, ...]] = ("mixtral",)

    model_name = ModelName(MODELS[0], MODELS)
    text = Text(TEXT)
    layer = Count(1, 1, 32)
    token = Count(0, 0, READ)
    closed = Cells()
    capacity = Real(0.0, 0.0, 3.0)
    experts = Result()
    weights = Result()
    load = Result()
    balance = Result()
    next_words = Result()
    world = World()

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return how many lines a phone needs for the words."""
        return math.ceil(len(str(state.get("text", TEXT)).split()) / 6)

    def describe(self) -> str:
        """Return the model, the text, the layer, and what is shut or small."""
        without = ", ".join(f"{expert} of layer {layer}" for layer, expert in self.closed)
        shut = f", with expert{'s' * (len(self.closed) > 1)} {without} shut" if without else ""
        room = f", and room for {self.capacity:g} times the fair share" if self.capacity else ""
        return f"{self.called} reads “{self.text}”: layer {self.layer}{shut}{room}"
