"""A pool of small blocks for many sequences: no memory set aside that may never be used.

A sequence's tokens lie in blocks anywhere in the pool; its block table says where. Sequences with
a common beginning point to the same blocks, and copy one only when they write into it.
"""

from collections import Counter

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pieces.cache.protocol import Cache, Device, KeysValues, require_keys_values, require_stored
from pieces.checks import refuse, require, require_int


class PagedCache:
    """The pool, its free list and the block tables of all sequences.

    At most block_size - 1 places of a sequence are unused, where a strip for the longest possible
    text would waste all that is not written. Its gain is memory, and so larger batches; reading
    through a table is not faster than reading a strip.

    Source: Kwon et al. 2023 (vLLM), 4.1 to 4.4; source text, PagedAttention.
    Shapes: k, v [n_layers, n_kv_heads, n_blocks block_size, head_dim].
    Raises: TypeError, ValueError if a size is not an int of at least 1.
    """

    def __init__(
        self,
        n_layers: int,
        n_blocks: int,
        block_size: int,
        n_kv_heads: int,
        head_dim: int,
        *,
        dtype: torch.dtype = torch.float32,
        device: Device = None,
    ) -> None:
        sizes = {"n_layers": n_layers, "n_blocks": n_blocks, "block_size": block_size}
        for name, size in (sizes | {"n_kv_heads": n_kv_heads, "head_dim": head_dim}).items():
            require_int(name, size)
        shape = (n_layers, n_kv_heads, n_blocks * block_size, head_dim)
        self.k = torch.zeros(shape, dtype=dtype, device=device)
        self.v = torch.zeros(shape, dtype=dtype, device=device)
        self.block_size = block_size
        self._free = list(range(n_blocks))[::-1]  # a stack: the lowest free block is on top
        self._users = [0] * n_blocks
        self._tables: dict[int, list[int]] = {}
        self._lengths: dict[int, list[int]] = {}  # of each layer
        self._next = 0

    def add(self) -> int:
        """Begin an empty sequence; return its number. It takes blocks only when it is written."""
        return self._begin([], [0] * self.k.shape[0])

    def fork(self, sequence: int, length: int | None = None) -> int:
        """Begin a sequence with the first ``length`` tokens of another (default all): no copy.

        Raises: ValueError if the sequence is unknown, in the middle of a step, or shorter.
        """
        lengths = self._known(sequence)
        rule, remedy = "some layers have not seen the last tokens", "finish the step first"
        require(len(set(lengths)) == 1, "sequence", sequence, rule, remedy)
        length = lengths[0] if length is None else length
        require_int("length", length, minimum=0)
        rule = f"sequence {sequence} has {lengths[0]} tokens"
        require(length <= lengths[0], "length", length, rule, "share fewer")
        shared = self._tables[sequence][: -(-length // self.block_size)]
        for block in shared:
            self._users[block] += 1
        return self._begin(list(shared), [length] * len(lengths))

    def free(self, sequence: int) -> None:
        """End a sequence; blocks that nobody else uses become free. Raises: ValueError."""
        self._known(sequence)
        for block in self._tables.pop(sequence):
            self._release(block)
        del self._lengths[sequence]

    def batch(self, sequences: list[int]) -> "PagedBatch":
        """Several sequences as one ``Cache``. Raises: ValueError if one is unknown or twice in."""
        for sequence in sequences:
            self._known(sequence)
        once = len(sequences) == len(set(sequences)) > 0
        require(once, "sequences", sequences, "must name each once", "fork one to have it twice")
        return PagedBatch(self, sequences)

    def length(self, sequence: int, layer: int = 0) -> int:
        """Tokens of a sequence that the layer has seen. Raises: ValueError if unknown."""
        return self._known(sequence)[layer]

    def table(self, sequence: int) -> list[int]:
        """The block table: where in the pool each ``block_size`` tokens lie. Raises: ValueError."""
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
        rule, remedy = f"the pool has {list(self._lengths)}", "call add() or fork() first"
        require(sequence in self._lengths, "sequence", sequence, rule, remedy)
        return self._lengths[sequence]

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
            remedy = "free a sequence, or build the pool with more blocks"
            refuse("n_blocks", len(self._users), rule, remedy)

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


class PagedBatch(Cache):
    """Sequences of a pool, side by side; shorter ones are padded on the left with what is hidden.

    Each update brings the same number of tokens to every sequence; texts of unequal length are
    read in one by one, and then continued together.
    """

    def __init__(self, pool: PagedCache, sequences: list[int]) -> None:
        self.pool, self.sequences = pool, list(sequences)

    def update(
        self, layer: int, k: Float[Tensor, "B G T K"], v: Float[Tensor, "B G T Kv"]
    ) -> KeysValues:
        """See ``Cache.update``. Raises: ValueError also when the pool has no free block left."""
        pool = self.pool
        rule, remedy = f"the pool has {pool.k.shape[0]} layers", "build it with n_layers"
        require(0 <= layer < pool.k.shape[0], "layer", layer, rule, remedy)
        require_keys_values(k, v)
        require_stored("k", k, pool.k, len(self.sequences))
        require_stored("v", v, pool.v, len(self.sequences))
        pool._require_room(self.sequences, layer, k.shape[2])
        places = [pool._extend(sequence, layer, k.shape[2]) for sequence in self.sequences]
        places = torch.tensor(places, device=k.device).flatten()
        pool.k[layer].index_copy_(1, places, k.transpose(0, 1).flatten(1, 2))
        pool.v[layer].index_copy_(1, places, v.transpose(0, 1).flatten(1, 2))
        return self.read(layer)

    def read(self, layer: int) -> KeysValues:
        """See ``Cache.read``. Raises: ValueError if a sequence is empty."""
        rule, remedy = "a sequence of the batch has no tokens", "call update first"
        require(bool(self._lengths(layer).min() > 0), "layer", layer, rule, remedy)
        places = self._places(layer)
        k, v = (x[layer].index_select(1, places.flatten()) for x in (self.pool.k, self.pool.v))
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
        chosen = [self.pool.fork(self.sequences[row]) for row in rows.tolist()]
        for sequence in self.sequences:
            self.pool.free(sequence)
        self.sequences = chosen

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
