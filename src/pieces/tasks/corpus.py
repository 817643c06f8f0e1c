"""Characters of a real text: the prose of this book.

The sentences of its first chapters, its appendix and its docstrings, one paragraph a line, as they
stood in November 2026: 59,000 characters, written for this project (CC BY 4.0).
"""

from importlib.resources import files

import torch
from jaxtyping import Bool
from torch import Tensor

from pieces.checks import Size, checked, require
from pieces.tasks.base import Batch, Items, Task, counted_from


@checked
class Corpus(Task):
    """Say the next character of a text; every character is counted.

    Held out: the last share of the text; no window crosses the border. Another ``text`` may be
    given; one that repeats itself has the same windows on both sides.
    """

    def __init__(
        self, length: Size = 64, *, text: str | None = None, held_out_share: float = 0.1
    ) -> None:
        text = prose() if text is None else text
        super().__init__(sorted(set(text)), held_out_share=held_out_share)
        self.length, self.text_ids = length, self.encode(text)
        self.border = round(len(text) * (1 - held_out_share))
        shortest = min(self.border, len(text) - self.border)
        rule = f"must be below {shortest}, the shorter side's characters"
        require(length < shortest, "length", length, rule, "shorten it, or give more text")

    def propose(self, count: int, generator: torch.Generator | None) -> Items:
        """Where windows start, on both sides but never across the border: [N, 1]."""
        starts = len(self.text_ids) - 2 * self.length
        start = torch.randint(starts, (count, 1), generator=generator)
        return start + self.length * (start >= self.border - self.length)

    def held_out(self, items: Items) -> Bool[Tensor, "N"]:
        """True for windows behind the border. Shapes: [N, 1] -> [N]."""
        return items[:, 0] >= self.border

    def write(self, items: Items) -> Batch:
        """Shapes: [B, 1] -> [B, length] twice."""
        return counted_from(self.text_ids[items + torch.arange(self.length + 1)], 1)

    def cut(self, text: str) -> list[str]:
        """Single characters."""
        return list(text)

    def join(self, tokens: list[str]) -> str:
        """Characters side by side."""
        return "".join(tokens)


@checked
def prose() -> str:
    """The text that comes with the package."""
    return files("pieces.tasks").joinpath("corpus.txt").read_text(encoding="utf-8")
