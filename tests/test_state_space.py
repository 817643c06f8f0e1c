"""State spaces: the scan in steps and the scan in strides are one, and so are the layer's forms."""

import itertools

import pytest
import torch

from pieces.state_space import SelectiveStateSpace, parallel_scan, scan, start_steps_

EXACT = {"atol": 1e-12, "rtol": 1e-9}
NEAR = {torch.float64: EXACT, torch.float32: {"atol": 1e-5, "rtol": 1e-5}}
LENGTHS = [1, 2, 3, 7, 8, 65]


def draw(T, *sizes, dtype=torch.float64):
    torch.manual_seed(T)
    return torch.rand(2, T, *sizes, dtype=dtype), torch.randn(2, T, *sizes, dtype=dtype)


def by_hand(decay, inputs, start):
    states, state = [], start
    for t in range(inputs.shape[1]):
        state = decay[:, t] * state + inputs[:, t]
        states.append(state)
    return torch.stack(states, dim=1)


@pytest.mark.parametrize("dtype", NEAR)
@pytest.mark.parametrize("T", LENGTHS)
@pytest.mark.parametrize("form", [scan, parallel_scan])
def test_both_forms_are_the_recurrence(dtype, T, form):
    for sizes, begun in itertools.product([(), (3,), (3, 2)], [False, True]):
        decay, inputs = draw(T, *sizes, dtype=dtype)
        start = torch.randn(2, *sizes, dtype=dtype)
        expected = by_hand(decay, inputs, start if begun else torch.zeros_like(start))
        states = form(decay, inputs, start=start if begun else None)
        torch.testing.assert_close(states, expected, **NEAR[dtype])


@pytest.mark.parametrize("T", LENGTHS)
def test_their_gradients_are_the_same(T):
    found = []
    for form in (scan, parallel_scan):
        decay, inputs = (x.requires_grad_() for x in draw(T, 3))
        start = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
        form(decay, inputs, start=start).square().sum().backward()
        found.append((decay.grad, inputs.grad, start.grad))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, **EXACT)


@pytest.mark.parametrize("form", [scan, parallel_scan])
def test_a_scan_goes_on_where_it_was(form):
    decay, inputs = draw(7, 3)
    whole = form(decay, inputs)
    first = form(decay[:, :4], inputs[:, :4])
    second = form(decay[:, 4:], inputs[:, 4:], start=first[:, -1])
    torch.testing.assert_close(torch.cat((first, second), dim=1), whole, **EXACT)


@pytest.mark.parametrize("form", [scan, parallel_scan])
def test_what_stays_whole_is_a_running_sum_and_what_goes_is_the_input(form):
    _, inputs = draw(9, 3)
    sums = form(torch.ones_like(inputs), inputs)
    torch.testing.assert_close(sums, inputs.cumsum(dim=1), **EXACT)
    torch.testing.assert_close(form(torch.zeros_like(inputs), inputs), inputs, **EXACT)


def test_the_strides_are_the_logarithm_of_the_length(monkeypatch):
    joined = []
    cat = torch.cat
    monkeypatch.setattr(torch, "cat", lambda *x, **o: joined.append(1) or cat(*x, **o))
    for T, strides in ((1, 0), (2, 1), (3, 2), (8, 3), (65, 7)):
        joined.clear()
        parallel_scan(*draw(T))
        assert len(joined) == 2 * strides


def build(**options):
    torch.manual_seed(0)
    return SelectiveStateSpace(6, 4, **options).double()


@pytest.mark.parametrize("T", LENGTHS)
@pytest.mark.parametrize("options", [{}, {"d_inner": 5}, {"scan": scan}])
def test_the_layer_is_the_same_in_both_forms(T, options):
    layer, x = build(**options), torch.randn(2, T, 6).double()
    whole = layer(x)
    torch.testing.assert_close(layer.recurrent(x)[0], whole, **EXACT)
    state, parts = None, []
    for token in x.split(1, dim=1):
        y, state = layer.recurrent(token, state=state)
        parts.append(y)
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, **EXACT)
    assert state.shape == (2, layer.d_inner, 4)


def test_the_layers_gradients_are_the_same_in_both_forms():
    x, found = torch.randn(2, 5, 6).double(), []
    for way in ("forward", "recurrent"):
        layer = build()
        y = getattr(layer, way)(x)
        (y if way == "forward" else y[0]).square().sum().backward()
        found.append([p.grad for p in layer.parameters()])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, **EXACT)


def in_loops(layer, x):
    """The equation, one token, one feature and one number of its state at a time."""
    T, inner, N = x.shape[0], layer.d_inner, layer.d_state
    h, rows = torch.zeros(inner, N).double(), []
    A = -layer.log_rate.exp()
    for t in range(T):
        u, g = layer.inward(x[t]).split(inner)
        step = torch.log1p(layer.step(u).exp())
        b, c, y = layer.write(u), layer.read(u), torch.zeros(inner).double()
        for i in range(inner):
            for n in range(N):
                h[i, n] = torch.exp(step[i] * A[i, n]) * h[i, n] + step[i] * u[i] * b[n]
                y[i] += h[i, n] * c[n]
        y = y + layer.skip * u
        rows.append(layer.output(y * g * torch.sigmoid(g)))
    return torch.stack(rows)


@torch.no_grad()
def test_the_layer_is_the_equation():
    layer, x = build(d_inner=3), torch.randn(4, 6).double()
    torch.testing.assert_close(layer(x[None])[0], in_loops(layer, x), **EXACT)


def test_the_layer_looks_at_the_past_only():
    layer, x = build(), torch.randn(1, 6, 6).double()
    other = x.clone()
    other[:, 4:] = 0
    torch.testing.assert_close(layer(other)[:, :4], layer(x)[:, :4], **EXACT)


@torch.no_grad()
def test_each_factor_lies_between_nothing_and_all():
    decay = build().select(10 * torch.randn(3, 9, 6).double()).decay
    assert ((decay >= 0) & (decay <= 1)).all()


def test_the_first_steps_are_spread_between_the_two():
    bias = torch.zeros(4000)
    start_steps_(bias)
    steps = torch.nn.functional.softplus(bias)
    assert 0.00099 < steps.min() < 0.0011
    assert 0.09 < steps.max() < 0.101
    assert 0.008 < steps.median() < 0.0125, "the middle of the orders of size"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("bad", [{"d_model": 0}, {"d_state": 0}, {"d_inner": 0}])
def test_refuses_sizes_that_are_none(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        SelectiveStateSpace(**{"d_model": 4} | bad)


@pytest.mark.usefixtures("unchecked")
def test_refuses_a_scan_of_two_lengths():
    decay, inputs = draw(5, 3)
    with pytest.raises(ValueError, match="inputs"):
        scan(decay[:, :4], inputs)
    with pytest.raises(ValueError, match="start"):
        parallel_scan(decay, inputs, start=torch.zeros(2, 4).double())
