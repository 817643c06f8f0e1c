"""The checkers of chapter 06 accept what is right and say what is wrong."""

import pytest
import torch

from pieces.book.exercises import multi_head_attention as check


def solution(
    X, Wq, Wk, Wv, Wo, n_heads, *, turn=True, root=None, project=True, merge=True, cut=True
):
    """The right answer, or with one mistake."""
    T = len(X)
    n = n_heads if cut else 1
    split = (
        (lambda Y: Y.unflatten(-1, (n, -1)).transpose(0, 1))
        if turn
        else lambda Y: Y.reshape(n, T, -1)
    )
    q, k, v = (split(X @ W) for W in (Wq, Wk, Wv))
    scores = q @ k.mT / (root(X.shape[-1], k.shape[-1]) if root else k.shape[-1] ** 0.5)
    heads = scores.softmax(-1) @ v
    row = heads.transpose(0, 1).flatten(1) if merge else heads.reshape(T, -1)
    return row @ Wo if project else row


def by_loops(X, Wq, Wk, Wv, Wo, n_heads):
    """The same, head by head."""
    output = torch.zeros_like(X)
    K = Wq.shape[1] // n_heads
    for h in range(n_heads):
        columns = slice(h * K, (h + 1) * K)
        q, k, v = (X @ W[:, columns] for W in (Wq, Wk, Wv))
        output += (q @ k.T / K**0.5).softmax(-1) @ v @ Wo[columns]
    return output


@pytest.mark.parametrize("answer", [solution, by_loops])
def test_the_right_answer_is_accepted(capsys, answer):
    check.my_multi_head(answer)
    assert capsys.readouterr().out == "Exercise 6.4: right.\n"


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        ({"project": False}, "output projection is missing"),
        ({"merge": False}, "Turn the axes back before you merge"),
        ({"cut": False}, "That is one head over all columns"),
        ({"root": lambda D, K: D**0.5}, "The root is of K"),
        ({"root": lambda D, K: 1}, "Did you divide"),
        ({"turn": False}, "Cut the columns, not the tokens"),
    ],
)
def test_a_usual_mistake_is_named(slip, said, capsys):
    check.my_multi_head(lambda *data: solution(*data, **slip))
    assert said in capsys.readouterr().out


def test_heads_that_are_not_turned_attend_to_each_other(capsys):
    def answer(X, Wq, Wk, Wv, Wo, n_heads):
        q, k, v = ((X @ W).unflatten(-1, (n_heads, -1)) for W in (Wq, Wk, Wv))
        return ((q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v).flatten(1) @ Wo

    check.my_multi_head(answer)
    assert "the heads of one token attend to each other" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda *data: None, "returns None"),
        (lambda *data: solution(*data)[:-1], "the shape"),
        (lambda X, *rest: X * 0, "differ"),
        (lambda X: X, "TypeError"),
    ],
)
def test_nonsense_is_answered_kindly(answer, said, capsys):
    check.my_multi_head(answer)
    assert said in capsys.readouterr().out
