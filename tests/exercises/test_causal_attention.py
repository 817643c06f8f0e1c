"""The checkers of chapter 05 accept what is right and say what is wrong."""

import pytest
import torch

from pieces import masks
from pieces.book.exercises import causal_attention as check


def window(T, size, prefix_len):
    return masks.sliding_window(T, size) | (torch.arange(T) < prefix_len)


def first(T, prefix_len):
    return torch.arange(T) < prefix_len


def test_right_answers_are_accepted(capsys):
    check.prefix_window(window)
    assert capsys.readouterr().out == "Exercise 5.5: right.\n"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda T, w, p: None, "returns None"),
        (lambda T, w, p: window(T, w, p).float(), "expected torch.bool"),
        (lambda T, w, p: window(T, w, 0), "prefix_len = 2"),
        (lambda T, w, p: window(T, w + 1, p), "window = 2"),
        (lambda T, w, p: window(T + 1, w, p), "the shape"),
        (lambda T, w, p: window(T, w, p).long(), "expected torch.bool, got torch.int64"),
        (lambda T, w, p: window(T, w + 1, p), "The query is one of the window's tokens"),
        (
            lambda T, w, p: masks.sliding_window(T, w) & ~torch.eye(T).bool() | first(T, p),
            "A query sees itself",
        ),
        (lambda T, w, p: masks.full(T).tril(T).triu(1 - w) | first(T, p), "into the future"),
        (lambda T, w, p: window(T, w, p) & masks.causal(T), "open in the future as well"),
        (lambda T, w, p: window(T, w, p + 1), "j < prefix_len"),
        (lambda T, w, p: masks.sliding_window(T, w) & first(T, p), "need not be in both"),
        (lambda T, w, p: ~window(T, w, p), "True means may attend"),
        (lambda T, w, p: window(T, w, p).mT, "Rows are queries"),
    ],
)
def test_prefix_window_says_what_is_wrong(answer, said, capsys):
    check.prefix_window(answer)
    assert said in capsys.readouterr().out
