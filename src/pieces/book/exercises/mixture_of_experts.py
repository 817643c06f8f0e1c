"""Checkers for chapter 14, mixture of experts."""

from collections.abc import Callable

import torch
from torch import Tensor

from pieces.book.exercises.verdict import attempt, compare, diagnosis, say
from pieces.moe import route, route_unnormalised

SHAPES = ((5, 4, 3, 2), (4, 3, 4, 1), (3, 5, 3, 3), (1, 4, 6, 2))  # T, D, E, k
Networks = list[Callable[[Tensor], Tensor]]


def _inputs(T: int, D: int, E: int) -> tuple[Tensor, Tensor, Networks]:
    """Return x, W_R and experts, drawn by a generator of their own."""
    drawn = torch.Generator().manual_seed(10 * T + E)
    x, W_R = (torch.randn(s, generator=drawn, dtype=torch.float64) for s in ((T, D), (D, E)))
    maps = torch.randn(E, D, D, generator=drawn, dtype=torch.float64)
    return x, W_R, [lambda rows, W=W: torch.tanh(rows @ W) + 1 for W in maps]


def mixed(x: Tensor, weights: Tensor, chosen: Tensor, experts: Networks) -> Tensor:
    """Return the sum of the chosen experts' outputs [T, D], by weights [T, k]."""
    every = torch.stack([expert(x) for expert in experts], dim=1)
    visits = every.gather(1, chosen[..., None].expand(-1, -1, x.shape[-1]))
    return (weights[..., None] * visits).sum(dim=1)


def _slips(x: Tensor, W_R: Tensor, experts: Networks, k: int) -> dict[str, Tensor]:
    """Return what well-known mistakes would give, by a hint that helps."""
    logits = x @ W_R
    weights, chosen = route(logits, k)
    bare, _ = route_unnormalised(logits, k)
    worst, last = route(-logits, k)
    across = logits.gather(1, chosen).softmax(dim=0)
    every = torch.arange(len(experts)).expand(len(x), -1)
    return {
        "These weights do not sum to 1: after a softmax over all scores, divide by their sum.": (
            mixed(x, bare, chosen, experts)
        ),
        "The experts are right, but they are not weighted.": mixed(
            x, torch.ones_like(weights), chosen, experts
        ),
        "That is the plain mean of the k experts; the better one should count for more.": mixed(
            x, torch.full_like(weights, 1 / k), chosen, experts
        ),
        "That softmax runs over the tokens. Take the last axis, that of a token's k scores.": (
            mixed(x, across, chosen, experts)
        ),
        "All experts were asked: only the k best of a token count.": mixed(
            x, logits.softmax(-1), every, experts
        ),
        "Those are the experts with the smallest scores.": mixed(x, worst, last, experts),
        "The best expert has got the weight of the worst of the k.": mixed(
            x, weights.flip(-1), chosen, experts
        ),
    }


def my_mixture(function: Callable[..., Tensor]) -> None:
    """Check `f(x, W_R, experts, k)`: the output of a mixture of experts, [T, D]."""
    for T, D, E, k in SHAPES:
        x, W_R, experts = _inputs(T, D, E)
        result, complaint = attempt(function, x, W_R, experts, k)
        expected = mixed(x, *route(x @ W_R, k), experts)
        complaint = complaint or compare(result, expected, f"T = {T}, D = {D}, E = {E}, k = {k}")
        if complaint:
            return say("14.4", complaint + diagnosis(result, _slips(x, W_R, experts, k)))
    return say("14.4", "")
