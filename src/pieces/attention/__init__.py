"""Attention: each query takes a weighted average of the values, weighted by how its keys match.

    function        the equation, with its weights
    core            the same between projections: one fused kernel, unless weights are asked for
    causal, flash   other cores: one's own past, without a mask; tile by tile
    single_head     one set of projections, any score
    multi_head      several heads, grouped or not
    cached          the same with positions and a cache
    cross           the same to a context that is read once

Axes: B batch, T queries, S keys, H heads, G key-value heads, D d_model, K head_dim.
Masks are bool, True = may attend (``pieces.masks``). A query that may attend to nothing gets zeros.
A mask stops ordinary numbers only: a hidden value is multiplied by 0, and 0 * NaN is NaN. So a NaN
or inf in a hidden value (in the fused kernel, in a hidden key too) still spoils the output.
"""

from pieces.attention.cached import CachedAttention
from pieces.attention.causal import CausalCore
from pieces.attention.core import FUSED, AttentionCore, fused_attention, one_kernel
from pieces.attention.cross import CrossAttention
from pieces.attention.flash import FlashCore, flash_attention
from pieces.attention.function import (
    Bias,
    Keys,
    Mask,
    Output,
    Queries,
    Score,
    Values,
    Weights,
    attention,
    masked_softmax,
    share_heads,
)
from pieces.attention.multi_head import MultiHeadAttention, merge_heads, split_heads
from pieces.attention.single_head import SingleHeadAttention

__all__ = [
    "FUSED",
    "AttentionCore",
    "Bias",
    "CachedAttention",
    "CausalCore",
    "CrossAttention",
    "FlashCore",
    "Keys",
    "Mask",
    "MultiHeadAttention",
    "Output",
    "Queries",
    "Score",
    "SingleHeadAttention",
    "Values",
    "Weights",
    "attention",
    "flash_attention",
    "fused_attention",
    "masked_softmax",
    "merge_heads",
    "one_kernel",
    "share_heads",
    "split_heads",
]
