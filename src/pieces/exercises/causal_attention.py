"""Checkers for chapter 05, causal attention."""

from collections.abc import Callable

import torch

from pieces import masks
from pieces.exercises.verdict import attempt, compare, say


def prefix_window(function: Callable[[int, int, int], torch.Tensor]) -> None:
    """Check `f(T, window, prefix_len)`: a sliding window whose prefix everybody sees."""
    for T, window, prefix_len in ((5, 2, 2), (7, 3, 0), (6, 6, 3), (4, 1, 4), (3, 9, 1)):
        case = f"T = {T}, window = {window}, prefix_len = {prefix_len}"
        result, complaint = attempt(function, T, window, prefix_len)
        first = torch.arange(T) < prefix_len
        expected = masks.sliding_window(T, window) | first
        complaint = complaint or compare(result, expected, case)
        if complaint:
            return say("5.4", complaint)
    return say("5.4", "")


def batch_mask(function: Callable[[torch.Tensor, int], torch.Tensor]) -> None:
    """Check `f(lengths, T)`: causal and padding together, [B, 1, T, T]."""
    for lengths, T in (([3, 5], 5), ([1], 4), ([4, 2, 4], 4), ([0, 2], 3)):
        result, complaint = attempt(function, torch.tensor(lengths), T)
        expected = masks.causal(T) & masks.padding(torch.tensor(lengths), T)
        complaint = complaint or compare(result, expected, f"lengths = {lengths}, T = {T}")
        if complaint:
            return say("5.5", complaint)
    return say("5.5", "")
