"""Checkers for chapter 11, where the norm stands."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from pieces.book.exercises.verdict import attempt, say
from pieces.norms import LayerNorm, RMSNorm
from pieces.residual import DeepNorm, PostNorm, PreNorm, Residual, SandwichNorm

Connection = Callable[..., Tensor]


def _hidden(module: nn.Module) -> Connection:
    """Return a connection as a bare function, for numbers of any kind: nothing to look up in it."""
    module = module.double().requires_grad_(False)

    def connection(x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return module(x.double(), lambda inner: sublayer(inner.to(x.dtype)).double()).to(x.dtype)

    return connection


def _connections(D: int) -> list[tuple[str, nn.Module, bool]]:
    """Return connections, what they are called, and whether they normalise the stream."""
    return [
        ("Post", PostNorm(LayerNorm(D)), True),
        ("Pre", PreNorm(LayerNorm(D)), False),
        ("Sandwich", SandwichNorm(LayerNorm(D), LayerNorm(D)), False),
        ("DeepNorm", DeepNorm(LayerNorm(D), 2.5), True),
        ("a bare residual connection", Residual(), False),
        ("Post with RMSNorm", PostNorm(RMSNorm(D)), True),
        ("Pre with RMSNorm", PreNorm(RMSNorm(D)), False),
    ]


def _verdict(result: Any) -> bool | None:
    """Return a yes or no, also one in a tensor; None where it is neither."""
    if isinstance(result, Tensor) and result.numel() == 1:
        result = result.item()
    return result if isinstance(result, bool) else None


def normalises_stream(function: Callable[..., bool]) -> None:
    """Check `f(connection, d_model)`: True if a norm stands on the stream itself."""
    torch.manual_seed(11)
    answers = []
    for D in (8, 5):
        for name, module, right in _connections(D):
            result, complaint = attempt(function, _hidden(module), D)
            answer = _verdict(result)
            if complaint or answer is None:
                seen = type(result).__name__
                return say("11.4", complaint or f"{name}: expected True or False, got {seen}.")
            answers.append((name, answer, right))
    return say("11.4", _complaint(answers))


def _complaint(answers: list[tuple[str, bool, bool]]) -> str:
    """Say which connection is misjudged, and what usually leads there; "" where none is."""
    wrong = [(name, answer) for name, answer, right in answers if answer != right]
    if not wrong:
        return ""
    name, answer = wrong[0]
    said = {one for _, one, _ in answers}
    why = f"It says {answer} of {name}."
    if said == {True}:
        return f"{why} A sublayer that adds something changes x everywhere: let it add nothing."
    if said == {False}:
        return f"{why} Is your x one that a norm would change, and do you compare with x?"
    if all(one == right for _, one, right in answers[:4]):
        if answer:
            return (
                f"{why} Nothing is normalised there: look at what comes out, not at what goes in."
            )
        return (
            f"{why} Not every norm takes the mean away, and RMSNorm leaves an x of size 1 alone: "
            "choose a larger x, and compare with x itself."
        )
    if len(wrong) * 2 > len(answers):
        return f"{why} The other way round: a stream that is left alone comes back as x."
    return why
