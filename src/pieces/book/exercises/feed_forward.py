"""Checkers for chapter 08, the feed-forward layer."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from pieces.book.exercises.verdict import attempt, compare, diagnosis, say

SHAPES = ((5, 4, 7), (3, 6, 16), (1, 2, 3))  # T, D, F


def _inputs(T: int, D: int, width: int) -> list[Tensor]:
    """Return x, W_g, W_u, W_d, drawn by a generator of their own."""
    drawn = torch.Generator().manual_seed(T)
    shapes = ((T, D), (D, width), (D, width), (width, D))
    return [torch.randn(s, generator=drawn, dtype=torch.float64) for s in shapes]


def _slips(x: Tensor, W_g: Tensor, W_u: Tensor, W_d: Tensor) -> dict[str, Tensor]:
    """Return what well-known mistakes would give, by a hint that helps."""
    g, u = x @ W_g, x @ W_u
    return {
        "That is the middle of the layer; W_d still narrows it.": F.silu(g) * u,
        "Bend g before you multiply: here the product g u is bent.": F.silu(g * u) @ W_d,
        "Here u is bent. The gate g is what is bent, and u passes as it is.": g * F.silu(u) @ W_d,
        "That is GLU, with a sigmoid. Swish(g) is g times sigmoid(g).": (g.sigmoid() * u) @ W_d,
        "The gate opens, but nothing passes: multiply by x W_u.": F.silu(g) @ W_d,
        "Nothing is bent: that is the bilinear layer.": (g * u) @ W_d,
        "Multiply number by number; a sum is no gate.": (F.silu(g) + u) @ W_d,
    }


def my_swiglu(function: Callable[..., Tensor]) -> None:
    """Check `f(x, W_g, W_u, W_d)`: a whole gated layer, for the words of one text."""
    for T, D, width in SHAPES:
        data = _inputs(T, D, width)
        x, W_g, W_u, W_d = data
        result, complaint = attempt(function, *data)
        expected = (F.silu(x @ W_g) * (x @ W_u)) @ W_d
        complaint = complaint or compare(result, expected, f"T = {T}, D = {D}, F = {width}")
        if complaint:
            return say("8.4", complaint + diagnosis(result, _slips(*data)))
    return say("8.4", "")
