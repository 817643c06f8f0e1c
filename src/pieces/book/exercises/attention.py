"""Checkers for chapter 03, attention."""

from collections.abc import Callable

import torch
from torch import Tensor

from pieces.attention import masked_softmax
from pieces.book.exercises.verdict import attempt, compare, diagnosis, say
from pieces.scores import scaled_dot


def _slips(query: Tensor, keys: Tensor, values: Tensor) -> dict[str, Tensor]:
    """Return what well-known mistakes would give, by a hint that helps."""
    query, keys, values = query.double(), keys.double(), values.double()
    raw, K, S = keys @ query, len(query), len(keys)
    scores = raw / K**0.5
    weights = scores.softmax(0)
    return {
        "Did you divide the scores by the root of K?": raw.softmax(0) @ values,
        "You divide by K; it should be its root.": (raw / K).softmax(0) @ values,
        "The root is of K, the size of a key, not of S, the number of keys.": (
            (raw / S**0.5).softmax(0) @ values
        ),
        "You mix by the scores; a softmax must turn them into weights first.": scores @ values,
        "Divide by the sum of the powers, and mind large scores.": scores.exp() @ values,
        "Divide by the sum of the powers: the weights must add up to 1.": (
            (scores - scores.max()).exp() @ values
        ),
        "You mix the keys; mix the values.": weights @ keys,
        "These are the weights; the output is their product with the values.": weights,
    }


def one_query(function: Callable[..., torch.Tensor]) -> None:
    """Check `f(query, keys, values)`: scaled dot-product attention of one query.

    Shapes: query [K], keys [S, K], values [S, V] -> [V].
    """
    gen = torch.Generator().manual_seed(3)

    def draw(*shape):
        return torch.randn(*shape, generator=gen)

    cases = {
        "4 keys of size 8": (draw(8), draw(4, 8), draw(4, 8)),
        "values of another size than the keys": (draw(6), draw(5, 6), draw(5, 2)),
        "a single key": (draw(3), draw(1, 3), draw(1, 4)),
        "equal keys, so the plain average of the values": (draw(4), torch.ones(3, 4), draw(3, 4)),
        "scores in the hundreds, where exp overflows": (
            300 * torch.ones(4),
            draw(3, 4),
            draw(3, 2),
        ),
    }
    for case, (query, keys, values) in cases.items():
        result, complaint = attempt(function, query, keys, values)
        weights = masked_softmax(scaled_dot(query[None], keys))
        complaint = complaint or compare(result, (weights @ values)[0], case)
        if complaint:
            return say("3.4", complaint + diagnosis(result, _slips(query, keys, values)))
    return say("3.4", "")
