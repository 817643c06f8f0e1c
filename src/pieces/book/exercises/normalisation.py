"""Checkers for chapter 10, normalisation."""

from collections.abc import Callable

import torch
from torch import Tensor

from pieces.book.exercises.verdict import attempt, compare, diagnosis, say
from pieces.norms import layer_norm, rms_norm

SHAPES = ((4, 8), (2, 3, 5), (1, 6, 4), (3, 2))  # the last axis holds the features
EPS = 0.1  # large, so that a misplaced one is seen


def _inputs(shape: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
    """Return tokens, gain and shift, drawn by a generator of their own."""
    drawn = torch.Generator().manual_seed(len(shape) + shape[-1])
    x, gain, shift = (
        torch.randn(s, generator=drawn, dtype=torch.float64)
        for s in (shape, shape[-1:], shape[-1:])
    )
    return 2 * x + 1, gain, shift


def _slips(x: Tensor, gain: Tensor, shift: Tensor, eps: float) -> dict[str, Tensor]:
    """Return what well-known mistakes would give, by a hint that helps."""
    n, normal = x.shape[-1], layer_norm(x, eps)
    centred = x - x.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    unbiased = centred / (variance * n / max(1, n - 1) + eps).sqrt()
    rows = x.reshape(-1, n)
    columns = (rows - rows.mean(0)) / (rows.var(0, correction=0) + eps).sqrt()
    whole = (x - x.mean()) / (x.var(correction=0) + eps).sqrt()
    return {
        "That is the variance divided by D − 1; LayerNorm divides by D (correction=0).": (
            gain * unbiased + shift
        ),
        "ε stands outside the root; put it below, beside the variance.": (
            gain * centred / (variance.sqrt() + eps) + shift
        ),
        "That is PyTorch's std() and ε beside it: divide by D, and put ε below the root.": (
            gain * centred / (x.std(-1, keepdim=True) + eps) + shift
        ),
        "Those are means of columns, as in BatchNorm; each token has its own, along its row.": (
            gain * columns.view_as(x) + shift
        ),
        "That is one mean for all tokens together; each token has its own.": gain * whole + shift,
        "Take the mean away as well: that is RMSNorm.": gain * rms_norm(x, eps) + shift,
        "Divide by the root of the variance, not by the variance.": (
            gain * centred / (variance + eps) + shift
        ),
        "The gain and the shift are missing.": normal,
        "The shift is missing.": gain * normal,
        "The gain multiplies the normalised number only; the shift comes after it.": (
            gain * (normal + shift)
        ),
    }


def my_layer_norm(function: Callable[..., Tensor]) -> None:
    """Check `f(x, gain, shift, eps)`: LayerNorm over the last axis."""
    for shape in SHAPES:
        x, gain, shift = _inputs(shape)
        result, complaint = attempt(function, x.clone(), gain, shift, EPS)
        right = gain * layer_norm(x, EPS) + shift
        complaint = complaint or compare(result, right, f"x of shape {list(shape)}, ε = {EPS}")
        if complaint:
            return say("10.4", complaint + diagnosis(result, _slips(x, gain, shift, EPS)))
    return say("10.4", "")
