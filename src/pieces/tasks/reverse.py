"""Reverse: a b c | c b a."""

from jaxtyping import Int
from torch import Tensor

from pieces.tasks.base import Items
from pieces.tasks.copy import Copy


class Reverse(Copy):
    """Say it backwards: the first token of the answer is the nearest. Held out: prompts."""

    def answer(self, items: Items) -> Int[Tensor, "N L"]:
        """The prompt, last token first."""
        return items.flip(1)
