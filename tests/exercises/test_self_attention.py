"""The checker of chapter 04 accepts right answers and says what is wrong with others."""

import pytest
import torch

from pieces.book.exercises import self_attention as check


def right(X, Wq, Wk, Wv):
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    scores = Q @ K.T / Wk.shape[1] ** 0.5
    powers = torch.exp(scores - scores.max(-1, keepdim=True).values)
    return powers / powers.sum(-1, keepdim=True) @ V


def one_by_one(X, Wq, Wk, Wv):
    rows = []
    for x in X:
        s = torch.stack([(x @ Wq) @ (y @ Wk) for y in X]) / Wk.shape[1] ** 0.5
        e = (s - s.max()).exp()
        rows.append(sum(w * (y @ Wv) for w, y in zip(e / e.sum(), X, strict=True)))
    return torch.stack(rows)


def by(scores, values=lambda X, Wq, Wk, Wv: X @ Wv, axis=-1):
    """A wrong answer from its scores, its values and the axis of its softmax."""

    def answer(X, Wq, Wk, Wv):
        s = scores(X @ Wq, X @ Wk, X)
        e = (s - s.amax(axis, keepdim=True)).exp()
        return e / e.sum(axis, keepdim=True) @ values(X, Wq, Wk, Wv)

    return answer


def scaled(Q, K, X):
    return Q @ K.T / Q.shape[1] ** 0.5


def overflowing(X, Wq, Wk, Wv):
    powers = (X @ Wq @ (X @ Wk).T / Wk.shape[1] ** 0.5).exp()
    return powers / powers.sum(-1, keepdim=True) @ (X @ Wv)


def ready_made(X, Wq, Wk, Wv):
    return torch.softmax(X @ Wq @ (X @ Wk).T / Wk.shape[1] ** 0.5, -1) @ (X @ Wv)


def fused(X, Wq, Wk, Wv):
    q, k, v = ((X @ W)[None] for W in (Wq, Wk, Wv))
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)[0]


WRONG = {
    "returns None": lambda X, Wq, Wk, Wv: None,
    "raised": lambda X, Wq, Wk, Wv: (X @ Wq) @ (X @ Wk),
    "expected a torch.Tensor": lambda *a: right(*a).tolist(),
    "expected the shape (6, 3)": lambda *a: right(*a)[None],
    "along each row": by(scaled, axis=0),
    "root of K?": by(lambda Q, K, X: Q @ K.T),
    "not of D.": by(lambda Q, K, X: Q @ K.T / X.shape[1] ** 0.5),
    "should be its root": by(lambda Q, K, X: Q @ K.T / Q.shape[1]),
    "mix the keys": by(scaled, lambda X, Wq, Wk, Wv: X @ Wk),
    "mix the inputs": by(scaled, lambda X, Wq, Wk, Wv: X),
    "changed places": by(lambda Q, K, X: scaled(K, Q, X)),
    "entries differ": by(lambda Q, K, X: 0.05 * Q @ K.T),
    "subtract each row's largest": overflowing,
    "torch's softmax": ready_made,
    "torch's scaled_dot_product_attention": fused,
}


@pytest.mark.parametrize("answer", [right, one_by_one])
def test_accepts_a_right_answer(answer, capsys):
    check.my_self_attention(answer)
    assert capsys.readouterr().out == "Exercise 4.4: right.\n"


@pytest.mark.parametrize("verdict", WRONG)
def test_says_what_is_wrong(verdict, capsys):
    check.my_self_attention(WRONG[verdict])
    printed = capsys.readouterr().out
    waits = verdict == "returns None"
    expected = "Exercise 4.4 waits for your code" if waits else "Exercise 4.4: not yet."
    assert printed.startswith(expected)
    assert verdict in printed


def test_leaves_the_readers_random_numbers_alone():
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    check.my_self_attention(right)
    assert torch.equal(torch.rand(3), expected)
