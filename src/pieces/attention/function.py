"""The equation: scores, softmax over what is visible, the weighted average of the values."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pieces.checks import Size, checked, divided
from pieces.scores import scaled_dot
from pieces.types import Bias, Keys, Mask, Output, Queries, Score, Values, Weights


@checked
def masked_softmax(
    scores: Float[Tensor, "*batch T S"],
    mask: Bool[Tensor, "#T #S"] | Bool[Tensor, "*#batch #T #S"] | None = None,
) -> Float[Tensor, "*batch T S"]:
    """Softmax over the keys a query may see: a row sums to 1, or to 0 if it sees nothing.

    weights[i, j] = exp(s[i, j]) / (sum of exp(s[i, n]) over visible n), and 0 where j is hidden

    Source: Vaswani et al. 2017, 3.2.3: hidden scores become -inf before the softmax, not after.
    Shapes: scores [..., T, S]; mask [T, S], or as many axes as the scores, each full or 1.
    """
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    sees_nothing = (scores == -torch.inf).all(dim=-1, keepdim=True)
    weights = scores.masked_fill(sees_nothing, 0.0).softmax(dim=-1)
    return weights.masked_fill(sees_nothing, 0.0)


@checked
def share_heads(x: Float[Tensor, "B G S K"], n_heads: Size) -> Float[Tensor, "B {n_heads} S K"]:
    """Let each key-value head serve H / G query heads in a row; with G = H nothing is copied.

    Source: Ainslie et al. 2023, 2.2 (grouped queries); Shazeer 2019, 3 (one key-value head).
    Shapes: [B, G, S, K] -> [B, H, S, K]; G divides H.
    """
    queries_a_key = divided(n_heads=n_heads, n_kv_heads=x.shape[1])
    return x if queries_a_key == 1 else x.repeat_interleave(queries_a_key, dim=1)


@checked
def set_apart(
    k: Float[Tensor, "B H S K"], v: Float[Tensor, "B H S Kv"]
) -> tuple[Float[Tensor, "B H S K"], Float[Tensor, "B H S Kv"]]:
    """Let a mask hide NaN and ±inf as well: a token that holds one gets a NaN key and a value of 0.

    Hidden, its score is -inf as any other's, and its weight of 0 meets no NaN in its value, where
    0 · NaN would be NaN. A row that may attend to it is NaN.
    Shapes: k [B, H, S, K], v [B, H, S, Kv] -> the same.
    """
    finite = k.isfinite().all(dim=-1, keepdim=True) & v.isfinite().all(dim=-1, keepdim=True)
    return k.masked_fill(~finite, torch.nan), v.masked_fill(~finite, 0.0)


@checked(always=("mask", "bias"))
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
    """
    k, v = share_heads(k, q.shape[1]), share_heads(v, q.shape[1])
    k, v = (k, v) if mask is None else set_apart(k, v)
    scores = score(q, k)
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    weights = masked_softmax(scores, mask).to(v.dtype)
    return weights @ v, weights
