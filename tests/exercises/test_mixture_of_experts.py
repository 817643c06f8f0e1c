"""The checkers of chapter 14 accept what is right and say what is wrong."""

import pytest
import torch

from pieces.book.exercises import mixture_of_experts as check


def solution(x, W_R, experts, k, *, over=-1, first=False, weigh=True, largest=True, flip=False):
    """The right answer, or with one mistake."""
    scores = x @ W_R
    if first:
        weights, chosen = scores.softmax(-1).topk(k)
    else:
        best, chosen = scores.topk(k, largest=largest)
        weights = best.softmax(dim=over)
    if not largest:
        weights = (-scores).topk(k).values.softmax(-1)
    if not weigh:
        weights = torch.ones_like(weights)
    if flip:
        weights = weights.flip(-1)
    output = torch.zeros_like(x)
    for t in range(len(x)):
        for place in range(k):
            expert = experts[int(chosen[t, place])]
            output[t] += weights[t, place] * expert(x[t : t + 1])[0]
    return output


def dense(x, W_R, experts, k):
    """The same: all scores but the k best are −∞, then a softmax over all."""
    scores = x @ W_R
    kth = scores.topk(k).values[:, -1:]
    weights = scores.masked_fill(scores < kth, -torch.inf).softmax(-1)
    return sum(weights[:, e, None] * expert(x) for e, expert in enumerate(experts))


@pytest.mark.parametrize("answer", [solution, dense])
def test_the_right_answer_is_accepted(capsys, answer):
    check.my_mixture(answer)
    assert capsys.readouterr().out == "Exercise 14.4: right.\n"


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        ({"first": True}, "do not sum to 1"),
        ({"weigh": False}, "they are not weighted"),
        ({"over": 0}, "That softmax runs over the tokens"),
        ({"largest": False}, "the smallest scores"),
        ({"flip": True}, "the weight of the worst"),
    ],
)
def test_a_usual_mistake_is_named(slip, said, capsys):
    check.my_mixture(lambda *data: solution(*data, **slip))
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x, W, experts, k: dense(x, W, experts, W.shape[1]), "All experts were asked"),
        (lambda x, W, e, k: solution(x, W * 0 + W.new_tensor(0), e, k) * 0, "differ"),
        (lambda *data: None, "returns None"),
        (lambda *data: solution(*data)[:-1], "the shape"),
        (lambda x: x, "TypeError"),
    ],
)
def test_nonsense_is_answered_kindly(answer, said, capsys):
    check.my_mixture(answer)
    assert said in capsys.readouterr().out


def test_a_plain_mean_is_named(capsys):
    def mean(x, W_R, experts, k):
        chosen = (x @ W_R).topk(k).indices
        return check.mixed(x, torch.full(chosen.shape, 1 / k, dtype=x.dtype), chosen, experts)

    check.my_mixture(mean)
    assert "plain mean" in capsys.readouterr().out
