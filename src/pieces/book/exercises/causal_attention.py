"""Checkers for chapter 05, causal attention."""

from collections.abc import Callable

import torch
from torch import Tensor

from pieces import masks
from pieces.book.exercises.verdict import attempt, compare, diagnosis, say


def _slips(T: int, window: int, prefix_len: int) -> dict[str, Tensor]:
    """Return what well-known mistakes would give, by a hint that helps."""
    i, j = torch.arange(T)[:, None], torch.arange(T)
    past, near, first = j <= i, i - j < window, j < prefix_len
    right = past & near | first
    wrong = {
        "The query is one of the window's tokens: i − j < window.": past & (i - j <= window)
        | first,
        "A query sees itself, too: j ≤ i.": (j < i) & near | first,
        "The window must not reach into the future: j ≤ i.": near | first,
        "The prefix is open in the future as well: j ≤ i is a rule of the window alone.": (
            past & (near | first)
        ),
        "There are prefix_len keys in the prefix: j < prefix_len.": past & near | (j <= prefix_len),
        "A key is open in the window or in the prefix; it need not be in both.": (
            past & near & first
        ),
        "The other way round: True means may attend.": ~right,
        "Rows are queries and columns are keys.": right.mT,
    }
    return {words: mask.double() for words, mask in wrong.items()}


def prefix_window(function: Callable[[int, int, int], torch.Tensor]) -> None:
    """Check `f(T, window, prefix_len)`: a sliding window whose prefix everybody sees."""
    for T, window, prefix_len in ((5, 2, 2), (7, 3, 0), (6, 6, 3), (4, 1, 4), (3, 9, 1)):
        case = f"T = {T}, window = {window}, prefix_len = {prefix_len}"
        result, complaint = attempt(function, T, window, prefix_len)
        first = torch.arange(T) < prefix_len
        expected = masks.sliding_window(T, window) | first
        complaint = complaint or compare(result, expected, case)
        if complaint:
            return say("5.5", complaint + diagnosis(result, _slips(T, window, prefix_len)))
    return say("5.5", "")
