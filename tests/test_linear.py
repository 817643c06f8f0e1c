"""Linear attention: its recurrence, its chunks and its quadratic form are one; the state goes on."""

import pytest
import torch

from pieces import masks
from pieces.attention import (
    CachedAttention,
    LinearAttention,
    LinearCore,
    MultiHeadAttention,
    attention,
    linear_attention,
    linear_weights,
)
from pieces.attention.linear import positive
from pieces.cache import GrowingCache

EXACT = {"atol": 1e-12, "rtol": 1e-9}


def drawn(T, S=None, G=4, dtype=torch.float64):
    torch.manual_seed(T)
    shapes = (2, 4, T, 5), (2, G, S or T, 5), (2, G, S or T, 3)
    return [torch.randn(shape, dtype=dtype) for shape in shapes]


def in_loops(q, k, v):
    """Token by token, by the equation."""
    y = q.new_zeros(*q.shape[:3], v.shape[-1])
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            S, z = q.new_zeros(q.shape[-1], v.shape[-1]), q.new_zeros(q.shape[-1])
            for t in range(q.shape[2]):
                f = torch.nn.functional.elu(k[b, h, t]) + 1
                S, z = S + torch.outer(f, v[b, h, t]), z + f
                f = torch.nn.functional.elu(q[b, h, t]) + 1
                y[b, h, t] = f @ S / (f @ z)
    return y


@pytest.mark.parametrize("T", [1, 2, 7, 65])
@pytest.mark.parametrize("chunk", [1, 3, 64, 1000])
def test_is_the_recurrence_whatever_the_chunk(T, chunk):
    q, k, v = drawn(T)
    torch.testing.assert_close(
        linear_attention(q, k, v, chunk=chunk)[0], in_loops(q, k, v), **EXACT
    )


@pytest.mark.parametrize("G", [1, 2, 4])
@pytest.mark.parametrize(("T", "S"), [(1, 1), (7, 7), (65, 65), (3, 9), (1, 130)])
def test_equals_its_quadratic_form(G, T, S):
    q, k, v = drawn(T, S, G)
    weights = linear_weights(q, k)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 4, T).double())
    assert not weights.masked_select(~masks.causal(T, S)).any()
    wide = v.repeat_interleave(4 // G, dim=1)
    torch.testing.assert_close(linear_attention(q, k, v, chunk=4)[0], weights @ wide, **EXACT)


@pytest.mark.parametrize("T", [7, 65, 500])
def test_equals_it_in_float32_as_well(T):
    q, k, v = drawn(T, dtype=torch.float32)
    exact = linear_weights(q.double(), k.double()) @ v.double()
    found = linear_attention(q, k, v)[0]
    assert (found.double() - exact).abs().max() < 1e-5


def test_is_attention_whose_score_is_the_logarithm_of_the_products():
    q, k, v = drawn(9)

    def score(q, k):
        return (positive(q) @ positive(k).mT).log()

    found = attention(q, k, v, mask=masks.causal(9), score=score)[0]
    torch.testing.assert_close(linear_attention(q, k, v)[0], found, **EXACT)


@pytest.mark.parametrize("cut", [1, 4, 8])
def test_the_state_is_all_that_has_to_be_kept(cut):
    q, k, v = drawn(9)
    whole, last = linear_attention(q, k, v, chunk=2)
    first, state = linear_attention(*(x[:, :, :cut] for x in (q, k, v)), chunk=3)
    second, end = linear_attention(*(x[:, :, cut:] for x in (q, k, v)), state=state)
    torch.testing.assert_close(torch.cat((first, second), dim=2), whole, **EXACT)
    torch.testing.assert_close(tuple(end), tuple(last), **EXACT)
    assert state.pairs.shape == (2, 4, 5, 3)  # of one word or of a thousand
    assert state.total.shape == (2, 4, 5)


def test_positive_is_elu_plus_one_and_stays_above_zero():
    x = torch.linspace(-80, 30, 999)
    torch.testing.assert_close(positive(x), torch.nn.functional.elu(x.double()).float() + 1)
    assert (positive(x) > 0).all()


@pytest.mark.parametrize("features", [torch.exp, lambda x: x.square() + 0.1])
def test_other_features(features):
    q, k, v = drawn(6)
    weights = linear_weights(q, k, features=features)
    found = linear_attention(q, k, v, features=features, chunk=4)[0]
    torch.testing.assert_close(found, weights @ v, **EXACT)


def test_gradients_equal_those_of_the_quadratic_form():
    q, k, v = (x.requires_grad_() for x in drawn(11))
    chunked = torch.autograd.grad(linear_attention(q, k, v, chunk=4)[0].square().sum(), (q, k, v))
    squared = torch.autograd.grad((linear_weights(q, k) @ v).square().sum(), (q, k, v))
    torch.testing.assert_close(chunked, squared, **EXACT)


def test_a_core_of_any_attention_layer():
    torch.manual_seed(0)
    layer, x = (
        MultiHeadAttention(16, 4, n_kv_heads=2, core=LinearCore()).double(),
        torch.randn(2, 9, 16).double(),
    )
    y, weights = layer(x, return_weights=True)
    torch.testing.assert_close(layer(x), y, **EXACT)
    assert weights.shape == (2, 4, 9, 9)
    x[:, 5:] += 1
    torch.testing.assert_close(layer(x)[:, :5], y[:, :5], **EXACT)  # no word sees a later one


def test_a_core_beside_a_cache():
    torch.manual_seed(0)
    layer, x = CachedAttention(16, 4, core=LinearCore()).double(), torch.randn(1, 6, 16).double()
    cache = GrowingCache()[0]
    pieces = [
        layer(x[:, :4], cache=cache),
        layer(x[:, 4:5], cache=cache),
        layer(x[:, 5:], cache=cache),
    ]
    torch.testing.assert_close(torch.cat(pieces, dim=1), layer(x), **EXACT)


def test_the_layer_carries_its_state():
    torch.manual_seed(0)
    layer, x = LinearAttention(16, 4, chunk=2).double(), torch.randn(2, 9, 16).double()
    core = MultiHeadAttention(16, 4, core=LinearCore()).double()
    core.load_state_dict(layer.state_dict())
    whole, _ = layer(x)
    torch.testing.assert_close(whole, core(x), **EXACT)
    state, outputs = None, []
    for t in range(9):
        y, state = layer(x[:, t : t + 1], state=state)
        outputs.append(y)
    torch.testing.assert_close(torch.cat(outputs, dim=1), whole, **EXACT)


@pytest.mark.parametrize("name", ["mask", "bias"])
def test_a_mask_or_a_bias_is_refused(name):
    q, k, v = drawn(3)
    given = masks.causal(3) if name == "mask" else torch.zeros(3, 3)
    with pytest.raises(ValueError, match=rf"{name} = .*no scores.*Remedy"):
        LinearCore()(q, k, v, **{name: given})


def test_fewer_keys_than_queries_are_refused():
    q, k, v = drawn(4, 3)
    for call in (lambda: linear_attention(q, k, v), lambda: linear_weights(q, k)):
        with pytest.raises(ValueError, match=r"3 tokens beside 4 queries.*Remedy"):
            call()
