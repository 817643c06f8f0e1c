"""The checkers of chapter 12 accept what is right and say what is wrong."""

import pytest
import torch

from pieces.book.exercises import positional_encoding as check


def solution(x, positions, base, *, step=2, way=1, sign=1, rows=False, first=0, pairs="halves"):
    """The right answer, or with one mistake."""
    K = x.shape[-1]
    p = torch.arange(len(x)) if rows else positions + first
    angles = p[:, None] * base ** (-step * torch.arange(K // 2) / K) * way
    a, b = (x[:, : K // 2], x[:, K // 2 :]) if pairs == "halves" else (x[:, 0::2], x[:, 1::2])
    one = a * angles.cos() - b * angles.sin()
    other = b * angles.cos() + sign * a * angles.sin()
    if pairs == "halves":
        return torch.cat((one, other), dim=-1)
    return torch.stack((one, other), dim=-1).flatten(1)


def by_complex_numbers(x, positions, base):
    """The same, by multiplying complex numbers."""
    a, b = x.chunk(2, dim=-1)
    K = x.shape[-1]
    angles = positions[:, None] * base ** (-torch.arange(0, K, 2).double() / K)
    turned = torch.complex(a, b) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat((turned.real, turned.imag), dim=-1)


@pytest.mark.parametrize("answer", [solution, by_complex_numbers])
def test_the_right_answer_is_accepted(capsys, answer):
    check.my_rotary(answer)
    assert capsys.readouterr().out == "Exercise 12.4: right.\n"


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        ({"pairs": "neighbours"}, "That turns neighbours"),
        ({"way": -1}, "the wrong way"),
        ({"step": 1}, "yours lack the 2"),
        ({"rows": True}, "not the numbers of the rows"),
        ({"first": 1}, "already count from 0"),
        ({"sign": -1}, "One of the two signs"),
    ],
)
def test_a_usual_mistake_is_named(slip, said, capsys):
    check.my_rotary(lambda *data: solution(*data, **slip))
    assert said in capsys.readouterr().out


def test_the_bug_of_the_exercise_before_is_known(capsys):
    def answer(x, positions, base):
        K = x.shape[-1]
        speeds = base ** (-2 * torch.arange(K // 2) / K)
        angles = positions[:, None] * speeds.repeat_interleave(2)
        partner = torch.cat((-x[:, K // 2 :], x[:, : K // 2]), dim=-1)
        return x * angles.cos() + partner * angles.sin()

    check.my_rotary(answer)
    assert "laid out for neighbours, as in exercise 12.3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda *data: None, "returns None"),
        (lambda *data: solution(*data)[:-1], "the shape"),
        (lambda x, *rest: x * 0, "differ"),
        (lambda x: x, "TypeError"),
        (lambda *data: "a turn", "expected a torch.Tensor"),
    ],
)
def test_nonsense_is_answered_kindly(answer, said, capsys):
    check.my_rotary(answer)
    assert said in capsys.readouterr().out
