"""Checkers for chapter 9, residual connections."""

from collections.abc import Callable
from itertools import accumulate

import torch
from torch import Tensor

from pieces.book.exercises.verdict import attempt, compare, diagnosis, say

Branch = Callable[[Tensor], Tensor]


def _stack(depth: int) -> tuple[Tensor, list[Branch]]:
    """Return an input and some sublayers that bend, drawn by a generator of their own."""
    drawn = torch.Generator().manual_seed(depth)
    matrices = torch.randn(depth, 4, 4, generator=drawn, dtype=torch.float64)
    x = torch.randn(2, 4, generator=drawn, dtype=torch.float64)
    return x, [lambda v, W=W: torch.tanh(v @ W) for W in matrices]


def _right(x: Tensor, sublayers: list[Branch]) -> list[Tensor]:
    """Return the input and what each sublayer writes."""
    parts = [x]
    for f in sublayers:
        parts.append(f(torch.stack(parts).sum(0)))
    return parts


def _slips(x: Tensor, sublayers: list[Branch]) -> dict[str, list[Tensor]]:
    """Return what well-known mistakes would give, by a hint that helps."""
    parts = _right(x, sublayers)
    chain = [x]
    for f in sublayers:
        chain.append(f(chain[-1]))
    return {
        "Those are the streams after each layer; the list wants what each one wrote.": list(
            accumulate(parts)
        ),
        "Each sublayer reads the stream: the input plus all that was written before it.": [
            x,
            *(f(x) for f in sublayers),
        ],
        "That is a stack without skips: each sublayer reads only what the last one wrote.": chain,
        "The input itself is missing: it is the first part of the sum.": parts[1:],
        "The input has changed: += writes into it. Write stream = stream + … instead.": [
            torch.stack(parts).sum(0),
            *parts[1:],
        ],
    }


def _as_one(parts: object) -> object:
    """Return a list of tensors as one tensor, anything else as it is."""
    listed = isinstance(parts, (list, tuple)) and parts
    if not listed or not all(isinstance(part, Tensor) for part in parts):
        return parts
    return torch.stack(list(parts)) if len({part.shape for part in parts}) == 1 else parts


def my_stream(function: Callable[..., list[Tensor]]) -> None:
    """Check `f(x, sublayers)`: the input and what each sublayer wrote, in order."""
    for depth in (1, 2, 5):
        x, sublayers = _stack(depth)
        given, complaint = attempt(function, x.clone(), list(sublayers))
        result, right = _as_one(given), torch.stack(_right(x, sublayers))
        if not complaint and (not isinstance(result, Tensor) or result.shape == x.shape):
            complaint = f"Expected a list of {depth + 1} tensors of the shape of x."
        slips = {words: torch.stack(parts) for words, parts in _slips(x, sublayers).items()}
        complaint = complaint or compare(result, right, f"{depth} sublayer{'s' * (depth > 1)}")
        if complaint:
            return say("9.4", complaint + diagnosis(result, slips))
    return say("9.4", "")
