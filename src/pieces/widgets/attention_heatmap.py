"""AttentionHeatmap: where every head of a trained model looks, and what is lost without it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pieces.trained import shared
from pieces.widgets.trained_model import READ, ModelName, TrainedModelWidget
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
        tried: the word for which every head is tried, one at a time, from 1; 0 is none.

    Read back:
        next_words: the likeliest words behind that token: [word, probability, with all heads on].
        looks: the weights of that token under the head shown, one for each word.
        losses: how much probability the likeliest next word behind ``tried`` loses without each
            head, a list for each layer; None where no word is tried.

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
    token = Count(0, 0, READ)
    off = Cells()
    tried = Count(0, 0, READ)
    next_words = Result()
    looks = Result()
    losses = Result()

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return the layers of a model of the book; None of another."""
        name = state.get("model_name")
        return shared(name).model.config.n_layers if name in cls.models else None

    def describe(self) -> str:
        """Return the model and what is shown of it."""
        which = f"head {self.head} of layer {self.layer}" if self.head else ""
        without = ", ".join(f"{layer}.{head}" for layer, head in self.off)
        heads = "heads" if len(self.off) > 1 else "head"
        said = f", with {heads} {without} switched off" if without else ""
        which = which or f"the average over the heads of layer {self.layer}"
        return f"{self.called} reads “{self.text}”: {which}{said}"
