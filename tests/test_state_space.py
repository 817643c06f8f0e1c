"""State spaces: the two scans are one, the layer is Mamba's, and its state goes on."""

import pytest
import torch

import lazily
from pieces.state_space import SelectiveStateSpace, parallel_scan, scan

hf = lazily.Module("transformers")
EXACT = {"atol": 1e-12, "rtol": 1e-9}


def drawn(T, *N):
    torch.manual_seed(T)
    return torch.rand(2, T, *N).double(), torch.randn(2, T, *N).double()


@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize("N", [(), (3,), (3, 2)])
@pytest.mark.parametrize("T", [1, 2, 3, 8, 13, 129])
def test_the_parallel_form_equals_the_recurrent_one(T, N, start):
    decay, inputs = drawn(T, *N)
    first = torch.randn(2, *N).double() if start else None
    found = parallel_scan(decay, inputs, first)
    torch.testing.assert_close(found, scan(decay, inputs, first), **EXACT)


def test_the_scan_is_the_sum_of_what_has_decayed():
    decay, inputs = drawn(9)
    told = [
        sum(inputs[0, s] * decay[0, s + 1 : t + 1].prod() for s in range(t + 1)) for t in range(9)
    ]
    torch.testing.assert_close(scan(decay, inputs)[0], torch.stack(told), **EXACT)


def test_with_gradients():
    decay, inputs = (x.requires_grad_() for x in drawn(11, 3))
    one, other = (
        torch.autograd.grad(form(decay, inputs).square().sum(), (decay, inputs))
        for form in (scan, parallel_scan)
    )
    torch.testing.assert_close(one, other, **EXACT)


def layer(**options):
    torch.manual_seed(0)
    return SelectiveStateSpace(20, **options).double()


@pytest.mark.parametrize("T", [1, 2, 7, 33])
@pytest.mark.parametrize("kernel", [1, 4])
def test_the_layer_with_both_scans(T, kernel):
    one, other = layer(kernel=kernel), layer(kernel=kernel, parallel=False)
    x = torch.randn(2, T, 20).double()
    torch.testing.assert_close(one(x)[0], other(x)[0], **EXACT)


@pytest.mark.parametrize("kernel", [1, 4])
@pytest.mark.parametrize("cut", [1, 2, 6])
def test_the_state_is_all_that_has_to_be_kept(cut, kernel):
    one, x = layer(kernel=kernel), torch.randn(2, 9, 20).double()
    whole, last = one(x)
    first, state = one(x[:, :cut])
    second, end = one(x[:, cut:], state=state)
    torch.testing.assert_close(torch.cat((first, second), dim=1), whole, **EXACT)
    torch.testing.assert_close(tuple(end), tuple(last), **EXACT)
    assert state.h.shape == (2, 40, 16)
    assert state.last.shape == (2, 40, kernel - 1)


def test_no_word_sees_a_later_one():
    one, x = layer(), torch.randn(1, 9, 20).double()
    y = one(x)[0]
    x[:, 5:] += 1
    torch.testing.assert_close(one(x)[0][:, :5], y[:, :5], **EXACT)


@pytest.mark.parametrize(("d_state", "T"), [(16, 1), (16, 9), (5, 30)])
def test_equals_that_of_transformers(d_state, T):
    config = hf.MambaConfig(hidden_size=20, state_size=d_state, vocab_size=11, num_hidden_layers=1)
    theirs = hf.models.mamba.modeling_mamba.MambaMixer(config, layer_idx=0).eval()
    ours = SelectiveStateSpace(20, d_state=d_state)
    names = {
        "A_log": "log_decay", "D": "skip", "in_proj.weight": "input.weight",
        "conv1d.weight": "convolution.weight", "conv1d.bias": "convolution.bias",
        "x_proj.weight": "select.weight", "dt_proj.weight": "step.weight",
        "dt_proj.bias": "step.bias", "out_proj.weight": "output.weight",
    }  # fmt: skip
    weights = {names[name]: torch.randn_like(p) * 0.3 for name, p in theirs.named_parameters()}
    ours.load_state_dict(weights)
    with torch.no_grad():
        for name, p in theirs.named_parameters():
            p.copy_(weights[names[name]])
        x = torch.randn(2, T, 20)
        difference = (ours(x)[0] - theirs(x)).abs().max()
    assert difference < 1e-5


def test_the_steps_start_between_a_thousandth_and_a_tenth():
    steps = torch.nn.functional.softplus(layer().step.bias)
    assert 0.001 <= steps.min() < steps.max() <= 0.1
