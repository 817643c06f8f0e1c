import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.generation.logits_process import (
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from pieces.sampling import choose, tempered, top_k, top_p


def logits(seed=0, B=4, V=23):
    return torch.randn(B, V, generator=torch.Generator().manual_seed(seed)) * 3


@given(seed=st.integers(0, 1000), temperature=st.floats(0.05, 5))
def test_temperature_is_theirs(seed, temperature):
    expected = TemperatureLogitsWarper(temperature)(None, logits(seed))
    assert torch.equal(tempered(logits(seed), temperature), expected)


@given(seed=st.integers(0, 1000), k=st.integers(1, 30))
def test_top_k_is_theirs(seed, k):
    expected = TopKLogitsWarper(k)(None, logits(seed))
    assert torch.equal(top_k(logits(seed), k), expected)


@given(seed=st.integers(0, 1000), p=st.floats(0.01, 0.99))
def test_top_p_is_theirs(seed, p):
    expected = TopPLogitsWarper(p)(None, logits(seed))
    assert torch.equal(top_p(logits(seed), p), expected)


def test_top_p_keeps_the_fewest_that_reach_p():
    x = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    for p, kept in [(0.1, 1), (0.49, 1), (0.6, 2), (0.9, 3), (0.96, 4), (1.0, 4)]:
        assert top_p(x, p).isfinite().sum() == kept


def test_top_k_keeps_what_ties():
    assert top_k(torch.tensor([1.0, 2.0, 2.0, 0.0]), 1).isfinite().tolist() == [
        False,
        True,
        True,
        False,
    ]


def test_drawn_shares_are_the_probabilities():
    """20,000 draws: four standard errors are below 0.015."""
    x = torch.tensor([[0.5, 0.3, 0.2]]).log().expand(20_000, 3)
    drawn = choose(x, temperature=1.0, generator=torch.Generator().manual_seed(0))
    shares = drawn.bincount(minlength=3) / len(drawn)
    assert torch.allclose(shares, torch.tensor([0.5, 0.3, 0.2]), atol=0.015)
    sharp = choose(x, temperature=0.5, generator=torch.Generator().manual_seed(0))
    squared = torch.tensor([0.25, 0.09, 0.04])
    shares = sharp.bincount(minlength=3) / len(sharp)
    assert torch.allclose(shares, squared / squared.sum(), atol=0.015)


def test_temperature_0_is_greedy():
    assert torch.equal(choose(logits(), k=3), logits().argmax(-1))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: tempered(x, 0), ValueError, "temperature = 0"),
        (lambda x: tempered(x, "hot"), TypeError, "temperature"),
        (lambda x: top_k(x, 0), ValueError, "k = 0"),
        (lambda x: top_k(x, 1.5), TypeError, "k = 1.5"),
        (lambda x: top_p(x, 0.0), ValueError, "p = 0.0"),
        (lambda x: top_p(x, 1.01), ValueError, "p = 1.01"),
        (lambda x: choose(x, temperature=float("nan")), ValueError, "temperature = nan"),
    ],
)
def test_bad_numbers_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(logits())
