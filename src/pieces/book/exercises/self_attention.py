"""Checkers for chapter 04, self-attention."""

from collections.abc import Callable

import torch
from torch.overrides import TorchFunctionMode

from pieces.attention import attention
from pieces.book.exercises.verdict import attempt, compare, diagnosis, say

SHAPES = ((6, 3, 3, 3), (4, 5, 2, 2), (1, 4, 3, 3), (7, 2, 8, 5))  # T, D, K, and a value's
READY_MADE = ("softmax", "log_softmax", "scaled_dot_product_attention", "logsumexp")


class Watch(TorchFunctionMode):
    """Note which of torch's ready-made functions are called."""

    def __init__(self) -> None:
        super().__init__()
        self.used: list[str] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):  # noqa: D105
        name = getattr(func, "__name__", "")
        if name in READY_MADE:
            self.used.append(name)
        return func(*args, **(kwargs or {}))


def _inputs(T: int, D: int, K: int, K_v: int, size: float) -> list[torch.Tensor]:
    """Return X, Wq, Wk, Wv, drawn by a generator of their own; `size` scales the queries."""
    drawn = torch.Generator().manual_seed(T)
    shapes = ((T, D), (D, K), (D, K), (D, K_v))
    X, Wq, Wk, Wv = (torch.randn(s, generator=drawn, dtype=torch.float64) for s in shapes)
    return [X, size * Wq, Wk, Wv]


def reference(X, Wq, Wk, Wv) -> torch.Tensor:
    """Return the package's own answer."""
    q, k, v = ((X @ W)[None, None] for W in (Wq, Wk, Wv))
    return attention(q, k, v)[0][0, 0]


def unkept(scores: torch.Tensor) -> torch.Tensor:
    """Return a softmax that divides by the sums of the rows as if they were those of columns."""
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    return powers / powers.sum(-1)


def _slips(X, Wq, Wk, Wv) -> dict[str, torch.Tensor]:
    """Return what well-known mistakes would give, by a hint that helps."""
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    scores, root = Q @ K.T, Q.shape[-1] ** 0.5
    softmax = torch.softmax
    weights = softmax(scores / root, -1)
    return {
        "Does your softmax run over the keys, that is along each row?": softmax(scores / root, 0)
        @ V,
        "Did you divide the scores by the root of K?": softmax(scores, -1) @ V,
        "The root is of K, the size of a key, not of D.": softmax(scores / X.shape[-1] ** 0.5, -1)
        @ V,
        "You divide by K; it should be its root.": softmax(scores / root**2, -1) @ V,
        "You mix the keys; mix the values.": softmax(scores / root, -1) @ K,
        "You mix the inputs; mix the values.": softmax(scores / root, -1) @ X,
        "Queries and keys have changed places.": softmax(scores.T / root, -1) @ V,
        "Divide by the sum of the row, and keep its axis (keepdim=True).": unkept(scores / root)
        @ V,
        "These are the weights; the output is their product with the values.": weights,
    }


def my_self_attention(function: Callable[..., torch.Tensor]) -> None:
    """Check `f(X, Wq, Wk, Wv)`: the output O of one head, without torch's softmax."""
    with Watch() as watch:
        for T, D, K, K_v in SHAPES:
            data = _inputs(T, D, K, K_v, 1.0)
            result, complaint = attempt(function, *data)
            case = f"T = {T}, D = {D}, K = {K}, values of size {K_v}"
            complaint = complaint or compare(result, reference(*data), case)
            if "cannot be multiplied" in complaint:
                complaint += f" There {case}; rows meet rows in Q @ K.T."
            if complaint:
                return say("4.4", complaint + diagnosis(result, _slips(*data)))
        watch.used.clear()
        data = _inputs(5, 4, 3, 3, 1e4)
        result, complaint = attempt(function, *data)
        ready_made = watch.used[:]
    complaint = complaint or compare(result, reference(*data), "scores in the thousands")
    if complaint:
        complaint += " exp overflows: subtract each row's largest score first."
    elif ready_made:
        complaint = f"The numbers are right, but torch's {ready_made[0]} made them. Write it out."
    return say("4.4", complaint)
