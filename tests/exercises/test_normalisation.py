"""The checkers of chapter 10 accept what is right and say what is wrong."""

import math

import pytest
import torch
import torch.nn.functional as F

from pieces.book.exercises import normalisation as check


def in_loops(x, gain, shift, eps):
    """Token by token, number by number."""
    result = torch.empty_like(x)
    for token, out in zip(x.reshape(-1, x.shape[-1]), result.view(-1, x.shape[-1]), strict=True):
        mean = sum(token.tolist()) / len(token)
        variance = sum((a - mean) ** 2 for a in token.tolist()) / len(token)
        for j, a in enumerate(token.tolist()):
            out[j] = gain[j] * (a - mean) / math.sqrt(variance + eps) + shift[j]
    return result


def torchs(x, gain, shift, eps):
    return F.layer_norm(x, gain.shape, gain, shift, eps)


@pytest.mark.parametrize("answer", [in_loops, torchs])
def test_the_right_answer_is_accepted(capsys, answer):
    check.my_layer_norm(answer)
    assert capsys.readouterr().out == "Exercise 10.4: right.\n"


def slip(*, axis=-1, correction=0, inside=True, root=True, centre=True, gained=True, shifted=True):
    """A right answer with one mistake."""

    def answer(x, gain, shift, eps):
        rows = x.reshape(-1, x.shape[-1]) if axis == 0 else x
        axes = tuple(range(x.ndim)) if axis is None else axis
        mean = rows.mean(axes, keepdim=True)
        variance = rows.var(axes, correction=correction, keepdim=True)
        if not centre:
            variance = rows.square().mean(axes, keepdim=True)
        size = (variance + eps).sqrt() if inside else variance.sqrt() + eps
        size = size if root else variance + eps
        y = (rows - (mean if centre else 0)) / size
        return (gain if gained else 1) * y.view_as(x) + (shift if shifted else 0)

    return answer


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        ({"correction": 1}, "divided by D − 1"),
        ({"inside": False}, "outside the root"),
        ({"inside": False, "correction": 1}, "PyTorch's std()"),
        ({"axis": 0}, "means of columns"),
        ({"axis": None}, "one mean for all tokens"),
        ({"centre": False}, "that is RMSNorm"),
        ({"root": False}, "not by the variance"),
        ({"gained": False, "shifted": False}, "gain and the shift are missing"),
        ({"shifted": False}, "The shift is missing"),
    ],
)
def test_a_usual_mistake_is_named(mistake, said, capsys):
    check.my_layer_norm(slip(**mistake))
    assert said in capsys.readouterr().out


def test_the_axis_of_the_texts_is_known_for_what_it_is(capsys):
    def answer(x, gain, shift, eps):
        y = (x - x.mean(0)) / (x.var(0, correction=0) + eps).sqrt()
        return gain * y + shift

    check.my_layer_norm(answer)
    assert "means of columns, as in BatchNorm" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda *data: None, "returns None"),
        (lambda x, *rest: x[..., :-1], "the shape"),
        (lambda x, *rest: x * 0, "differ"),
        (lambda x, *rest: x.tolist(), "expected a torch.Tensor"),
        (lambda x: x, "TypeError"),
        (lambda x, gain, shift, eps: gain * (torchs(x, gain * 0 + 1, shift * 0, eps) + shift),
         "the shift comes after it"),
    ],
)  # fmt: skip
def test_nonsense_is_answered_kindly(answer, said, capsys):
    check.my_layer_norm(answer)
    assert said in capsys.readouterr().out
