"""Gradients through a pool: kept beside it, sequence by sequence, and gone when one is freed."""

from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from pieces.cache.protocol import KeysValues

if TYPE_CHECKING:
    from pieces.cache.paged import PagedCache


Pair = tuple[Float[Tensor, "G n K"], Float[Tensor, "G n Kv"]]  # of one sequence


class Traced:
    """Keys and values of those sequences that gradients are to pass through, with their graph.

    The pool itself holds numbers only: a graph in it would join all sequences that ever wrote
    there, and none could be let go. Without gradients nothing is kept here.
    """

    def __init__(self) -> None:
        self._kept: dict[int, dict[int, Pair]] = {}

    def __deepcopy__(self, memo: dict) -> "Traced":
        """Tensors of its own, whose gradients go where those of the first go."""
        new = Traced()
        for sequence, layers in self._kept.items():
            new._kept[sequence] = {n: (k.clone(), v.clone()) for n, (k, v) in layers.items()}
        return new

    def extend(
        self,
        pool: "PagedCache",
        sequences: list[int],
        layer: int,
        older: list[int],
        new: KeysValues,
    ) -> None:
        """Join new keys and values, already written to the pool, to the older ones."""
        had = self.has(sequences, layer)
        if torch.is_grad_enabled() and (had or any(x.requires_grad for x in new)):
            for row, (sequence, length) in enumerate(zip(sequences, older, strict=True)):
                old = self._of(pool, sequence, layer, length)
                k, v = (torch.cat((x, y[row]), dim=1) for x, y in zip(old, new, strict=True))
                self._kept.setdefault(sequence, {})[layer] = k, v
        elif self._kept:
            for sequence in sequences:
                self._kept.get(sequence, {}).pop(layer, None)

    def has(self, sequences: list[int], layer: int) -> bool:
        """Whether the layer has a graph of one of them, and somebody wants it."""
        wanted = bool(self._kept) and torch.is_grad_enabled()
        return wanted and any(layer in self._kept.get(sequence, {}) for sequence in sequences)

    def read(self, pool: "PagedCache", sequences: list[int], layer: int) -> KeysValues:
        """As ``PagedBatch.read``: shorter sequences repeat their first token on the left."""
        lengths = [pool.length(sequence, layer) for sequence in sequences]
        pairs = [self._of(pool, s, layer, n) for s, n in zip(sequences, lengths, strict=True)]
        k, v = (
            torch.stack([_padded(x, max(lengths)) for x in xs]) for xs in zip(*pairs, strict=True)
        )
        return k, v

    def fork(self, parent: int, child: int, length: int) -> None:
        """The child begins as the parent did, with the same gradients."""
        if parent in self._kept:
            self._kept[child] = dict(self._kept[parent])
            self.shorten(child, [length] * (1 + max(self._kept[parent], default=0)))

    def shorten(self, sequence: int, lengths: list[int]) -> None:
        """Keep the first tokens, as many as each layer has."""
        for layer, (k, v) in self._kept.get(sequence, {}).items():
            self._kept[sequence][layer] = k[:, : lengths[layer]], v[:, : lengths[layer]]

    def free(self, sequence: int) -> None:
        """Let the graph of a sequence go."""
        self._kept.pop(sequence, None)

    def _of(self, pool: "PagedCache", sequence: int, layer: int, length: int) -> Pair:
        """Its first tokens, [G, length, K]: with their graph, or as the pool has them."""
        if layer in self._kept.get(sequence, {}):
            return self._kept[sequence][layer]
        t = torch.arange(length)
        table = torch.tensor(pool.table(sequence), dtype=torch.long)
        places = table[t // pool.block_size] * pool.block_size + t % pool.block_size
        k, v = (x[layer].index_select(1, places.to(x.device)) for x in (pool.k, pool.v))
        return k, v


def _padded(x: Tensor, S: int) -> Tensor:
    """Repeat the first token on the left: [G, n, K] -> [G, S, K]."""
    return torch.cat((x[:, :1].expand(-1, S - x.shape[1], -1), x), dim=1)
