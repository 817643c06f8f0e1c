"""Attention between the projections, in one fused kernel where nobody asks for the weights."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._C._functorch import is_functorch_wrapped_tensor

from pieces.attention.function import attention
from pieces.checks import checked
from pieces.scores import dot, scaled_dot
from pieces.types import Bias, Keys, Mask, Output, Queries, Score, Values, Weights

FUSED = {scaled_dot: None, dot: 1.0}  # scores the kernel knows, and its scale; None: 1 / sqrt(K)


@checked(always=("mask", "bias"))
def fused_attention(
    q: Queries, k: Keys, v: Values, *, mask: Mask = None, bias: Bias = None
) -> Output:
    """The output of ``attention`` from one fused kernel, which need not keep the weights.

    Source: Dao et al. 2022 (FlashAttention), 3.1; torch's scaled_dot_product_attention.
    Shapes: as ``attention``.
    """
    return one_kernel(q, k, v, mask, bias)


def one_kernel(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    bias: Tensor | None,
    scale: float | None = None,
) -> Tensor:
    """``fused_attention``, with a scale of its own."""
    hidden = mask
    if bias is not None:  # the kernel takes a mask or a bias, not both
        bias = bias.to(q.dtype)
        hidden = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    grouped = k.shape[1] != q.shape[1]
    options = {"attn_mask": hidden, "enable_gqa": grouped, "scale": scale}
    output = F.scaled_dot_product_attention(q, k, v, **options)
    if mask is not None and seen_to_spoil(output, k):
        return attention(q, k, v, mask=mask, bias=bias, score=dot if scale else scaled_dot)[0]
    return output


def seen_to_spoil(output: Tensor, k: Tensor) -> bool:
    """Whether a NaN or inf has met the kernel, which lets a hidden one through its mask.

    Such a call is computed again by the equation. One sum sees it; where looking would mean to wait
    for a GPU, or to leave a compiled graph, nobody looks.
    """
    plain = type(output) is Tensor and output.device.type == "cpu"
    if not plain or torch.compiler.is_compiling() or is_functorch_wrapped_tensor(output):
        return False
    total = output.detach().sum(dtype=torch.float32) + k.detach().sum(dtype=torch.float32)
    return not math.isfinite(total.item())


@checked(always=("mask", "bias"))
class AttentionCore(nn.Module):
    """Attention between the projections: fused, unless the weights or another score are wanted.

    Every attention layer of the package holds one, so ``trace.record`` finds the weights here.
    """

    def __init__(self, score: Score = scaled_dot) -> None:
        super().__init__()
        self.score = score

    def forward(
        self,
        q: Queries,
        k: Keys,
        v: Values,
        *,
        mask: Mask = None,
        bias: Bias = None,
        return_weights: bool = False,
    ) -> tuple[Output, Weights | None]:
        """Return (output, weights), or (output, None). Shapes: as ``attention``."""
        if self.score in FUSED and not return_weights:
            return one_kernel(q, k, v, mask, bias, FUSED[self.score]), None
        output, weights = attention(q, k, v, mask=mask, bias=bias, score=self.score)
        return output, (weights if return_weights else None)
