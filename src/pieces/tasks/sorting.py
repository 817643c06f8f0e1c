"""Sorting: 7 2 5 2 | 2 2 5 7."""

import math

from jaxtyping import Int
from torch import Tensor

from pieces.checks import Size, checked
from pieces.tasks.base import Items
from pieces.tasks.rewriting import Rewriting


@checked
class Sorting(Rewriting):
    """Write the numbers in order, equal ones as often as they came.

    Held out: collections of numbers, in every order, so that no answer is seen in training.
    """

    def __init__(self, n_numbers: Size = 16, length: int = 8) -> None:
        super().__init__([str(i) for i in range(n_numbers)], length)

    def count(self) -> int:
        """How many collections there are."""
        return math.comb(self.vocab_size - 2 + self.length, self.length)

    def key(self, items: Items) -> Items:
        """The collection."""
        return self.answer(items)

    def answer(self, items: Items) -> Int[Tensor, "N L"]:
        """The prompt in order; an id is its number."""
        return items.sort(dim=1).values
