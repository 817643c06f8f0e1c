"""Induction: c a f c a f c, where what followed a token once follows it again."""

import math
from typing import Annotated

import torch
from jaxtyping import Int
from torch import Tensor

from pieces.checks import Range, Size, checked, require
from pieces.tasks.base import Batch, Items, Task, counted_from, distinct, require_items, symbols


@checked
class Induction(Task):
    """A stretch of different tokens, repeated to the end; counted from the first token seen twice.

    x[t + 1] = x[t + 1 - P],  P drawn anew for each row from length / 4 .. length / 2

    No fixed distance will do, since P varies: find where the last token stood, and say what came
    next. Held out: rows.
    Source: Olsson et al. 2022 (induction heads).
    """

    def __init__(self, n_symbols: Size = 32, length: Annotated[int, Range(4)] = 32) -> None:
        longest = length // 2
        rule = f"must be at least {longest}, the different tokens of a stretch"
        require(n_symbols >= longest, "n_symbols", n_symbols, rule, "add some or shorten length")
        super().__init__(symbols(n_symbols))
        self.length, self.shortest, self.longest = length, max(2, length // 4), longest
        require_items("n_symbols", n_symbols, math.perm(n_symbols, self.shortest))

    def propose(self, count: int, generator: torch.Generator | None) -> Items:
        """Rows [N, length + 1]."""
        stretch = distinct(count, self.vocab_size, self.longest, generator)
        periods = (self.shortest, self.longest + 1)
        period = torch.randint(*periods, (count, 1), generator=generator)
        return stretch.gather(1, torch.arange(self.length + 1) % period)

    def period(self, items: Items) -> Int[Tensor, "N 1"]:
        """Where the first token stands again. Shapes: [N, R] -> [N, 1]."""
        return (items[:, 1:] == items[:, :1]).long().argmax(dim=1, keepdim=True) + 1

    def write(self, items: Items) -> Batch:
        """Shapes: [B, length + 1] -> [B, length] twice."""
        return counted_from(items, self.period(items) + 1)
