"""What torch computes for the expectations of several widgets."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import torch
from torch import nn

from checker import past_the_checker
from pieces import masks, scores
from pieces.attention import masked_softmax
from pieces.trace import record


@contextmanager
def shapes_only() -> Iterator[None]:
    """Modules that are made here have shapes and no numbers: no start is drawn, no type is checked.

    Enough for a model of a hundred layers that is counted, or compared by its parts.
    """
    no_start = mock.patch.object(nn.Linear, "reset_parameters")
    with past_the_checker(), torch.device("meta"), no_start:
        yield


def heads_off(model, off):
    """Hooks that set what these heads [layer, head], from 1, pass on to zero."""
    modules = dict(model.named_modules())

    def silence(head):
        def change(module, args, out):
            z = out[0].clone()
            z[:, head - 1] = 0
            return z, out[1]

        return change

    return [
        modules[f"stack.blocks.{layer - 1}.attention.core"].register_forward_hook(silence(head))
        for layer, head in off
    ]


def read(model, ids, off=()):
    """Weights [L, H, T, T] and probabilities [T, V] with these heads off."""
    hooks = heads_off(model, off)
    try:
        with torch.no_grad(), record(model) as trace:
            probabilities = model(torch.tensor([ids])).softmax(-1)[0]
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack([call["weights"][0] for call in trace.values()]), probabilities


def matrices(s):
    """Return every matrix of one head of self-attention by its name, float64."""
    X, Wq, Wk, Wv = (torch.tensor(s[n], dtype=torch.float64) for n in ("X", "Wq", "Wk", "Wv"))
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    raw, scaled = scores.dot(Q, K), scores.scaled_dot(Q, K)
    weights = masked_softmax(scaled, masks.causal(6) if s["mask"] == "causal" else None)
    return {"X": X, "Wq": Wq, "Wk": Wk, "Wv": Wv, "Q": Q, "K": K, "V": V, "Kt": K.T, "scores": raw,
            "scaled": scaled, "weights": weights, "output": weights @ V}  # fmt: skip
