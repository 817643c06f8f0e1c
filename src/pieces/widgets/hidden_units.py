"""HiddenUnits: which words open a hidden unit of a trained model, and what comes of holding it."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from torch import nn
from traitlets import default

from pieces.tasks import Task
from pieces.widgets.opened_units import Opened, recorded
from pieces.widgets.trained_model import OWN, READ, ModelName, TrainedModelWidget
from pieces.widgets.traits import Count, Real, Result, Switch, Text

MODELS = ("stories_llama",)
TEXT = (
    "Once upon a time there was a shy girl named Lily. She had a red ball. "
    "One sunny day, she took the"
)


class HiddenUnits(TrainedModelWidget):
    """Read a text with a trained model: see one hidden unit open at some words, and hold it.

    Args:
        model_name: "stories_llama"; a model of your own with feed-forward networks comes in by
            ``from_model``.
        text: what the model reads; a word it does not know is named and left out.
        layer: the layer of the unit, from 1.
        unit: which of its hidden units, from 1.
        token: the word that is followed, from 1; 0 is the last one, as after each typing.
        held: whether the unit is held at ``value``, for every word.
        value: what it is held at, −1000 to 1000.
        opened: the words that open each unit in many stories; known of the book's model.

    Read back:
        values: the unit at each word, before it is held.
        next_words: the likeliest words behind the followed one: [word, probability, as it was].

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "One hidden unit"
    models: ClassVar[tuple[str, ...]] = MODELS
    kinds: ClassVar[tuple[str, ...]] = ("llama", "gpt2")

    model_name = ModelName(MODELS[0], MODELS)
    text = Text(TEXT)
    layer = Count(3, 1, 32)
    unit = Count(147, 1, 16_384)
    token = Count(0, 0, READ)
    held = Switch(False)
    value = Real(0.0, -1000.0, 1000.0)
    opened = Opened()
    values = Result()
    next_words = Result()

    @default("opened")
    def _read_opened(self) -> dict[str, dict[str, Any]]:
        """What is known of the book's model; nothing is of another."""
        return {} if self.model_name == OWN else recorded()

    @classmethod
    def from_model(
        cls, model: nn.Module, text: str, *, vocabulary: list[str] | Task, **traits: Any
    ) -> "HiddenUnits":
        """Show a LLaMA or GPT-2 of your own, reading this text. As ``TrainedModelWidget``."""
        own = {"layer": 1, "unit": 1} | traits
        return super().from_model(model, vocabulary=vocabulary, text=text, **own)

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return how many lines a phone needs for the words, and for what is known of the unit."""
        lines = math.ceil(len(str(state.get("text", TEXT)).split()) / 6)
        return lines + (4 if state.get("model_name") in cls.models else 0)

    def describe(self) -> str:
        """Return the model, the text, the unit, and whether it is held."""
        held = f", held at {self.value:g}".replace("-", "−") if self.held else ""
        return f"{self.called} reads “{self.text}”: unit {self.unit} of layer {self.layer}{held}"
