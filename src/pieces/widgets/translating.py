"""What every widget with a translator inside shares: Chinese is read, and English is written."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from pieces.checks import require
from pieces.tasks import Task
from pieces.widgets.trained_model import TrainedModelWidget

MOST = 24  # characters that are read, and tokens that are written
BEGIN, END = "<bos>", "<eos>"


def readable(task: Task, text: str) -> list[str]:
    """Return what a model of this task reads of a Chinese text."""
    return [one for one in task.cut(text) if one in task.ids and not one.isascii()][:MOST]


class TranslatingWidget(TrainedModelWidget):
    """A widget whose trained model translates a typed text.

    Raises:
        ValueError: an unknown model.
    """

    @classmethod
    def from_model(
        cls, model: nn.Module, text: str, *, vocabulary: Sequence[str] | Task, **traits: Any
    ) -> "TranslatingWidget":
        """Show a translator of your own, reading this text. As ``TrainedModelWidget``.

        Its vocabulary has "<bos>", with which a translation begins, and "<eos>", which ends it.
        """
        words = vocabulary.vocabulary if isinstance(vocabulary, Task) else vocabulary
        for mark in (BEGIN, END):
            known = not isinstance(words, Sequence) or mark in words
            require(known, "vocabulary", f"no {mark}", "must begin and end", f"add {mark}")
        return super().from_model(model, vocabulary=vocabulary, text=text, **traits)
