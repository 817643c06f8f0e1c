"""Attention to one's own past, where the mask costs nothing."""

import torch
import torch.nn.functional as F

from pieces import masks
from pieces.attention.core import FUSED, AttentionCore, one_kernel, seen_to_spoil
from pieces.checks import Size, checked
from pieces.scores import scaled_dot
from pieces.types import Bias, Keys, Mask, Output, Queries, Score, Values, Weights

# An exported graph serves texts shorter and longer than the window: it cannot choose by length.
exporting = getattr(torch.compiler, "is_exporting", torch.compiler.is_compiling)


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
        whole = self.window is None or (not exporting() and S <= self.window)
        fused = self.score in FUSED and not return_weights
        if fused and T == S and whole and mask is None and bias is None:
            grouped = k.shape[1] != q.shape[1]
            options = {"is_causal": True, "enable_gqa": grouped, "scale": FUSED[self.score]}
            output = F.scaled_dot_product_attention(q, k, v, **options)
            if T == 1 or not seen_to_spoil(output, k):
                return output, None
        if T > 1 or not whole:
            past = masks.sliding_window(T, self.window or S, S, device=q.device)
            mask = past if mask is None else past & mask
        if fused:
            return one_kernel(q, k, v, mask, bias, FUSED[self.score]), None
        return super().forward(q, k, v, mask=mask, bias=bias, return_weights=return_weights)
