"""The checkers of chapter 05 accept what is right and say what is wrong."""

import pytest
import torch

from pieces import masks
from pieces.book.exercises import causal_attention as check


def window(T, size, prefix_len):
    return masks.sliding_window(T, size) | (torch.arange(T) < prefix_len)


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
    ],
)
def test_prefix_window_says_what_is_wrong(answer, said, capsys):
    check.prefix_window(answer)
    assert said in capsys.readouterr().out
