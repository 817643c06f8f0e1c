import math

import pytest
import torch

from checker import refused
from pieces.scores import AdditiveScore, BilinearScore, dot, scaled_dot

B, T, S, K = 2, 3, 5, 4


def pairwise(score, q, k):
    """A score by its definition: one query, one key, one number."""
    rows = [[[score(q[b, t], k[b, s]) for s in range(S)] for t in range(T)] for b in range(B)]
    return torch.stack([torch.stack([torch.stack(row) for row in rows_b]) for rows_b in rows])


def tensors(query_dim=K, key_dim=K):
    return torch.randn(B, T, query_dim).double(), torch.randn(B, S, key_dim).double()


def test_dot_is_its_equation():
    q, k = tensors()
    expected = pairwise(lambda a, b: sum(a[i] * b[i] for i in range(K)), q, k)
    torch.testing.assert_close(dot(q, k), expected)


def test_scaled_dot_is_its_equation():
    q, k = tensors()
    expected = pairwise(lambda a, b: sum(a[i] * b[i] for i in range(K)) / math.sqrt(K), q, k)
    torch.testing.assert_close(scaled_dot(q, k), expected)


def test_additive_is_its_equation_for_two_sizes():
    score = AdditiveScore(query_dim=6, key_dim=4, hidden_dim=7).double()
    q, k = tensors(6, 4)
    W, U, v = score.W.weight, score.U.weight, score.v.weight[0]
    expected = pairwise(lambda a, b: v @ torch.tanh(W @ b + U @ a), q, k)
    torch.testing.assert_close(score(q, k), expected)
    assert (W.shape, U.shape, v.shape) == ((7, 4), (7, 6), (7,))


def test_bilinear_is_its_equation_for_two_sizes():
    score = BilinearScore(query_dim=6, key_dim=4).double()
    q, k = tensors(6, 4)
    W = score.W.weight
    torch.testing.assert_close(score(q, k), pairwise(lambda a, b: b @ W @ a, q, k))
    assert W.shape == (4, 6)


def test_bilinear_with_the_identity_is_dot_but_need_not_be_symmetric():
    score = BilinearScore(K, K).double()
    x = torch.randn(B, T, K).double()
    assert not torch.allclose(score(x, x), score(x, x).mT)
    torch.nn.init.eye_(score.W.weight)
    torch.testing.assert_close(score(x, x), dot(x, x))


@pytest.mark.parametrize("score", [dot, scaled_dot, AdditiveScore(K, K, 6), BilinearScore(K, K)])
@pytest.mark.parametrize("leading", [(), (2,), (2, 3), (1, 2, 3)])
def test_leading_axes_are_free(score, leading):
    q, k = torch.randn(*leading, T, K), torch.randn(*leading, S, K)
    scores = score(q, k)
    assert scores.shape == (*leading, T, S)
    last = tuple(size - 1 for size in leading)
    torch.testing.assert_close(scores[last], score(q[last], k[last]))


@pytest.mark.parametrize("size", [16, 64, 512])
def test_scaling_keeps_the_spread_at_one(size):
    q, k = torch.randn(200, size), torch.randn(200, size)
    assert dot(q, k).std() == pytest.approx(size**0.5, rel=0.05)
    assert scaled_dot(q, k).std() == pytest.approx(1, rel=0.05)


@pytest.mark.parametrize("score", [dot, scaled_dot])
def test_half_precision_does_not_overflow(score):
    x = torch.full((1, 128), 30.0, dtype=torch.float16)
    torch.testing.assert_close(score(x, x), score(x.float(), x.float()))


@pytest.mark.parametrize("make", [lambda: AdditiveScore(6, 4, 7), lambda: BilinearScore(6, 4)])
def test_state_dict_round_trip(make):
    ours, other = make(), make()
    q, k = torch.randn(B, T, 6), torch.randn(B, S, 4)
    assert not torch.equal(ours(q, k), other(q, k))
    other.load_state_dict(ours.state_dict())
    assert torch.equal(ours(q, k), other(q, k))


def test_gradients():
    q, k = (x.requires_grad_() for x in tensors(3, 2))
    assert torch.autograd.gradcheck(AdditiveScore(3, 2, 2).double(), (q, k))
    assert torch.autograd.gradcheck(BilinearScore(3, 2).double(), (q, k))


q4, k4, k6 = torch.ones(1, 2, 4), torch.ones(1, 3, 4), torch.ones(1, 3, 6)
BAD = [
    (lambda: dot(q4, k6), ValueError, "k.shape = (1, 3, 6)"),
    (lambda: scaled_dot(q4, k6), ValueError, "k.shape = (1, 3, 6)"),
    (lambda: AdditiveScore(0, 1, 1), ValueError, "query_dim = 0"),
    (lambda: AdditiveScore(1, True, 1), TypeError, "key_dim = True"),
    (lambda: AdditiveScore(1, 1, 2.5), TypeError, "hidden_dim = 2.5"),
    (lambda: AdditiveScore(4, 4, 2)(k6, k4), ValueError, "q.shape = (1, 3, 6)"),
    (lambda: AdditiveScore(4, 4, 2)(q4, k6), ValueError, "k.shape = (1, 3, 6)"),
    (lambda: BilinearScore(-3, 1), ValueError, "query_dim = -3"),
    (lambda: BilinearScore(1, None), TypeError, "key_dim = None"),
    (lambda: BilinearScore(4, 4)(k6, k4), ValueError, "q.shape = (1, 3, 6)"),
    (lambda: BilinearScore(4, 4)(q4, k6), ValueError, "k.shape = (1, 3, 6)"),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[bad[2] for bad in BAD])
def test_bad_input_is_refused_by_name_and_value(call, error, text):
    refused(call, error, text)
