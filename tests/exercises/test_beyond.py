"""The checkers of chapter 17 accept what is right and say what is wrong."""

import pytest

from pieces import masks
from pieces.book.exercises import beyond as check


def test_the_right_answer_is_accepted(capsys):
    check.my_mask(masks.causal)
    assert capsys.readouterr().out == "Exercise 17.4: right.\n"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda T: None, "returns None"),
        (lambda T: masks.causal(T).float(), "expected torch.bool"),
        (lambda T: masks.causal(T).T, "differ"),
        (lambda T: masks.causal(T + 1), "the shape"),
    ],
)
def test_my_mask_says_what_is_wrong(answer, said, capsys):
    check.my_mask(answer)
    assert said in capsys.readouterr().out
