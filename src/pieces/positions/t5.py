"""One trained number for each head and each range of distances."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from pieces.checks import Size, checked, require
from pieces.positions.encoding import (
    PositionalEncoding,
    key_positions,
    relative_positions,
    with_batch,
)
from pieces.types import KeyPositions, Positions


@checked
def t5_bucket(
    relative: Int[Tensor, "*axes"],
    num_buckets: Size = 32,
    max_distance: Size = 128,
    *,
    bidirectional: bool = True,
) -> Int[Tensor, "*axes"]:
    """Number of the bucket of each relative position j - i.

    With n buckets for a side, distances below n/2 have one each, longer ones share: their buckets
    grow geometrically up to max_distance, and the last one takes all that is further. Both sides
    have half of the buckets each, or, if not bidirectional, the past has all (the future is 0).

    Source: Raffel et al. 2020 (T5), 2.1, and its published code.
    Shapes: any -> the same, 0 .. num_buckets - 1.
    """
    exact = exact_buckets(num_buckets, max_distance, bidirectional=bidirectional)
    relative = relative.long()  # in a byte, distances above 127 would turn around
    n = num_buckets // 2 if bidirectional else num_buckets
    future = (relative > 0).long() * n if bidirectional else 0
    distance = relative.abs() if bidirectional else (-relative).clamp(min=0)
    # log and truncation in float32, in this order, so that every edge falls as in T5's own code
    growth = (distance.clamp(min=1).float() / exact).log() / math.log(max_distance / exact)
    shared = (exact + (growth * (n - exact)).long()).clamp(max=n - 1)
    return future + torch.where(distance < exact, distance, shared)


def exact_buckets(num_buckets: int, max_distance: int, *, bidirectional: bool) -> int:
    """How many distances have a bucket each; refuse numbers with which nothing could be shared."""
    sides = 2 if bidirectional else 1
    exact, rule = num_buckets // (2 * sides), f"must be at least {2 * sides}"
    require(exact > 0, "num_buckets", num_buckets, rule, "pass more")
    rule = f"must be above {exact}, the distances with a bucket each"
    require(max_distance > exact, "max_distance", max_distance, rule, "pass more")
    return exact


@checked
class T5Buckets(PositionalEncoding):
    """A bias by distance, trained: nearby distances one by one, far ones in ever wider buckets.

    bias[h, i, j] = weight[bucket(j - i), h]

    T5 has one such table for its encoder and one for its decoder, each shared by all layers, and
    its scores are not divided by sqrt(K). The numbers cost nothing to extend: beyond max_distance
    every key of a side is in the same bucket.

    Source: Raffel et al. 2020 (T5), 2.1; source text, T5 bias (where it is written r_(i-j)).
    Shapes: weight [num_buckets, n_heads], started as N(0, 0.02²).
    """

    def __init__(
        self,
        n_heads: Size,
        num_buckets: Size = 32,
        max_distance: Size = 128,
        *,
        bidirectional: bool = True,
    ) -> None:
        super().__init__()
        exact_buckets(num_buckets, max_distance, bidirectional=bidirectional)
        self.n_heads = n_heads
        self.max_distance, self.bidirectional = max_distance, bidirectional
        self.weight = nn.Parameter(torch.empty(num_buckets, n_heads))
        nn.init.normal_(self.weight, std=0.02)

    def forward(
        self, queries: Positions, keys: KeyPositions | None = None
    ) -> Float[Tensor, "#B H T S"]:
        """The bias between any positions; keys left out are the queries. Once for all layers.

        Shapes: queries [T] or [B, T], keys [S] or [B, S] -> [1, H, T, S] or [B, H, T, S].
        """
        relative = relative_positions(queries, queries if keys is None else keys)
        relative = with_batch(relative, 3)
        options = {"bidirectional": self.bidirectional}
        buckets = t5_bucket(relative, self.weight.shape[0], self.max_distance, **options)
        return self.weight[buckets].permute(0, 3, 1, 2)

    def for_layers(self, positions: Positions, S: int, dtype: torch.dtype) -> dict[str, Tensor]:
        """The bias: one table serves all layers."""
        return {"bias": self(positions, key_positions(positions, S)).to(dtype)}

    def bias(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B G S K"], positions: Positions
    ) -> Float[Tensor, "#B H T S"]:
        """The bias for the queries at ``positions``."""
        return self(positions, key_positions(positions, k.shape[2]))

    def extra_repr(self) -> str:
        """Sizes, for ``print(model)``."""
        num_buckets, n_heads = self.weight.shape
        sizes = f"n_heads={n_heads}, num_buckets={num_buckets}, max_distance={self.max_distance}"
        return f"{sizes}, bidirectional={self.bidirectional}"
