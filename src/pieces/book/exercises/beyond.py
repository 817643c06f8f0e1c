"""Checkers for chapter 17, beyond."""

from collections.abc import Callable

import torch
from torch import Tensor

from pieces.book.exercises.verdict import attempt, compare, diagnosis, say

Stretch = tuple[Tensor, Tensor]


def joined(first: Stretch, second: Stretch) -> Stretch:
    """Return two stretches of a scan in one: what stays of the state, and what comes in."""
    (a, b), (later_a, later_b) = first, second
    return later_a * a, later_a * b + later_b


def stretches(seed: int, sizes: tuple[int, ...]) -> list[Stretch]:
    """Draw two stretches."""
    drawn = torch.Generator().manual_seed(seed)
    return [
        (torch.rand(sizes, generator=drawn), torch.randn(sizes, generator=drawn)) for _ in range(2)
    ]


def slips(first: Stretch, second: Stretch) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return usual mistakes, of what stays and of what comes in, with what to say."""
    (a, b), (later_a, later_b) = first, second
    stays = {
        "That is the sum: two factors in a row multiply.": (a + later_a).double(),
        "That is the second factor alone; the state has faded in the first as well.": (
            later_a.double()
        ),
    }
    comes = {
        "What came in first fades as well: by the second factor.": (b + later_b).double(),
        "That fades by the first factor, which was there before it.": (a * b + later_b).double(),
        "That is the second, faded by the first: the order is the other way round.": (
            (a * later_b + b).double()
        ),
    }
    return stays, comes


def my_join(function: Callable[[Stretch, Stretch], Stretch]) -> None:
    """Check `f(first, second)`: two stretches of a scan, (a, b) each, in one."""
    for seed, sizes in enumerate(((3,), (2, 3), ())):
        first, second = stretches(seed, sizes)
        result, complaint = attempt(function, first, second)
        if complaint:
            return say("17.4", complaint)
        if not isinstance(result, tuple | list) or len(result) != 2:
            return say("17.4", "expected two tensors, what stays and what comes in: (a, b).")
        wanted, usual = joined(first, second), slips(first, second)
        named = zip(("a", "b"), result, wanted, usual, strict=True)
        for name, found, right, mistakes in named:
            complaint = compare(found, right, f"{name}, shape {list(sizes)}")
            if complaint:
                return say("17.4", complaint + diagnosis(found, mistakes))
    return say("17.4", "")
