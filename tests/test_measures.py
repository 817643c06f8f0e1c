"""Measures: against loops and known values, at the ends of the range, and their gradients."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pieces.measures import cosine, entropy, jacobian_norm, softmax_jacobian

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def rows(*shape):
    return torch.randn(*shape, dtype=torch.float64).softmax(-1)


def test_entropy_is_the_sum():
    weights = rows(2, 3, 5)
    for found, row in zip(entropy(weights).flatten(), weights.flatten(0, 1), strict=True):
        assert found.item() == pytest.approx(-sum(p * math.log(p) for p in row.tolist()))


@given(st.integers(1, 40))
def test_entropy_goes_from_0_to_ln_s(S):
    assert entropy(torch.full((S,), 1 / S)).item() == pytest.approx(math.log(S), abs=1e-5)
    assert entropy(torch.eye(S)).abs().max() == 0
    assert entropy(torch.zeros(3, S)).tolist() == [0, 0, 0]  # a row that sees nothing


def test_a_masked_weight_does_not_spoil_the_gradient():
    """Its own is infinite, which the softmax would turn into NaN."""
    scores = torch.randn(4, 4, dtype=torch.float64)
    hidden = torch.ones(4, 4).triu(1).bool()
    scores = scores.masked_fill(hidden, -torch.inf).requires_grad_()
    entropy(scores.softmax(-1)).sum().backward()
    assert scores.grad.isfinite().all()
    assert (scores.grad[hidden] == 0).all()
    row = scores.detach()[2, :3].clone().requires_grad_()
    entropy(row.softmax(-1)).backward()
    torch.testing.assert_close(scores.grad[2, :3], row.grad)


def test_entropy_says_when_a_weight_is_negative():
    assert entropy(torch.tensor([1.5, -0.5])).isnan()


def test_the_jacobian_is_what_autograd_finds():
    scores = torch.randn(6, dtype=torch.float64)
    expected = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores)
    torch.testing.assert_close(softmax_jacobian(scores.softmax(-1)), expected)


def test_the_jacobian_by_cells():
    weights = rows(2, 3, 4)
    found = softmax_jacobian(weights)
    assert found.shape == (2, 3, 4, 4)
    for i in range(4):
        for j in range(4):
            expected = weights[..., i] * (float(i == j) - weights[..., j])
            torch.testing.assert_close(found[..., i, j], expected)
    torch.testing.assert_close(found.sum(-1), torch.zeros(2, 3, 4, dtype=torch.float64))


def test_the_norm_of_the_jacobian():
    """Two weights p and 1 - p: four entries of p (1 - p)."""
    p = torch.tensor([0.5, 0.9, 1.0], dtype=torch.float64)
    found = jacobian_norm(torch.stack((p, 1 - p), -1))
    torch.testing.assert_close(found, 2 * p * (1 - p))
    assert found[-1] == 0
    S = 7
    alike = jacobian_norm(torch.full((S,), 1 / S)).item()
    assert alike == pytest.approx(math.sqrt(S - 1) / S)


def test_a_saturated_softmax_has_a_gradient_of_0():
    weights = torch.eye(3).requires_grad_()
    jacobian_norm(weights).sum().backward()
    assert weights.grad.isfinite().all()


def test_cosine_by_hand():
    a, b = torch.tensor([[3.0, 4.0], [1.0, 0.0]]), torch.tensor([[4.0, 3.0], [-2.0, 0.0]])
    torch.testing.assert_close(cosine(a, b), torch.tensor([24 / 25, -1.0]))
    x, y = torch.randn(5, 2, 8), torch.randn(2, 8)
    torch.testing.assert_close(cosine(x, y), torch.nn.functional.cosine_similarity(x, y, dim=-1))


LENGTHS = [
    pytest.param(dtype, length, id=f"{dtype}-{length}")
    for dtype in FLOATS
    for length in (1e-30, 1e-9, 1e-4, 300.0, 6e4, 1e25)
    if torch.finfo(dtype).smallest_normal < length < torch.finfo(dtype).max
]


@pytest.mark.parametrize(("dtype", "length"), LENGTHS)
def test_cosine_is_the_same_whatever_the_lengths(dtype, length):
    a = torch.tensor([3.0, 4.0], dtype=torch.float64)
    long = (a * length / 4).to(dtype)
    found = cosine(long, torch.tensor([4.0, 3.0], dtype=dtype))
    own = long.double()
    expected = float((own * torch.tensor([4.0, 3.0])).sum() / (own.norm() * 5))
    assert found.item() == pytest.approx(expected, rel=4 * torch.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", FLOATS)
def test_cosine_of_a_zero_vector_is_0(dtype):
    zero = torch.zeros(2, 3, dtype=dtype, requires_grad=True)
    found = cosine(zero, torch.ones(2, 3, dtype=dtype))
    found.sum().backward()
    assert found.tolist() == [0, 0]
    assert zero.grad.isfinite().all()


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=6))
def test_cosine_stays_between_its_ends(numbers):
    x = torch.tensor(numbers)
    assert cosine(x, x).item() in (0.0, pytest.approx(1.0))
    assert -1 <= cosine(x, -x).item() <= cosine(x, x).item() <= 1


def test_gradients_are_those_of_differences():
    x, y = rows(3, 4).requires_grad_(), rows(3, 4).requires_grad_()
    assert torch.autograd.gradcheck(entropy, x)
    assert torch.autograd.gradcheck(jacobian_norm, x)
    assert torch.autograd.gradcheck(cosine, (x, y))


def test_empty_batches():
    assert entropy(torch.zeros(0, 4)).shape == (0,)
    assert entropy(torch.zeros(2, 0)).tolist() == [0, 0]
    assert softmax_jacobian(torch.zeros(0, 4)).shape == (0, 4, 4)
    assert jacobian_norm(torch.zeros(0, 4)).shape == (0,)
    assert cosine(torch.zeros(0, 4), torch.zeros(0, 4)).shape == (0,)


@pytest.mark.usefixtures("unchecked")
def test_bad_input():
    with pytest.raises(TypeError, match=r"weights\.dtype"):
        entropy(torch.arange(3))
    with pytest.raises(ValueError, match=r"b\.shape = \(2,\)"):
        cosine(torch.ones(3), torch.ones(2))
    with pytest.raises(ValueError, match=r"a\.shape = \(2, 0\)"):
        cosine(torch.ones(2, 0), torch.ones(2, 0))
