"""Linear attention: its recurrent form, its quadratic form and the sums of the paper are one."""

import itertools

import pytest
import torch

from pieces import feedforward as ff
from pieces.attention import (
    LinearAttention,
    Sums,
    elu_plus_one,
    linear_attention,
    linear_attention_quadratic,
)

EXACT = {"atol": 1e-12, "rtol": 1e-9}
NEAR = {torch.float64: EXACT, torch.float32: {"atol": 1e-5, "rtol": 1e-5}}
LENGTHS = [1, 2, 7, 65]


def draw(T=7, H=4, G=4, K=5, Kv=3, B=2, dtype=torch.float64):
    torch.manual_seed(T)
    return [torch.randn(B, n, T, k, dtype=dtype) for n, k in ((H, K), (G, K), (G, Kv))]


def pairs_of_neighbours(x):
    """Features that are more than the numbers they are made of: all products of two."""
    return (x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2).square()


FEATURES = [elu_plus_one, ff.relu, torch.exp, pairs_of_neighbours]


@pytest.mark.parametrize("dtype", NEAR)
@pytest.mark.parametrize("features", FEATURES)
def test_the_recurrent_form_is_the_quadratic_form(dtype, features):
    for T, G in itertools.product(LENGTHS, [1, 2, 4]):
        q, k, v = draw(T, G=G, dtype=dtype)
        output, _ = linear_attention(q, k, v, features=features)
        expected, weights = linear_attention_quadratic(q, k, v, features=features)
        torch.testing.assert_close(output, expected, **NEAR[dtype])
        sums = weights.sum(-1)
        assert ((sums - 1).abs() < 1e-5).logical_or(sums == 0).all(), (T, G)
        assert (weights.triu(1) == 0).all(), (T, G)


def in_loops(q, k, v):
    """The sums of the paper, one query and one key at a time."""
    B, H, T, _ = q.shape
    output = torch.zeros(B, H, T, v.shape[-1], dtype=q.dtype)
    for b in range(B):
        for h in range(H):
            for i in range(T):
                likes = [elu_plus_one(q[b, h, i]) @ elu_plus_one(k[b, h, j]) for j in range(i + 1)]
                mixed = sum(like * v[b, h, j] for j, like in enumerate(likes))
                output[b, h, i] = mixed / sum(likes)
    return output


def test_is_the_equation():
    q, k, v = draw(5, H=2, G=2)
    torch.testing.assert_close(linear_attention(q, k, v)[0], in_loops(q, k, v), **EXACT)


def test_the_features_are_positive():
    x = torch.tensor([-3.0, -0.5, 0.0, 2.0], dtype=torch.float64)
    expected = torch.where(x > 0, x + 1, x.exp())
    torch.testing.assert_close(elu_plus_one(x), expected, **EXACT)


@pytest.mark.parametrize("parts", [[3, 4], [1] * 7, [6, 1]])
@pytest.mark.parametrize("G", [1, 4])
def test_goes_on_from_a_state(parts, G):
    q, k, v = draw(7, G=G)
    whole, last = linear_attention(q, k, v)
    state, outputs = None, []
    for part in zip(*(x.split(parts, dim=2) for x in (q, k, v)), strict=True):
        output, state = linear_attention(*part, state=state)
        outputs.append(output)
    torch.testing.assert_close(torch.cat(outputs, dim=2), whole, **EXACT)
    torch.testing.assert_close(tuple(state), tuple(last), **EXACT)


@pytest.mark.parametrize("T", LENGTHS)
def test_the_state_has_one_size(T):
    _, state = linear_attention(*draw(T))
    assert [x.shape for x in state] == [(2, 4, 5, 3), (2, 4, 5, 1)]


def test_the_state_is_the_sum_of_outer_products():
    q, k, v = draw(6, B=1, H=1, G=1)
    _, (pairs, keys) = linear_attention(q, k, v)
    features = elu_plus_one(k[0, 0])
    torch.testing.assert_close(pairs[0, 0], sum(map(torch.outer, features, v[0, 0])), **EXACT)
    torch.testing.assert_close(keys[0, 0, :, 0], features.sum(0), **EXACT)


def test_orthogonal_keys_are_read_back_exactly():
    keys = torch.eye(4, dtype=torch.float64)[None, None]
    values = torch.randn(1, 1, 4, 3, dtype=torch.float64)
    output, _ = linear_attention(keys, keys, values, features=ff.relu)
    torch.testing.assert_close(output, values, **EXACT)


def test_a_query_that_matches_nothing_gets_zeros():
    q, k, v = draw(3, G=4)
    for form in (linear_attention, linear_attention_quadratic):
        output, _ = form(-q.abs(), k.abs(), v, features=ff.relu)
        assert torch.equal(output, torch.zeros_like(output))


def test_gradients_are_those_of_the_quadratic_form():
    found = []
    for form in (linear_attention, linear_attention_quadratic):
        inputs = [x.requires_grad_() for x in draw(7)]
        form(*inputs)[0].square().sum().backward()
        found.append([x.grad for x in inputs])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, **EXACT)


def test_a_long_text_in_sixteen_bits_is_not_forgotten():
    q, k, v = draw(600, H=1, G=1, dtype=torch.float32)
    half = [x.bfloat16() for x in (q, k, v)]
    output, state = linear_attention(*half)
    assert output.dtype == torch.bfloat16
    assert {x.dtype for x in state} == {torch.float32}
    expected, _ = linear_attention(*(x.float() for x in half))
    torch.testing.assert_close(output.float(), expected, atol=1e-2, rtol=1e-2)
    assert linear_attention_quadratic(*half)[0].dtype == torch.bfloat16


def layer(**options):
    torch.manual_seed(0)
    return LinearAttention(12, 4, **options).double()


@pytest.mark.parametrize("options", [{}, {"n_kv_heads": 2}, {"head_dim": 5}, {"bias": True}])
@pytest.mark.parametrize("T", LENGTHS)
def test_the_layer_is_the_same_in_both_forms(options, T):
    x, attention = torch.randn(2, T, 12).double(), layer(**options)
    torch.testing.assert_close(attention.recurrent(x)[0], attention(x), **EXACT)
    state, parts = None, []
    for part in x.split(3, dim=1):
        y, state = attention.recurrent(part, state=state)
        parts.append(y)
    torch.testing.assert_close(torch.cat(parts, dim=1), attention(x), **EXACT)


def test_the_layer_has_the_size_it_says():
    _, state = layer().recurrent(torch.randn(1, 9, 12).double())
    assert sum(x.numel() for x in state) == 4 * 3 * (3 + 1)


def test_the_layer_looks_at_the_past_only():
    x, attention = torch.randn(1, 6, 12).double(), layer()
    other = x.clone()
    other[:, 4:] = 0
    torch.testing.assert_close(attention(other)[:, :4], attention(x)[:, :4], **EXACT)


@pytest.mark.usefixtures("unchecked")
def test_refuses_what_does_not_fit():
    q, k, v = draw(5)
    with pytest.raises(ValueError, match="k"):
        linear_attention(q, k[:, :, :4], v)
    with pytest.raises(ValueError, match="must divide"):
        linear_attention(q, k[:, :3], v[:, :3])
    with pytest.raises(TypeError, match="state"):
        linear_attention(q, k, v, state="none")
    with pytest.raises(ValueError, match="n_heads"):
        LinearAttention(12, 5)


def test_sums_are_what_a_state_is():
    assert Sums._fields == ("pairs", "keys")
