"""Alignment: which Chinese characters a trained aligner looked at for each English word."""

import functools
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from pieces.generate import generate
from pieces.trace import record
from pieces.trained import shared
from pieces.widgets.stills import grid
from pieces.widgets.trained_model import OWN, ModelName
from pieces.widgets.traits import Count, Result, Text
from pieces.widgets.translating import MOST, TranslatingWidget, readable

MODELS = ("aligner",)
TEXT = "昨天那个老师拿走了两本书。"


class Aligned(NamedTuple):
    """What was read, what was written, and where each word looked: [T, S]."""

    characters: list[str]
    words: list[str]
    weights: Tensor


@functools.lru_cache(maxsize=64)
def aligned(name: str, text: str) -> Aligned:
    """Translate a text with a model of the book, the likeliest word at each step."""
    shipped = shared(name)
    model, task = shipped.model, shipped.task
    read = readable(task, text)
    if not read:
        return Aligned([], [], torch.zeros(0, 0))
    source = torch.tensor([[task.ids[one] for one in read]])
    with torch.no_grad(), record(model) as trace:
        written = generate(model, source, MOST, start_id=task.bos_id, eos_id=task.eos_id)
    ids = written[0, 1:].tolist()
    words = [task.vocabulary[n] for n in ids[: (*ids, task.eos_id).index(task.eos_id)]]
    weights = torch.cat([call["weights"][0, 0] for call in trace.calls("core")])
    return Aligned(read, words, weights[: len(words)])


class Alignment(TranslatingWidget):
    """Translate a Chinese sentence with a trained aligner, and follow each word to its characters.

    Args:
        model_name: "aligner"; one of your own comes in by ``from_model``.
        text: the Chinese sentence; a character that the model does not know is named and left out.
        word: the English word whose weights are shown, from 1; 0 is none. In a translation that
            is too short for it, the last one.

    Read back:
        translation: the English words, the likeliest at each step.
        weights: for each of them a list with one weight for each character that was read.
        probabilities: how sure the model was of each of them.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "What a word looked at"
    models: ClassVar[tuple[str, ...]] = MODELS
    kinds: ClassVar[tuple[str, ...]] = ("aligner",)

    model_name = ModelName(MODELS[0], MODELS)
    text = Text(TEXT)
    word = Count(5, 0, MOST)
    translation = Result()
    weights = Result()
    probabilities = Result()

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return how many characters are read of a text of the book's language."""
        if state.get("model_name") not in cls.models or not isinstance(state.get("text"), str):
            return None
        return max(1, len(aligned(state["model_name"], state["text"]).characters))

    def describe(self) -> str:
        """Return the translation, and what the word that is followed looked at most."""
        said = f"{self.called} reads “{self.text}”"
        if self.model_name == OWN:
            return said
        characters, words, weights = aligned(self.model_name, self.text)
        if not words:
            return said
        said += f" and writes “{' '.join(words)}”"
        if not self.word:
            return said
        word = min(self.word, len(words)) - 1
        row = weights[word]
        most = characters[int(row.argmax())]
        weight = f"with a weight of {row.max():.2f}"
        return f"{said}; for “{words[word]}” it looked most at {most}, {weight}"

    def still(self) -> str:
        """Return the map of all the weights."""
        if self.model_name == OWN:
            return ""
        characters, words, weights = aligned(self.model_name, self.text)
        if not words:
            return ""
        caption = "Each row is an English word, each column a character it may have looked at"
        return grid(weights, "weight", caption, rows=words, columns=characters)
