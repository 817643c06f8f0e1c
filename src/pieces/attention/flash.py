"""Attention tile by tile: the exact result without ever holding the T × S matrix of weights.

A softmax needs the sum over a whole row, but a sum can be carried along: keep the largest score
so far, the sum of exponentials below it and the output below it, and rescale all three whenever a
larger score appears. The backward pass computes the tiles again instead of having stored them.
Written in plain torch to be read: it saves memory, not time. The fused kernels do both.

``mask`` and ``bias`` are tensors as everywhere, or functions of positions, which need no memory:
``lambda i, j: j <= i`` is the causal mask. i [t, 1] are queries, j [1, s] keys; the last query
has the position of the last key. A tile that a mask hides entirely is skipped.
"""

import torch
from torch._C._functorch import is_functorch_wrapped_tensor

from pieces.attention.core import AttentionCore
from pieces.attention.tiles import OfPositions, Tiled
from pieces.checks import Size, checked, refuse
from pieces.types import Bias, Keys, Mask, Output, Queries, Values, Weights


@checked(always=("mask", "bias"))
def flash_attention(
    q: Queries,
    k: Keys,
    v: Values,
    *,
    mask: Mask | OfPositions = None,
    bias: Bias | OfPositions = None,
    block_size: Size = 128,
) -> Output:
    """The output of ``attention``, in memory that grows as T + S and not as T S.

    For each tile of a row, with scores s_j and the largest score so far m, then m':

    m' = max(m, max_j s_j),  l' = l e^(m - m') + Σ_j e^(s_j - m'),
    o' = o e^(m - m') + Σ_j e^(s_j - m') v_j;  at the end o / l, or 0 if the row saw nothing

    Source: Dao et al. 2022 (FlashAttention), 3.1, algorithm 1; Dao 2023 (FlashAttention-2), 3.1.
    Shapes: as ``attention``. A function gives a mask (bool) or bias for a tile, [t, s] or anything
    that stretches to [B, H, t, s]. Gradients reach a bias tensor, not what a function uses.
    """
    compiling = torch.compiler.is_compiling()
    if not compiling and any(map(is_functorch_wrapped_tensor, (q, k, v))):
        rule = "goes tile by tile over a batch, and not under torch.func (vmap, grad, jacrev)"
        remedy = "use attention or fused_attention there, or make the mapped axis a part of B"
        refuse("flash_attention", "inside torch.func", rule, remedy)
    with torch.autocast(q.device.type, enabled=False):  # sums are carried in float32 at least
        return Tiled.apply(q, k, v, bias, mask, block_size)


@checked(always=("mask", "bias"))
class FlashCore(AttentionCore):
    """``flash_attention`` between the projections: ``MultiHeadAttention(..., core=FlashCore())``.

    Weights, when they are asked for, come from ``attention``, which holds the whole matrix.
    """

    def __init__(self, block_size: Size = 128) -> None:
        super().__init__()
        self.block_size = block_size

    def forward(
        self,
        q: Queries,
        k: Keys,
        v: Values,
        *,
        mask: Mask | OfPositions = None,
        bias: Bias | OfPositions = None,
        return_weights: bool = False,
    ) -> tuple[Output, Weights | None]:
        """Return (output, weights), or (output, None). Shapes: as ``attention``."""
        if return_weights:
            return super().forward(q, k, v, mask=mask, bias=bias, return_weights=True)
        return flash_attention(q, k, v, mask=mask, bias=bias, block_size=self.block_size), None
