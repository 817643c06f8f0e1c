"""Attention to one's own past, where the mask costs nothing."""

import torch.nn.functional as F

from pieces import masks
from pieces.attention import (
    FUSED,
    AttentionCore,
    Bias,
    Keys,
    Mask,
    Output,
    Queries,
    Score,
    Values,
    Weights,
    one_kernel,
)
from pieces.checks import require_attention, require_int


class CausalCore(AttentionCore):
    """Attention to oneself and one's past, or the last ``window`` of it, without asking for a mask.

    It equals ``masks.causal(T, S)`` or ``masks.sliding_window(T, window, S)``: the T queries are
    the last of the S keys. A ``mask`` that is passed (padding) is composed with it. Where no matrix
    is needed it builds none: the fused kernel has a causal mode for T = S, about twice as fast as
    the same mask in memory, and a single query sees every key.

    Source: Vaswani et al. 2017, 3.2.3; Jiang et al. 2023 (Mistral), 2.
    Raises: TypeError, ValueError if window is not an int of at least 1.
    """

    def __init__(self, window: int | None = None, score: Score | None = None) -> None:
        super().__init__(score)
        require_int("window", 1 if window is None else window)
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
        """Return (output, weights), or (output, None).

        Shapes and errors: as ``attention``, and ValueError if there are more queries than keys.
        """
        require_attention(q, k, v, mask, bias)
        T, S = q.shape[2], k.shape[2]
        all_past = self.window is None or self.window >= S
        fused = self.score in FUSED and not return_weights
        if all_past and fused and T == S and mask is None and bias is None:
            grouped = k.shape[1] != q.shape[1]
            options = {"is_causal": True, "enable_gqa": grouped, "scale": FUSED[self.score]}
            return F.scaled_dot_product_attention(q, k, v, **options), None
        if T > 1 or not all_past:
            window = S if self.window is None else self.window
            past = masks.sliding_window(T, window, S, device=q.device)
            mask = past if mask is None else past & mask
        if fused:
            return one_kernel(q, k, v, mask, bias, FUSED[self.score]), None
        return super().forward(q, k, v, mask=mask, bias=bias, return_weights=return_weights)
