"""Sequences of a pool side by side, as the cache of one batch."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pieces.cache.protocol import Cache, KeysValues, require_stored
from pieces.checks import checked, one_of, require
from pieces.types import Device


@checked
class PagedBatch(Cache):
    """Sequences of a pool, side by side; shorter ones are padded on the left with what is hidden.

    Each update brings the same number of tokens to every sequence; texts of unequal length are
    read in one by one, and then continued together.
    """

    def __init__(self, pool: object, sequences: list[int]) -> None:
        known = hasattr(pool, "block_size")  # a PagedCache, whose module imports this one
        remedy = "write PagedCache(...).batch([...])"
        require(known, "pool", type(pool).__name__, "must be a PagedCache", remedy, TypeError)
        self.pool, self.sequences = pool, list(sequences)
        self.n_layers = pool.k.shape[0]

    def update(
        self, layer: int, k: Float[Tensor, "B G T K"], v: Float[Tensor, "B G T Kv"]
    ) -> KeysValues:
        """See ``Cache.update``."""
        pool = self.pool
        one_of("layer", layer, range(pool.k.shape[0]))
        require_stored(k, v, pool, len(self.sequences))
        pool._require_room(self.sequences, layer, k.shape[2])
        older = [pool.length(sequence, layer) for sequence in self.sequences]
        places = [pool._extend(sequence, layer, k.shape[2]) for sequence in self.sequences]
        places = torch.tensor(places, device=k.device).flatten()
        pool.k[layer].index_copy_(1, places, k.detach().transpose(0, 1).flatten(1, 2))
        pool.v[layer].index_copy_(1, places, v.detach().transpose(0, 1).flatten(1, 2))
        pool._traced.extend(pool, self.sequences, layer, older, (k, v))
        return self.read(layer)

    def read(self, layer: int) -> KeysValues:
        """See ``Cache.read``."""
        pool = self.pool
        written = bool(self._lengths(layer).min() > 0)
        rule = "a sequence of the batch has no tokens"
        require(written, "layer", layer, rule, "call update first")
        if pool._traced.has(self.sequences, layer):
            return pool._traced.read(pool, self.sequences, layer)
        places = self._places(layer)
        k, v = (x[layer].index_select(1, places.flatten()) for x in (pool.k, pool.v))
        shape = places.shape
        return k.unflatten(1, shape).transpose(0, 1), v.unflatten(1, shape).transpose(0, 1)

    def length(self, layer: int = 0) -> int:
        """See ``Cache.length``."""
        return max(self.pool.length(sequence, layer) for sequence in self.sequences)

    def positions(self, T: int, layer: int = 0, *, device: Device = None) -> Int[Tensor, "B {T}"]:
        """See ``Cache.positions``: each sequence counts for itself."""
        return (self._lengths(layer)[:, None] + torch.arange(T)).to(device)

    def padding(self, layer: int = 0) -> Bool[Tensor, "B 1 1 S"] | None:
        """See ``Cache.padding``."""
        lengths = self._lengths(layer)
        if (lengths == lengths[0]).all():
            return None
        real = torch.arange(int(lengths.max()), 0, -1) <= lengths[:, None]
        return real[:, None, None, :].to(self.pool.k.device)

    def select(self, rows: Int[Tensor, "N"]) -> None:
        """See ``Cache.select``: rows are forked, so beams share their common beginning."""
        known = rows.tolist()
        B, there = len(self.sequences), len(known) > 0
        there = there and all(0 <= row < B for row in known)
        require(there, "rows", known, f"must be in 0 .. {B - 1}", "name rows of the last batch")
        for row in known:
            self.pool._settled(self.sequences[row])
        chosen = [self.pool.fork(self.sequences[row]) for row in known]
        for sequence in self.sequences:
            self.pool.free(sequence)
        self.sequences = chosen

    def mark(self) -> dict[int, list[int]]:
        """See ``Cache.mark``: the tokens of each sequence that each layer has seen."""
        return {sequence: list(self.pool._known(sequence)) for sequence in self.sequences}

    def rewind(self, mark: dict[int, list[int]]) -> None:
        """See ``Cache.rewind``: blocks that were taken since are given back."""
        for sequence, lengths in mark.items():
            self.pool._shorten(sequence, lengths)

    def _lengths(self, layer: int) -> Int[Tensor, "B"]:
        return torch.tensor([self.pool.length(sequence, layer) for sequence in self.sequences])

    def _places(self, layer: int) -> Int[Tensor, "B S"]:
        """Where in the pool each token lies; where there is none, the sequence's first."""
        lengths, size = self._lengths(layer), self.pool.block_size
        S = int(lengths.max())
        t = (lengths[:, None] - S + torch.arange(S)).clamp(min=0)
        tables = [torch.tensor(self.pool.table(sequence)) for sequence in self.sequences]
        tables = torch.nn.utils.rnn.pad_sequence(tables, batch_first=True)
        return (tables.gather(1, t // size) * size + t % size).to(self.pool.k.device)
