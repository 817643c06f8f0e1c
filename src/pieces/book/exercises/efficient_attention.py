"""Checkers for chapter 7, efficient attention."""

from collections.abc import Callable

import torch
from torch import Tensor

from pieces.book.exercises.verdict import attempt, compare, diagnosis, say

CASES = ((3, 2, 4), (1, 5, 3), (4, 4, 2))  # keys so far, keys of the tile, width
Kept = tuple[Tensor, Tensor, Tensor]


def _kept(scores: Tensor, values: Tensor) -> Kept:
    """Return the largest score, the sum and the output so far, from all keys at once."""
    powers = (scores - scores.max()).exp()
    return scores.max(), powers.sum(), powers @ values


def _slips(old: Kept, scores: Tensor, values: Tensor) -> dict[str, Tensor]:
    """Return the finished outputs that well-known mistakes would give, by a hint that helps."""
    m, total, o = old
    new = torch.maximum(m, scores.max())
    shrink, powers = (m - new).exp(), (scores - new).exp()
    own = (scores - scores.max()).exp()
    return {
        "What was summed before is not shrunk: multiply total and o by e^(m − new m).": (
            (o + powers @ values) / (total + powers.sum())
        ),
        "The output so far is not shrunk: it needs the factor of the sum, too.": (
            (o + powers @ values) / (total * shrink + powers.sum())
        ),
        "The sum so far is not shrunk: it needs the factor of the output, too.": (
            (o * shrink + powers @ values) / (total + powers.sum())
        ),
        "The new powers are measured from the tile's own largest score; take the new m.": (
            (o * shrink + own @ values) / (total * shrink + own.sum())
        ),
        "That is the tile alone; what was carried along is gone.": powers @ values / powers.sum(),
    }


def one_more(function: Callable[..., Kept]) -> None:
    """Check `f(m, total, o, scores, values)`: one more tile for one query."""
    drawn = torch.Generator().manual_seed(7)
    for before, tile, width in CASES:
        for lift in (0.0, 3.0, -3.0):  # the largest score stays, or comes now
            scores = torch.randn(before + tile, generator=drawn, dtype=torch.float64)
            scores[before:] += lift
            values = torch.randn(before + tile, width, generator=drawn, dtype=torch.float64)
            old = _kept(scores[:before], values[:before])
            given = (*(x.clone() for x in old), scores[before:].clone(), values[before:].clone())
            result, complaint = attempt(function, *given)
            if not complaint and not (isinstance(result, (tuple, list)) and len(result) == 3):
                complaint = "Please return three things: the new m, the new total and the new o."
            if complaint:
                return say("7.4", complaint)
            right = _kept(scores, values)
            for name, got, wanted in zip(("m", "total", "o"), result, right, strict=True):
                where = f"{name}, after {before} keys and a tile of {tile}"
                complaint = complaint or compare(got, wanted, where)
            if complaint:
                slips = _slips(old, scores[before:], values[before:])
                return say("7.4", complaint + _diagnosed(result, right, slips))
    return say("7.4", "")


def _diagnosed(result: tuple, right: Kept, slips: dict[str, Tensor]) -> str:
    """Name the mistake whose finished output this is, or nothing."""
    tensors = all(isinstance(x, Tensor) for x in result)
    if not tensors or result[2].shape != right[2].shape:
        return ""
    finished = right[2] / right[1]
    if torch.allclose(result[2].double(), finished, atol=1e-6):
        return " That is o / total. Leave o undivided: the next tile goes on from it."
    slips = {words: wrong for words, wrong in slips.items() if not torch.allclose(wrong, finished)}
    return diagnosis(result[2] / result[1], slips)
