"""Attention to one's own past, where the mask costs nothing."""

import torch.nn.functional as F

from pieces import masks
from pieces.attention.core import FUSED, AttentionCore, one_kernel
from pieces.attention.function import Bias, Keys, Mask, Output, Queries, Score, Values, Weights
from pieces.checks import Size, checked
from pieces.scores import scaled_dot


@checked(always=("mask", "bias"))
class CausalCore(AttentionCore):
    """Attention to oneself and one's past, or the last ``window`` of it, without asking for a mask.

    It equals ``masks.causal(T, S)`` or ``masks.sliding_window(T, window, S)``: the T queries are
    the last of the S keys. A ``mask`` that is passed (padding) is composed with it. Where no matrix
    is needed it builds none: the fused kernel has a causal mode for T = S, about twice as fast as
    the same mask in memory, and a single query sees every key.

    Source: Vaswani et al. 2017, 3.2.3; Jiang et al. 2023 (Mistral), 2.
    """

    def __init__(self, window: Size | None = None, score: Score = scaled_dot) -> None:
        super().__init__(score)
        self.window = window

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
        """Return (output, weights), or (output, None). Shapes: as ``attention``, with T <= S."""
        T, S = q.shape[2], k.shape[2]
        window = S if self.window is None else min(self.window, S)
        fused = self.score in FUSED and not return_weights
        if fused and T == S == window and mask is None and bias is None:
            grouped = k.shape[1] != q.shape[1]
            options = {"is_causal": True, "enable_gqa": grouped, "scale": FUSED[self.score]}
            return F.scaled_dot_product_attention(q, k, v, **options), None
        if T > 1 or window < S:
            past = masks.sliding_window(T, window, S, device=q.device)
            mask = past if mask is None else past & mask
        if fused:
            return one_kernel(q, k, v, mask, bias, FUSED[self.score]), None
        return super().forward(q, k, v, mask=mask, bias=bias, return_weights=return_weights)
