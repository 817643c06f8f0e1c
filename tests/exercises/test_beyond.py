"""The checker of chapter 17 accepts what is right and says what is wrong."""

import pytest
import torch

from pieces.book.exercises import beyond as check
from pieces.state_space import scan


def test_the_right_answer_is_accepted(capsys):
    check.my_join(check.joined)
    assert capsys.readouterr().out == "Exercise 17.4: right.\n"


def test_two_stretches_in_one_are_what_a_scan_does():
    for seed in range(5):
        first, second = check.stretches(seed, (2, 3))
        a, b = (torch.stack(two, dim=1) for two in zip(first, second, strict=True))
        start = torch.randn(2, 3)
        decay, inputs = check.joined(first, second)
        torch.testing.assert_close(scan(a, b, start=start)[:, -1], decay * start + inputs)


def changed(a=None, b=None):
    def answer(first, second):
        right = check.joined(first, second)
        return (
            right[0] if a is None else a(*first, *second),
            right[1] if b is None else b(*first, *second),
        )

    return answer


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (changed(a=lambda a, b, c, d: a + c), "two factors in a row multiply"),
        (changed(a=lambda a, b, c, d: c), "faded in the first as well"),
        (changed(b=lambda a, b, c, d: b + d), "fades as well"),
        (changed(b=lambda a, b, c, d: a * b + d), "by the first factor"),
        (changed(b=lambda a, b, c, d: a * d + b), "the other way round"),
        (changed(b=lambda a, b, c, d: c * b), "entries differ"),
        (lambda first, second: (first[0] + second[0],) * 2, "a, shape [3]"),
    ],
)
def test_a_usual_mistake_is_named(answer, said, capsys):
    check.my_join(answer)
    printed = capsys.readouterr().out
    assert printed.startswith("Exercise 17.4: not yet.")
    assert said in printed


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda first, second: None, "returns None"),
        (lambda first, second: first[0], "expected two tensors"),
        (lambda first, second: (1.0, 2.0), "expected a torch.Tensor"),
        (lambda first, second: first[2], "IndexError"),
    ],
)
def test_nonsense_is_answered_kindly(answer, said, capsys):
    check.my_join(answer)
    assert said in capsys.readouterr().out
