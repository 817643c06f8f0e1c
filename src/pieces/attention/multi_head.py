"""Several heads side by side: self, cross, grouped, with positions and a cache."""

import operator
from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from pieces.attention.core import AttentionCore
from pieces.attention.function import Bias, Mask, Queries, Weights
from pieces.cache.protocol import LayerCache
from pieces.checks import (
    default_int,
    require,
    require_attention,
    require_instance,
    require_int,
    require_module,
    require_sequence,
)
from pieces.positions import PositionalEncoding, Rotation

Positions = Int[Tensor, "T"] | Int[Tensor, "#B T"] | Rotation | None


def split_heads(x: Float[Tensor, "B T HK"], head_dim: int) -> Float[Tensor, "B H T {head_dim}"]:
    """Cut the last axis into heads: [B, T, H K] -> [B, H, T, K], a view."""
    return x.view(*x.shape[:-1], -1, head_dim).transpose(1, 2)


def merge_heads(x: Float[Tensor, "B H T K"]) -> Float[Tensor, "B T HK"]:
    """Put the heads side by side again: [B, H, T, K] -> [B, T, H K]."""
    return x.transpose(1, 2).flatten(2)


class MultiHeadAttention(nn.Module):
    """Several heads side by side, mixed by an output projection; self, or cross with ``context=``.

    MultiHead(X) = Concat(head_1, ..., head_H) W_O,  head_h = Attention(X W_Q^h, C W_K^g, C W_V^g)

    Source: Vaswani et al. 2017, 3.2.2; source text (5.6), (5.7). n_kv_heads < n_heads is grouped
    (Ainslie et al. 2023), 1 is multi-query attention (Shazeer 2019). ``position`` is an encoding
    that rotates or biases (``pieces.positions``); ``core`` is what stands between the projections.
    Sizes left out: n_kv_heads is n_heads, head_dim is d_model / n_heads, d_context is d_model,
    out_bias is bias.
    Raises: TypeError, ValueError if a size is not an int of at least 1 or does not divide.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        head_dim: int | None = None,
        d_context: int | None = None,
        bias: bool = False,
        out_bias: bool | None = None,
        position: PositionalEncoding | None = None,
        core: AttentionCore | None = None,
    ) -> None:
        super().__init__()
        require_int("d_model", d_model)
        require_int("n_heads", n_heads)
        n_kv_heads = default_int("n_kv_heads", n_kv_heads, n_heads)
        d_context = default_int("d_context", d_context, d_model)
        rule, remedy = f"must divide n_heads = {n_heads}", "choose 1, n_heads or a divisor of it"
        require(n_heads % n_kv_heads == 0, "n_kv_heads", n_kv_heads, rule, remedy)
        rule, remedy = f"must divide d_model = {d_model}", "choose a divisor, or pass head_dim="
        require(head_dim is not None or d_model % n_heads == 0, "n_heads", n_heads, rule, remedy)
        self.head_dim = default_int("head_dim", head_dim, d_model // n_heads)
        self.query = nn.Linear(d_model, n_heads * self.head_dim, bias=bias)
        self.key = nn.Linear(d_context, n_kv_heads * self.head_dim, bias=bias)
        self.value = nn.Linear(d_context, n_kv_heads * self.head_dim, bias=bias)
        out_bias = bias if out_bias is None else out_bias
        self.output = nn.Linear(n_heads * self.head_dim, d_model, bias=out_bias)
        self.position = position
        if position is not None:
            require_instance("position", position, PositionalEncoding, "pass Rotary(head_dim), say")
        self.core = AttentionCore() if core is None else core
        require_module("core", self.core)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        context: Float[Tensor, "B S C"] | None = None,
        mask: Mask = None,
        bias: Bias = None,
        positions: Positions = None,
        cache: LayerCache | None = None,
        return_weights: bool = False,
    ) -> Float[Tensor, "B T D"] | tuple[Float[Tensor, "B T D"], Weights]:
        """Shapes: x [B, T, D], context [B, S, d_context] -> [B, T, D], weights [B, H, T, S].

        The mask (True = may attend) and the bias (added to the scores) are [T, S], or 4-D with each
        axis as in [B, H, T, S] or 1; padding [B, 1, 1, S] fits, [B, T, S] wants mask[:, None].

        With a ``cache`` (``pieces.cache``) x are the next T tokens and the S keys are all so far;
        of a context it keeps the keys and values of the first call, which later calls reuse.
        ``positions`` [T] or [B, T] of x go on from the cache if left out; padding on the left
        shifts them. They may be a ``Rotation``, computed once for several layers.
        Raises: TypeError, ValueError as ``attention``; if x or context do not fit; if there are
        positions without an encoding, or beside a context, which an encoding cannot place.
        """
        require_sequence("x", x, self.query.in_features)
        q = split_heads(self.query(x), self.head_dim)
        if context is None:
            q, k, v, mask, bias = self._self(q, x, mask, bias, positions, cache)
        else:
            k, v = self._cross(context, positions, cache)
        output, weights = self.core(q, k, v, mask=mask, bias=bias, return_weights=return_weights)
        output = self.output(merge_heads(output))
        return (output, weights) if return_weights else output

    def _self(
        self,
        q: Queries,
        x: Tensor,
        mask: Mask,
        bias: Bias,
        positions: Positions,
        cache: LayerCache | None,
    ) -> tuple[Queries, Tensor, Tensor, Mask, Bias]:
        """Keys and values of x and all before it; what position and cache add to mask and bias."""
        k, v = self._keys_values(x)
        positions = self._positions(x, positions, cache)
        if positions is not None:
            q, k = self.position.rotate(q, k, positions)
        if cache is not None:
            require_instance("cache", cache, LayerCache, "pass the part of one layer, cache[0]")
            k, v = cache.update(k, v)
        padding = None if cache is None else cache.padding()
        distance = None if positions is None else self.position.bias(q, k, positions)
        if padding is not None or distance is not None:
            require_attention(q, k, v, mask, bias)
        return q, k, v, _both(mask, padding, operator.and_), _both(bias, distance, operator.add)

    def _cross(
        self, context: Tensor, positions: Positions, cache: LayerCache | None
    ) -> tuple[Tensor, Tensor]:
        """Keys and values of a context, which does not change from call to call."""
        placed, remedy = self.position is not None or positions is not None, "leave it out"
        require(not placed, "positions", "given", "a context has places of its own", remedy)
        if cache is not None and cache.length() > 0:
            return cache.read()
        k, v = self._keys_values(context)
        return (k, v) if cache is None else cache.update(k, v)

    def _keys_values(self, context: Tensor) -> tuple[Tensor, Tensor]:
        """What is attended to, projected: [B, S, C] -> [B, G, S, K], twice."""
        require_sequence("context", context, self.key.in_features)
        k, v = self.key(context), self.value(context)
        return split_heads(k, self.head_dim), split_heads(v, self.head_dim)

    def _positions(self, x: Tensor, positions: Positions, cache: LayerCache | None) -> Positions:
        """Where the tokens of x stand: as told, or next; None if nothing asks for it."""
        if self.position is None:
            remedy = "build the attention with position="
            require(positions is None, "positions", "given", "there is no encoding", remedy)
            return None
        if positions is not None:
            return positions
        if cache is not None:
            return cache.positions(x.shape[1], device=x.device)
        return torch.arange(x.shape[1], device=x.device)


def _both(x: Tensor | None, y: Tensor | None, combine: Callable) -> Tensor | None:
    """Both, or the one that there is."""
    if x is None or y is None:
        return y if x is None else x
    return combine(x, y)
