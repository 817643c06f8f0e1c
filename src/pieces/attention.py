"""Attention: each query takes a weighted average of the values, weighted by how its keys match.

Axes: B batch, T queries, S keys, H heads, G key-value heads, D d_model, K head_dim.
Masks are bool, True = may attend (``pieces.masks``). A query that may attend to nothing gets zeros.
A mask stops ordinary numbers only: a hidden value is multiplied by 0, and 0 * NaN is NaN. So a NaN
or inf in a hidden value (in the fused kernel, in a hidden key too) still spoils the output.
"""

import operator
from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pieces.cache.protocol import LayerCache
from pieces.checks import (
    default_int,
    require,
    require_attention,
    require_broadcast,
    require_int,
    require_mask,
    require_sequence,
)
from pieces.positions import PositionalEncoding, Rotation
from pieces.scores import dot, scaled_dot

Queries = Float[Tensor, "B H T K"]
Keys = Float[Tensor, "B G S K"]
Values = Float[Tensor, "B G S Kv"]
Output = Float[Tensor, "B H T Kv"]
Weights = Float[Tensor, "B H T S"]
Mask = Bool[Tensor, "#T #S"] | Bool[Tensor, "#B #H #T #S"] | None
Bias = Float[Tensor, "#T #S"] | Float[Tensor, "#B #H #T #S"] | None
Score = Callable[[Tensor, Tensor], Tensor]
FUSED = {scaled_dot: None, dot: 1.0}  # scores the kernel knows, and its scale; None: 1 / sqrt(K)
Positions = Int[Tensor, "T"] | Int[Tensor, "#B T"] | Rotation | None


def masked_softmax(
    scores: Float[Tensor, "*batch T S"], mask: Bool[Tensor, "*mask"] | None = None
) -> Float[Tensor, "*batch T S"]:
    """Softmax over the keys a query may see: a row sums to 1, or to 0 if it sees nothing.

    weights[i, j] = exp(s[i, j]) / (sum of exp(s[i, n]) over visible n), and 0 where j is hidden

    Source: Vaswani et al. 2017, 3.2.3: hidden scores become -inf before the softmax, not after.
    Shapes: scores [..., T, S]; mask [T, S], or as many axes as the scores, each full or 1.
    Raises: TypeError if mask is not bool, ValueError if it does not fit.
    """
    if mask is not None:
        require_mask(mask)
        require_broadcast("mask", mask, scores.shape)
        scores = scores.masked_fill(~mask, -torch.inf)
    sees_nothing = (scores == -torch.inf).all(dim=-1, keepdim=True)
    weights = scores.masked_fill(sees_nothing, 0.0).softmax(dim=-1)
    return weights.masked_fill(sees_nothing, 0.0)


def share_heads(x: Float[Tensor, "B G S K"], n_heads: int) -> Float[Tensor, "B {n_heads} S K"]:
    """Let each key-value head serve H / G query heads in a row; with G = H nothing is copied.

    Source: Ainslie et al. 2023, 2.2 (grouped queries); Shazeer 2019, 3 (one key-value head).
    Shapes: [B, G, S, K] -> [B, H, S, K]. Raises: ValueError if G does not divide n_heads.
    """
    remedy = "choose n_kv_heads that divides n_heads"
    require(n_heads % x.shape[1] == 0, "x.shape", tuple(x.shape), "G must divide n_heads", remedy)
    queries_a_key = n_heads // x.shape[1]
    return x if queries_a_key == 1 else x.repeat_interleave(queries_a_key, dim=1)


def attention(
    q: Queries,
    k: Keys,
    v: Values,
    *,
    mask: Mask = None,
    bias: Bias = None,
    score: Score = scaled_dot,
) -> tuple[Output, Weights]:
    """Scaled dot-product attention, with its weights.

    output = weights v,  weights = softmax(q kᵀ / sqrt(K) + bias) over the visible keys

    Source: Vaswani et al. 2017, 3.2.1, eq. (1); source text (5.5).
    Shapes: q [B, H, T, K]; k [B, G, S, K]; v [B, G, S, Kv], G divides H; mask and bias [T, S] or
    4-D, each axis as in the scores [B, H, T, S] or 1 -> output [B, H, T, Kv], weights [B, H, T, S].
    ``score`` is any function or module of ``pieces.scores``.
    Raises: TypeError for a wrong dtype (a mask must be bool), ValueError for a wrong shape.
    """
    require_attention(q, k, v, mask, bias)
    k, v = share_heads(k, q.shape[1]), share_heads(v, q.shape[1])
    scores = score(q, k)
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    weights = masked_softmax(scores, mask)
    return weights @ v, weights


def fused_attention(
    q: Queries, k: Keys, v: Values, *, mask: Mask = None, bias: Bias = None
) -> Output:
    """The output of ``attention`` from one fused kernel, which need not keep the weights.

    Source: Dao et al. 2022 (FlashAttention), 3.1; torch's scaled_dot_product_attention.
    Shapes and errors: as ``attention``.
    """
    require_attention(q, k, v, mask, bias)
    return one_kernel(q, k, v, mask, bias)


def one_kernel(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    bias: Tensor | None,
    scale: float | None = None,
) -> Tensor:
    """``fused_attention`` for those who have checked the shapes."""
    if bias is not None:  # the kernel takes a mask or a bias, not both
        bias = bias.to(q.dtype)
        mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    grouped = k.shape[1] != q.shape[1]
    options = {"attn_mask": mask, "enable_gqa": grouped, "scale": scale}
    return F.scaled_dot_product_attention(q, k, v, **options)


class AttentionCore(nn.Module):
    """Attention between the projections: fused, unless the weights or another score are wanted.

    Every attention layer of the package holds one, so ``trace.record`` finds the weights here.
    """

    def __init__(self, score: Score | None = None) -> None:
        super().__init__()
        self.score = scaled_dot if score is None else score

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
        """Return (output, weights), or (output, None). Shapes and errors: as ``attention``."""
        if self.score in FUSED and not return_weights:
            require_attention(q, k, v, mask, bias)
            return one_kernel(q, k, v, mask, bias, FUSED[self.score]), None
        output, weights = attention(q, k, v, mask=mask, bias=bias, score=self.score)
        return output, (weights if return_weights else None)


class SingleHeadAttention(nn.Module):
    """Attention with one set of projections and any score; self, or cross with ``context=``.

    Q = X W_Q,  K = C W_K,  V = C W_V,  where C is the context, or X itself

    Source: source text (5.2) to (5.5). Sizes left out: head_dim and d_context are d_model,
    value_dim is head_dim. Raises: TypeError, ValueError if a size is not an int of at least 1.
    """

    def __init__(
        self,
        d_model: int,
        head_dim: int | None = None,
        *,
        d_context: int | None = None,
        value_dim: int | None = None,
        score: Score | None = None,
        bias: bool = False,
    ) -> None:
        super().__init__()
        require_int("d_model", d_model)
        head_dim = default_int("head_dim", head_dim, d_model)
        d_context = default_int("d_context", d_context, d_model)
        value_dim = default_int("value_dim", value_dim, head_dim)
        self.query = nn.Linear(d_model, head_dim, bias=bias)
        self.key = nn.Linear(d_context, head_dim, bias=bias)
        self.value = nn.Linear(d_context, value_dim, bias=bias)
        self.core = AttentionCore(score)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        context: Float[Tensor, "B S C"] | None = None,
        mask: Mask = None,
        return_weights: bool = False,
    ) -> Float[Tensor, "B T Kv"] | tuple[Float[Tensor, "B T Kv"], Float[Tensor, "B T S"]]:
        """Shapes: x [B, T, D], context [B, S, d_context] -> [B, T, value_dim], weights [B, T, S].

        The mask has its head axis as everywhere: [T, S], or 4-D with 1 head.
        Raises: TypeError, ValueError as ``attention``, and if x or context do not fit.
        """
        context = x if context is None else context
        require_sequence("x", x, self.query.in_features)
        require_sequence("context", context, self.key.in_features)
        q, k, v = self.query(x), self.key(context), self.value(context)
        q, k, v = q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1)
        output, weights = self.core(q, k, v, mask=mask, return_weights=return_weights)
        return (output.squeeze(1), weights.squeeze(1)) if return_weights else output.squeeze(1)


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
        self.core = AttentionCore() if core is None else core

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
