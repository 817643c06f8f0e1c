"""A penalty on distance, with a slope for each head and nothing to train."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from pieces.checks import Positive, Size, checked
from pieces.positions.encoding import (
    PositionalEncoding,
    key_positions,
    relative_positions,
    with_batch,
)
from pieces.types import Device, KeyPositions, Positions


@checked
def alibi_slopes(
    n_heads: Size, steepest: Positive = 8.0, *, device: Device = None
) -> Float[Tensor, "{n_heads}"]:
    """The slopes m, for any number of heads.

    m_h = 2^(-steepest h / n), h = 1 .. n, for n heads, a power of 2

    The paper gives this for any n, and trained powers of 2 alone. For other numbers we follow the
    authors' code, as transformers does: n is the power of 2 below, and
    the missing heads take every other slope of 2n heads, in the order 1, 3, 5: not sorted.

    Source: Press et al. 2022 (ALiBi), 3, and its published code; source text, ALiBi listing.
    Shapes: -> [n_heads], float32.
    """
    n = 2 ** math.floor(math.log2(n_heads))
    options = {"dtype": torch.float32, "device": device}  # whatever torch's default dtype is
    first = torch.arange(1, n + 1, **options) / n
    others = (torch.arange(n_heads - n, **options) + 0.5) / n
    return torch.exp2(-steepest * torch.cat((first, others)))


@checked
class ALiBi(PositionalEncoding):
    """Attention with linear biases: the further away a key, the lower its score.

    bias[h, i, j] = -m_h |i - j|

    Under a causal mask |i - j| is the i - j of the paper; without one it counts both sides alike.
    Libraries often add m_h j instead: equal after a causal softmax (a row differs by a constant),
    but wrong without the mask, and its large numbers ruin low precision. This one is built in
    float32, and 0 where i = j.

    Source: Press et al. 2022 (ALiBi), 3; source text, ALiBi. ``steepest`` is MPT's alibi_bias_max.
    """

    def __init__(self, n_heads: Size, *, steepest: Positive = 8.0) -> None:
        super().__init__()
        self.n_heads, self.steepest = n_heads, steepest

    def forward(
        self, queries: Positions, keys: KeyPositions | None = None
    ) -> Float[Tensor, "#B H T S"]:
        """The bias between any positions; keys left out are the queries. Once for all layers.

        Shapes: queries [T] or [B, T], keys [S] or [B, S] -> [1, H, T, S] or [B, H, T, S], float32.
        """
        distance = relative_positions(queries, queries if keys is None else keys).abs()
        slopes = alibi_slopes(self.n_heads, self.steepest, device=distance.device)
        return -slopes[:, None, None] * with_batch(distance, 3)[:, None]

    def bias(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B G S K"], positions: Positions
    ) -> Float[Tensor, "#B H T S"]:
        """The bias for the queries at ``positions``."""
        return self(positions, key_positions(positions, k.shape[2]))

    def for_layers(self, positions: Positions, S: int, dtype: torch.dtype) -> dict[str, Tensor]:
        """The bias, computed in float32 and cast."""
        return {"bias": self(positions, key_positions(positions, S)).to(dtype)}

    def extra_repr(self) -> str:
        """Sizes, for ``print(model)``."""
        return f"n_heads={self.n_heads}, steepest={self.steepest}"
