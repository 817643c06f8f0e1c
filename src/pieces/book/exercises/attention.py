"""Checkers for chapter 03, attention."""

from collections.abc import Callable

import torch

from pieces.attention import masked_softmax
from pieces.book.exercises.verdict import attempt, compare, say
from pieces.scores import scaled_dot


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
            return say("3.4", complaint)
    return say("3.4", "")
