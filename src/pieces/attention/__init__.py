"""Attention: each query takes a weighted average of the values, weighted by how its keys match.

    function        the equation, with its weights
    core            the same between projections: one fused kernel, unless weights are asked for
    causal, flash   other cores: one's own past, without a mask; tile by tile
    single_head     one set of projections, any score
    multi_head      several heads, grouped or not
    cached          the same with positions and a cache
    cross           the same to a context that is read once
    latent          all heads' keys and values from one small vector
    normed          with a norm on queries and keys
    linear          without a softmax: keys and values in one square of fixed size

Axes: B batch, T queries, S keys, H heads, G key-value heads, D d_model, K head_dim.
Masks are bool, True = may attend (``pieces.masks``). A query that may attend to nothing gets zeros.
What a mask hides stays hidden, NaN and ±inf too: with a mask, a row that may attend to a token
whose key or value holds one is NaN, and all other rows are as if that token were not there. Of the
fused kernel that is so on a CPU, not in compiled code or on a GPU: nobody waits to see its numbers.
"""

from pieces.attention.cached import CachedAttention
from pieces.attention.causal import CausalCore
from pieces.attention.core import FUSED, AttentionCore, fused_attention, one_kernel
from pieces.attention.cross import CrossAttention
from pieces.attention.flash import FlashCore, flash_attention
from pieces.attention.function import (
    attention,
    masked_softmax,
    set_apart,
    share_heads,
)
from pieces.attention.latent import LatentAttention
from pieces.attention.linear import (
    LinearAttention,
    Sums,
    elu_plus_one,
    linear_attention,
    linear_attention_quadratic,
)
from pieces.attention.multi_head import MultiHeadAttention, merge_heads, split_heads
from pieces.attention.normed import NormedAttention
from pieces.attention.single_head import SingleHeadAttention

__all__ = [
    "FUSED",
    "AttentionCore",
    "CachedAttention",
    "CausalCore",
    "CrossAttention",
    "FlashCore",
    "LatentAttention",
    "LinearAttention",
    "MultiHeadAttention",
    "NormedAttention",
    "SingleHeadAttention",
    "Sums",
    "attention",
    "elu_plus_one",
    "flash_attention",
    "fused_attention",
    "linear_attention",
    "linear_attention_quadratic",
    "masked_softmax",
    "merge_heads",
    "one_kernel",
    "set_apart",
    "share_heads",
    "split_heads",
]
