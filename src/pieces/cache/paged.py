"""A pool of small blocks for many sequences: no memory set aside that may never be used.

A sequence's tokens lie in blocks anywhere in the pool; its block table says where. Sequences with
a common beginning point to the same blocks, and copy one only when they write into it.
"""

from collections import Counter
from typing import Annotated

import torch

from pieces.cache.paged_batch import PagedBatch
from pieces.cache.traced import Traced
from pieces.checks import Filled, Natural, Once, Size, checked, one_of, refuse, require
from pieces.types import Device


@checked
class PagedCache:
    """The pool, its free list and the block tables of all sequences.

    At most block_size - 1 places of a sequence are unused, where a strip for the longest possible
    text would waste all that is not written. Its gain is memory, and so larger batches; reading
    through a table is not faster than reading a strip.

    Source: Kwon et al. 2023 (vLLM), 4.1 to 4.4; source text, PagedAttention.
    Shapes: k, v [n_layers, n_kv_heads, n_blocks block_size, head_dim].
    """

    def __init__(
        self,
        n_layers: Size,
        n_blocks: Size,
        block_size: Size,
        n_kv_heads: Size,
        head_dim: Size,
        *,
        dtype: torch.dtype = torch.float32,
        device: Device = None,
    ) -> None:
        shape = (n_layers, n_kv_heads, n_blocks * block_size, head_dim)
        with torch.inference_mode(False):  # what is made under it cannot be written outside it
            self.k = torch.zeros(shape, dtype=dtype, device=device)
            self.v = torch.zeros(shape, dtype=dtype, device=device)
        self._traced = Traced()
        self.block_size = block_size
        self._free = list(range(n_blocks))[::-1]  # a stack: the lowest free block is on top
        self._users = [0] * n_blocks
        self._tables: dict[int, list[int]] = {}
        self._lengths: dict[int, list[int]] = {}  # of each layer
        self._next = 0

    def add(self) -> int:
        """Begin an empty sequence; return its number. It takes blocks only when it is written."""
        return self._begin([], [0] * self.k.shape[0])

    def fork(self, sequence: int, length: Natural | None = None) -> int:
        """Begin a sequence with the first ``length`` tokens of another (default all): no copy."""
        lengths = self._settled(sequence)
        length = lengths[0] if length is None else length
        has = f"sequence {sequence} has {lengths[0]} tokens"
        require(length <= lengths[0], "length", length, has, "share fewer")
        shared = self._tables[sequence][: -(-length // self.block_size)]
        for block in shared:
            self._users[block] += 1
        child = self._begin(list(shared), [length] * len(lengths))
        self._traced.fork(sequence, child, length)
        return child

    def free(self, sequence: int) -> None:
        """End a sequence; blocks that nobody else uses become free."""
        self._known(sequence)
        for block in self._tables.pop(sequence):
            self._release(block)
        del self._lengths[sequence]
        self._traced.free(sequence)

    def batch(self, sequences: Annotated[list[int], Filled(), Once()]) -> "PagedBatch":
        """Several sequences as one ``Cache``."""
        for sequence in sequences:
            self._known(sequence)
        return PagedBatch(self, sequences)

    def length(self, sequence: int, layer: int = 0) -> int:
        """Tokens of a sequence that the layer has seen."""
        return self._known(sequence)[layer]

    def table(self, sequence: int) -> list[int]:
        """The block table: where in the pool each ``block_size`` tokens lie."""
        self._known(sequence)
        return list(self._tables[sequence])

    @property
    def n_free(self) -> int:
        """Blocks that nobody uses."""
        return len(self._free)

    def _begin(self, table: list[int], lengths: list[int]) -> int:
        sequence, self._next = self._next, self._next + 1
        self._tables[sequence], self._lengths[sequence] = table, lengths
        return sequence

    def _known(self, sequence: int) -> list[int]:
        return one_of("sequence", sequence, self._lengths)

    def _settled(self, sequence: int) -> list[int]:
        lengths = self._known(sequence)
        same, rule = len(set(lengths)) == 1, "some layers have not seen the last tokens"
        require(same, "sequence", sequence, rule, "finish the step first")
        return lengths

    def _shorten(self, sequence: int, lengths: list[int]) -> None:
        """Forget the last tokens, and give back the blocks that held nothing else."""
        table, self._lengths[sequence] = self._tables[sequence], list(lengths)
        while len(table) > -(-max(lengths) // self.block_size):
            self._release(table.pop())
        self._traced.shorten(sequence, lengths)

    def _release(self, block: int) -> None:
        self._users[block] -= 1
        if self._users[block] == 0:
            self._free.append(block)

    def _take(self) -> int:
        block = self._free.pop()
        self._users[block] = 1
        return block

    def _require_room(self, sequences: list[int], layer: int, T: int) -> None:
        """Refuse what would not fit before anything is written: a refused step leaves no trace."""
        needed, shared = 0, Counter[int]()
        for sequence in sequences:
            table, start = self._tables[sequence], self._lengths[sequence][layer]
            for n in range(start // self.block_size, (start + T - 1) // self.block_size + 1):
                if n < len(table):
                    shared[table[n]] += 1
                else:
                    needed += 1
        # Of a block's users, each that writes copies it, but for the last one that is left.
        needed += sum(min(n, self._users[block] - 1) for block, n in shared.items())
        if needed > len(self._free):
            rule = f"{needed} more blocks are needed, and {len(self._free)} are free"
            refuse("n_blocks", len(self._users), rule, "free a sequence, or build a larger pool")

    def _extend(self, sequence: int, layer: int, T: int) -> list[int]:
        """Make room for T more tokens, in blocks of its own; return their places in the pool."""
        table, start, size = self._tables[sequence], self._lengths[sequence][layer], self.block_size
        for n in range(start // size, (start + T - 1) // size + 1):
            if n == len(table):
                table.append(self._take())
            elif self._users[table[n]] > 1:
                table[n] = self._copied(table[n])
        self._lengths[sequence][layer] += T
        return [table[t // size] * size + t % size for t in range(start, start + T)]

    def _copied(self, shared: int) -> int:
        """Copy on write: the same tokens in a block of one's own, for all layers."""
        own, size = self._take(), self.block_size
        for pool in (self.k, self.v):
            old = pool[:, :, shared * size : (shared + 1) * size]
            pool[:, :, own * size : (own + 1) * size] = old
        self._release(shared)
        return own
