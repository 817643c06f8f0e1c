import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import lazily
from pieces.sampling import choose, tempered, top_k, top_p

theirs = lazily.Module("transformers.generation.logits_process")


def logits(seed=0, B=4, V=23):
    return torch.randn(B, V, generator=torch.Generator().manual_seed(seed)) * 3


@given(seed=st.integers(0, 1000), temperature=st.floats(0.05, 5))
def test_temperature_is_theirs(seed, temperature):
    expected = theirs.TemperatureLogitsWarper(temperature)(None, logits(seed))
    assert torch.equal(tempered(logits(seed), temperature), expected)


@given(seed=st.integers(0, 1000), k=st.integers(1, 30))
def test_top_k_is_theirs(seed, k):
    expected = theirs.TopKLogitsWarper(k)(None, logits(seed))
    assert torch.equal(top_k(logits(seed), k), expected)


@given(seed=st.integers(0, 1000), p=st.floats(0.01, 0.99))
def test_top_p_is_theirs(seed, p):
    expected = theirs.TopPLogitsWarper(p)(None, logits(seed))
    assert torch.equal(top_p(logits(seed), p), expected)


def test_top_p_keeps_the_fewest_that_reach_p():
    x = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    for p, kept in [(0.1, 1), (0.49, 1), (0.6, 2), (0.9, 3), (0.96, 4), (1.0, 4)]:
        assert top_p(x, p).isfinite().sum() == kept


@pytest.mark.parametrize(("p", "kept"), [(0.25, 1), (0.26, 2), (0.5, 2), (0.75, 3), (1.0, 4)])
def test_top_p_stops_at_a_sum_of_exactly_p(p, kept):
    """Four times a quarter, no rounding: two of them are 0.5 or more, and the first ones stay."""
    assert top_p(torch.zeros(4), p).isfinite().tolist() == [n < kept for n in range(4)]


def test_p_of_1_keeps_what_rounding_would_drop():
    x = torch.cat((torch.zeros(3), torch.full((50,), -17.5)))
    assert top_p(x, 1).isfinite().all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_chosen_in_float32(dtype):
    """600 equal tokens: in bfloat16 their sum stands still long before it is 0.9."""
    x = torch.zeros(1, 600, dtype=dtype)
    assert top_p(x, 0.9).isfinite().sum() == pytest.approx(540, abs=1)
    assert top_p(x, 0.9).dtype == dtype
    x = (logits(B=64) * 2).to(dtype)
    drawn = [
        choose(y, temperature=0.7, k=9, p=0.8, generator=torch.Generator().manual_seed(3))
        for y in (x, x.float())
    ]
    assert torch.equal(*drawn)


@pytest.mark.parametrize("temperature", [1e-300, 1e-40, 1e-10])
def test_the_smallest_temperature_is_greedy(temperature):
    assert torch.equal(choose(logits(), temperature=temperature), logits().argmax(-1))


def test_the_largest_temperature_draws_from_all():
    x = logits(B=2000)
    x[:, 0] = -torch.inf
    assert choose(x, temperature=1e300).unique().tolist() == list(range(1, 23))


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


def test_a_seed_of_the_cpu_draws_the_same_everywhere(device):
    def draw(x):
        return choose(x, temperature=1.0, k=5, generator=torch.Generator().manual_seed(2))

    found = draw(logits().double().to(device))
    assert found.device == logits().to(device).device
    assert found.tolist() == draw(logits().double()).tolist()


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
