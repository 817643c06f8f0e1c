"""The checkers of chapter 05 accept what is right and say what is wrong."""

import pytest
import torch

from pieces import masks
from pieces.exercises import causal_attention as check


def window(T, size, prefix_len):
    return masks.sliding_window(T, size) | (torch.arange(T) < prefix_len)


def batch(lengths, T):
    return masks.causal(T) & masks.padding(lengths, T)


def test_right_answers_are_accepted(capsys):
    check.prefix_window(window)
    check.batch_mask(batch)
    assert capsys.readouterr().out == "Exercise 5.4: right.\nExercise 5.5: right.\n"


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


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda lengths, T: None, "returns None"),
        (lambda lengths, T: batch(lengths, T)[:, 0], "the shape"),
        (lambda lengths, T: masks.causal(T) & masks.padding(lengths, T, side="left"), "differ"),
        (lambda lengths, T: batch(lengths, T).transpose(-1, -2), "differ"),
    ],
)
def test_batch_mask_says_what_is_wrong(answer, said, capsys):
    check.batch_mask(answer)
    assert said in capsys.readouterr().out
