"""Checkers for chapter 05, causal attention."""

from collections.abc import Callable

import torch

from pieces import masks
from pieces.book.exercises.verdict import attempt, compare, say


def prefix_window(function: Callable[[int, int, int], torch.Tensor]) -> None:
    """Check `f(T, window, prefix_len)`: a sliding window whose prefix everybody sees."""
    for T, window, prefix_len in ((5, 2, 2), (7, 3, 0), (6, 6, 3), (4, 1, 4), (3, 9, 1)):
        case = f"T = {T}, window = {window}, prefix_len = {prefix_len}"
        result, complaint = attempt(function, T, window, prefix_len)
        first = torch.arange(T) < prefix_len
        expected = masks.sliding_window(T, window) | first
        complaint = complaint or compare(result, expected, case)
        if complaint:
            return say("5.5", complaint)
    return say("5.5", "")
