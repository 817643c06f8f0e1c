"""How a checkpoint lays out a weight that we keep as one or several.

``split`` takes their tensor, a matrix [out, in] or a bias [out], to ours; ``join`` goes back.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


class Same:
    """One for one."""

    def split(self, theirs: Tensor) -> tuple[Tensor, ...]:
        """Theirs to ours."""
        return (theirs,)

    def join(self, ours: tuple[Tensor, ...]) -> Tensor:
        """Ours to theirs."""
        return ours[0]


def turned(x: Tensor) -> Tensor:
    """A matrix transposed, a bias as it is."""
    return x.mT if x.ndim == 2 else x


class Transposed(Same):
    """GPT-2's Conv1D: a matrix is [in, out]."""

    def split(self, theirs: Tensor) -> tuple[Tensor, ...]:
        """Theirs to ours."""
        return (turned(theirs),)

    def join(self, ours: tuple[Tensor, ...]) -> Tensor:
        """Ours to theirs."""
        return turned(ours[0])


@dataclass(frozen=True)
class Stacked(Same):
    """Several of equal size, one below the other: all queries, all keys, all values."""

    parts: int = 3

    def split(self, theirs: Tensor) -> tuple[Tensor, ...]:
        """Theirs to ours."""
        return theirs.chunk(self.parts)

    def join(self, ours: tuple[Tensor, ...]) -> Tensor:
        """Ours to theirs."""
        return torch.cat(ours)


class TransposedStacked(Stacked):
    """GPT-2's queries, keys and values, side by side."""

    def split(self, theirs: Tensor) -> tuple[Tensor, ...]:
        """Theirs to ours."""
        return super().split(turned(theirs))

    def join(self, ours: tuple[Tensor, ...]) -> Tensor:
        """Ours to theirs."""
        return turned(super().join(ours))


@dataclass(frozen=True)
class ByGroup(Same):
    """For each key-value head: its queries, its key, its value. BLOOM and GPT-NeoX have G = H."""

    n_heads: int
    n_kv_heads: int

    def split(self, theirs: Tensor) -> tuple[Tensor, ...]:
        """Theirs to ours."""
        queries = self.n_heads // self.n_kv_heads
        heads = theirs.unflatten(0, (self.n_kv_heads, queries + 2, -1))
        return tuple(part.flatten(0, 2) for part in heads.split((queries, 1, 1), dim=1))

    def join(self, ours: tuple[Tensor, ...]) -> Tensor:
        """Ours to theirs."""
        heads = [part.unflatten(0, (self.n_kv_heads, -1)) for part in ours]
        return torch.cat(heads, dim=1).flatten(0, 1)
