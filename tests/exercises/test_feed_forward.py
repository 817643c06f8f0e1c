"""The checkers of chapter 08 accept what is right and say what is wrong."""

import pytest
import torch

from pieces.book.exercises import feed_forward as check


def swish(x):
    return x * torch.sigmoid(x)


def solution(x, W_g, W_u, W_d):
    """The right answer."""
    return (swish(x @ W_g) * (x @ W_u)) @ W_d


def by_loops(x, W_g, W_u, W_d):
    """The same, unit by unit."""
    output = torch.zeros_like(x)
    for n in range(W_g.shape[1]):
        h = swish(x @ W_g[:, n]) * (x @ W_u[:, n])
        output += h[:, None] * W_d[n]
    return output


@pytest.mark.parametrize("answer", [solution, by_loops])
def test_the_right_answer_is_accepted(capsys, answer):
    check.my_swiglu(answer)
    assert capsys.readouterr().out == "Exercise 8.4: right.\n"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x, g, u, d: swish(x @ g) * (x @ u), "W_d still narrows it"),
        (lambda x, g, u, d: swish((x @ g) * (x @ u)) @ d, "the product g u is bent"),
        (lambda x, g, u, d: ((x @ g) * swish(x @ u)) @ d, "Here u is bent"),
        (lambda x, g, u, d: (torch.sigmoid(x @ g) * (x @ u)) @ d, "That is GLU"),
        (lambda x, g, u, d: swish(x @ g) @ d, "multiply by x W_u"),
        (lambda x, g, u, d: ((x @ g) * (x @ u)) @ d, "bilinear"),
        (lambda x, g, u, d: (swish(x @ g) + (x @ u)) @ d, "a sum is no gate"),
    ],
)
def test_a_usual_mistake_is_named(answer, said, capsys):
    check.my_swiglu(answer)
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda *data: None, "returns None"),
        (lambda *data: solution(*data)[:, :-1], "the shape"),
        (lambda x, *rest: x * 0, "differ"),
        (lambda x: x, "TypeError"),
    ],
)
def test_nonsense_is_answered_kindly(answer, said, capsys):
    check.my_swiglu(answer)
    assert said in capsys.readouterr().out
