"""Tasks that read a word and write another: x | answer(x)."""

from abc import abstractmethod

import torch
from jaxtyping import Int
from torch import Tensor

from pieces.checks import Size, checked
from pieces.tasks.base import Batch, Items, Task, counted_from, require_items


@checked
class Rewriting(Task):
    """A prompt of ``length`` tokens, the mark "|", and the answer, which alone is counted.

    Rows of several lengths are several tasks: they share the vocabulary.
    """

    def __init__(self, names: list[str], length: Size) -> None:
        super().__init__([*names, "|"])
        self.length = length
        require_items("length", length, self.count())

    def count(self) -> int:
        """How many keys there are."""
        return (self.vocab_size - 1) ** self.length

    def propose(self, count: int, generator: torch.Generator | None) -> Items:
        """Prompts [N, length]."""
        return torch.randint(self.vocab_size - 1, (count, self.length), generator=generator)

    def write(self, items: Items) -> Batch:
        """Prompt, mark, answer. Shapes: [B, L] -> [B, 2 L] twice."""
        mark = torch.full((len(items), 1), self.ids["|"])
        return counted_from(torch.cat((items, mark, self.answer(items)), dim=1), self.length + 1)

    @abstractmethod
    def answer(self, items: Items) -> Int[Tensor, "N L"]:
        """What is to be written."""
