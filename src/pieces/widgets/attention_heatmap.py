"""AttentionHeatmap: where every head of a trained model looks, and what is lost without it."""

from collections.abc import Sequence
from typing import Any, ClassVar

from torch import nn

from pieces.tasks import Task
from pieces.widgets.trained_model import ModelName, TrainedModelWidget
from pieces.widgets.traits import Cells, Count, Result, Text

MODELS = ("stories_attention", "stories_llama", "stories_moe")
TEXT = (
    "Once upon a time there was a shy girl named Lily. She had a red ball. "
    "One sunny day, she took the"
)


class AttentionHeatmap(TrainedModelWidget):
    """Read a text with a trained model: follow its heads word by word, and switch them off.

    Args:
        model_name: "stories_attention", "stories_llama" or "stories_moe"; a model of your own
            comes in by ``from_model``.
        text: what the model reads; a word it does not know is named and left out.
        layer: whose heads are shown large, from 1.
        head: which of them, from 1; 0 is the average of the layer's heads.
        token: the word whose weights are followed, from 1; 0 is the last one.
        off: heads that are switched off, as [layer, head], both from 1.

    Read back:
        next_words: the likeliest words behind that token: [word, probability, with all heads on].
        looks: the weights of that token under the head shown, one for each word.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Where the heads look"
    models: ClassVar[tuple[str, ...]] = MODELS
    kinds: ClassVar[tuple[str, ...]] = ("attention_only", "llama", "mixtral", "gpt2")

    model_name = ModelName(MODELS[0], MODELS)
    text = Text(TEXT)
    layer = Count(1, 1, 32)
    head = Count(1, 0, 64)
    token = Count(0, 0, 64)
    off = Cells()
    next_words = Result()
    looks = Result()

    @classmethod
    def from_model(
        cls, model: nn.Module, text: str, *, vocabulary: Sequence[str] | Task, **traits: Any
    ) -> "AttentionHeatmap":
        """Show a decoder-only model of your own, reading this text. As ``TrainedModelWidget``."""
        return super().from_model(model, vocabulary=vocabulary, text=text, **traits)

    def describe(self) -> str:
        """Return the model and what is shown of it."""
        which = f"head {self.head}" if self.head else "the average"
        without = ", ".join(f"{layer}.{head}" for layer, head in self.off)
        said = f"; without {without}" if without else ""
        return f"{self.model_name} reads “{self.text}”: layer {self.layer}, {which}{said}"
