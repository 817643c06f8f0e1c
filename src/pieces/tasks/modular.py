"""Sums on a clock: 9 + 5 = 1, modulo 13."""

import torch
from jaxtyping import Int
from torch import Tensor

from pieces.checks import Size, checked
from pieces.tasks.base import Batch, Items, Split, Task, counted_from, require_items


@checked
class ModularSums(Task):
    """Add two numbers modulo n; the sum alone is counted.

    a + b = (a + b) mod n

    Held out: pairs, in both orders; with the pairs few, the share decides how hard this is.
    Source: Power et al. 2022 (Grokking).
    """

    def __init__(self, modulus: Size = 97, *, held_out_share: float = 0.5) -> None:
        names = [*(str(i) for i in range(modulus)), "+", "="]
        super().__init__(names, held_out_share=held_out_share)
        self.modulus = modulus
        require_items("modulus", modulus, modulus * (modulus + 1) // 2)

    def propose(self, count: int, generator: torch.Generator | None) -> Items:
        """Pairs [N, 2]."""
        return torch.randint(self.modulus, (count, 2), generator=generator)

    def key(self, items: Items) -> Int[Tensor, "N 2"]:
        """The pair without its order."""
        return items.sort(dim=1).values

    def write(self, items: Items) -> Batch:
        """Shapes: [B, 2] -> [B, 4] twice."""
        a, b = items.unbind(1)
        plus, equals = (torch.full_like(a, self.ids[sign]) for sign in "+=")
        return counted_from(torch.stack((a, plus, b, equals, (a + b) % self.modulus), dim=1), 4)

    def every(self, split: Split = "train") -> Batch:
        """All sums of one split, in order."""
        self.items(1, split)
        numbers = torch.arange(self.modulus)
        pairs = torch.cartesian_prod(numbers, numbers)
        return self.write(pairs[self.held_out(pairs) == (split == "held_out")])
