"""Checkers for chapter 12, positional encoding."""

from collections.abc import Callable

import torch
from torch import Tensor

from pieces.book.exercises.verdict import attempt, compare, diagnosis, say
from pieces.positions import Rotary

CASES = ((5, 8, 10000.0), (1, 2, 10000.0), (4, 6, 100.0), (7, 4, 500000.0))  # T, K, base


def _inputs(T: int, K: int) -> tuple[Tensor, Tensor]:
    """Return rows x [T, K] and positions [T], which neither begin at 0 nor rise by one."""
    drawn = torch.Generator().manual_seed(10 * T + K)
    x = torch.randn(T, K, generator=drawn, dtype=torch.float64)
    return x, torch.randint(3, 90, (T,), generator=drawn)


def _turned(x: Tensor, positions: Tensor, base: float, *, step: float = 2.0) -> Tensor:
    """Return x [T, K], number n turned with number n + K/2 by p base^(-step n / K)."""
    a, b = x.chunk(2, dim=-1)
    speeds = base ** (-step * torch.arange(a.shape[-1], dtype=x.dtype) / x.shape[-1])
    angles = positions[:, None] * speeds
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


def neighbours(x: Tensor, positions: Tensor, base: float) -> Tensor:
    """Return the same, number 2n turned with number 2n + 1."""
    apart = torch.cat((x[:, 0::2], x[:, 1::2]), dim=-1)
    a, b = _turned(apart, positions, base).chunk(2, dim=-1)
    return torch.stack((a, b), dim=-1).flatten(1)


def _slips(x: Tensor, positions: Tensor, base: float) -> dict[str, Tensor]:
    """Return what well-known mistakes would give, by a hint that helps."""
    rows = torch.arange(len(x))
    wide = _turned(x, positions, base)
    half = x.shape[-1] // 2
    speeds = base ** (-2 * torch.arange(half, dtype=x.dtype) / x.shape[-1])
    mixed = positions[:, None] * speeds.repeat_interleave(2)
    partner = torch.cat((-x[:, half:], x[:, :half]), dim=-1)
    swapped = torch.cat((wide[:, :half], _sum(x, positions, base)), dim=-1)
    return {
        "That turns neighbours, 2n with 2n + 1: pair n with n + K/2 here.": neighbours(
            x, positions, base
        ),
        "The hands turn the wrong way: look at the two signs.": _turned(x, -positions, base),
        "Each exponent should be −2n / K; yours lack the 2.": _turned(x, positions, base, step=1.0),
        "Use the positions that are given, not the numbers of the rows.": _turned(x, rows, base),
        "The positions that are given already count from 0.": _turned(x, positions + 1, base),
        "The angles are laid out for neighbours, as in exercise 12.3: repeat them as a whole.": (
            x * mixed.cos() + partner * mixed.sin()
        ),
        "One of the two signs is wrong: the length of a pair must stay.": swapped,
    }


def _sum(x: Tensor, positions: Tensor, base: float) -> Tensor:
    """Return the second halves with the sign of the sine lost: b cos - a sin."""
    return _turned(x, -positions, base).chunk(2, dim=-1)[1]


def my_rotary(function: Callable[[Tensor, Tensor, float], Tensor]) -> None:
    """Check `f(x, positions, base)`: the rows of x, each turned by its position."""
    for T, K, base in CASES:
        x, positions = _inputs(T, K)
        result, complaint = attempt(function, x.clone(), positions.clone(), base)
        heads = x[None, None]
        expected, _ = Rotary(K, base=base).rotate(heads, heads, positions)
        complaint = complaint or compare(
            result, expected[0, 0], f"T = {T}, K = {K}, base = {base:g}"
        )
        if complaint:
            return say("12.4", complaint + diagnosis(result, _slips(x, positions, base)))
    return say("12.4", "")
