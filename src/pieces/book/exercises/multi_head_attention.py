"""Checkers for chapter 06, multi-head attention."""

from collections.abc import Callable

import torch
from torch import Tensor

from pieces.attention import attention
from pieces.book.exercises.verdict import attempt, compare, diagnosis, say

SHAPES = ((5, 8, 2, 4), (4, 6, 3, 5), (1, 4, 4, 1), (6, 4, 1, 4))  # T, D, H, K


def _inputs(T: int, D: int, H: int, K: int) -> list[Tensor]:
    """Return X, Wq, Wk, Wv, Wo, drawn by a generator of their own."""
    drawn = torch.Generator().manual_seed(T)
    shapes = ((T, D), (D, H * K), (D, H * K), (D, H * K), (H * K, D))
    return [torch.randn(s, generator=drawn, dtype=torch.float64) for s in shapes]


def heads_of(Y: Tensor, H: int) -> Tensor:
    """Return [T, HK] as [1, H, T, K]."""
    return Y.unflatten(-1, (H, -1)).transpose(0, 1)[None]


def side_by_side(heads: Tensor) -> Tensor:
    """Return [1, H, T, K] as [T, HK]."""
    return heads[0].transpose(0, 1).flatten(1)


def _slips(X: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor, Wo: Tensor, H: int) -> dict[str, Tensor]:
    """Return what well-known mistakes would give, by a hint that helps."""
    T, (Q, K, V) = len(X), (X @ Wq, X @ Wk, X @ Wv)
    q, k, v = (heads_of(Y, H) for Y in (Q, K, V))
    right, _ = attention(q, k, v)
    whole, _ = attention(Q[None, None], K[None, None], V[None, None])
    root = (X.shape[-1] / q.shape[-1]) ** 0.5
    by_d, _ = attention(q / root, k, v)
    unscaled, _ = attention(q * q.shape[-1] ** 0.5, k, v)
    by_tokens = (Y.reshape(1, H, T, -1) for Y in (Q, K, V))
    mixed, _ = attention(*by_tokens)
    within, _ = attention(*(Y.unflatten(-1, (H, -1))[None] for Y in (Q, K, V)))
    return {
        "These are the heads side by side; the output projection is missing.": side_by_side(right),
        "Turn the axes back before you merge: reshape alone mixes the tokens.": right.reshape(T, -1)
        @ Wo,
        "That is one head over all columns: cut the queries, keys and values.": whole[0, 0] @ Wo,
        "The root is of K, the size of a head, not of D.": side_by_side(by_d) @ Wo,
        "Did you divide the scores by the root of K?": side_by_side(unscaled) @ Wo,
        "Cut the columns, not the tokens: [T, HK] to [T, H, K], then turn the first two axes.": (
            side_by_side(mixed) @ Wo
        ),
        "Turn [T, H, K] to [H, T, K] before you attend: here the heads of one token attend to "
        "each other.": within[0].flatten(1) @ Wo,
    }


def my_multi_head(function: Callable[..., Tensor]) -> None:
    """Check `f(X, Wq, Wk, Wv, Wo, n_heads)`: the output of all heads for one sequence."""
    for T, D, H, K in SHAPES:
        data = _inputs(T, D, H, K)
        X, Wq, Wk, Wv, Wo = data
        result, complaint = attempt(function, *data, H)
        heads, _ = attention(*(heads_of(X @ W, H) for W in (Wq, Wk, Wv)))
        case = f"T = {T}, D = {D}, H = {H}, K = {K}"
        complaint = complaint or compare(result, side_by_side(heads) @ Wo, case)
        if complaint:
            return say("6.4", complaint + diagnosis(result, _slips(*data, H)))
    return say("6.4", "")
