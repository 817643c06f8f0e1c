"""PronounArcs: where the last word of a story looks, and where it looks when it is another one."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from pieces.widgets.trained_model import READ, ModelName, TrainedModelWidget
from pieces.widgets.traits import Count, Result, Text, Words

MODELS = ("stories_llama", "stories_attention", "stories_moe")
LINE = 26  # characters
STORY = (
    "This is the story of Lily. She had a red ball. One day, Lily met a boy named Tom. "
    "He had a blue car. “May I play with your"
)


class PronounArcs(TrainedModelWidget):
    """One head of a trained model reads a story: follow any word, and exchange the last one.

    Args:
        model_name: "stories_llama", "stories_attention" or "stories_moe"; a model of your own
            comes in by ``from_model``.
        text: what the model reads; a word it does not know is named and left out.
        layer: the layer of the head, from 1.
        head: the head in that layer, from 1.
        others: words to put in the place of the last one, at most six.
        token: the word that is followed, from 1; 0 is the last one.

    Read back:
        looks: the weights of that word under the head, one for each word.
        next_words: the likeliest words behind it: [word, probability].

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Where one word looks"
    models: ClassVar[tuple[str, ...]] = MODELS
    kinds: ClassVar[tuple[str, ...]] = ("attention_only", "llama", "mixtral", "gpt2")

    model_name = ModelName(MODELS[0], MODELS)
    text = Text(STORY)
    layer = Count(1, 1, 32)
    head = Count(1, 1, 64)
    others = Words(("your", "my"), most=6)
    token = Count(0, 0, READ)
    looks = Result()
    next_words = Result()

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return how many lines of a phone the story takes, about."""
        return math.ceil(len(str(state.get("text", STORY))) / LINE)

    def describe(self) -> str:
        """Return the story and its reader; which head it is may have been computed."""
        return f"“{self.text}”, as one head of {self.called} reads it"
