import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import lazily
from checker import refused
from pieces.norms import BatchNorm, GemmaRMSNorm, LayerNorm, RMSNorm, layer_norm, rms, rms_norm

gemma_theirs = lazily.Module("transformers.models.gemma.modeling_gemma")
llama_theirs = lazily.Module("transformers.models.llama.modeling_llama")
t5_theirs = lazily.Module("transformers.models.t5.modeling_t5")

SHAPES = [(1, 1, 1), (2, 3, 5), (3, 7, 64), (7, 12), (5,)]
NORMS = [LayerNorm, RMSNorm, GemmaRMSNorm]
TOLERANCE = {torch.float32: 1e-6, torch.bfloat16: 1e-2, torch.float16: 2e-3}


def random_weights(module):
    """Weights that prove something: not the ones and zeros that norms start with."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_()
    return module


def reference(x, gain, shift, eps, centre):
    """One token at a time, in Python numbers."""
    mean = sum(x) / len(x) if centre else 0.0
    spread = math.sqrt(sum((a - mean) ** 2 for a in x) / len(x) + eps)
    return [(a - mean) / spread * g + b for a, g, b in zip(x, gain, shift, strict=True)]


@pytest.mark.parametrize("norm", NORMS)
def test_norms_are_their_equations(norm, device):
    module = random_weights(norm(5, eps=1e-3)).double()
    x = torch.randn(3, 5).double() + 0.5
    gain = (module.weight + (norm is GemmaRMSNorm)).tolist()
    shift = module.bias.tolist() if norm is LayerNorm else [0.0] * 5
    expected = [reference(row, gain, shift, 1e-3, norm is LayerNorm) for row in x.tolist()]
    result = module.to(device)(x.to(device))
    torch.testing.assert_close(
        result.cpu(), torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_readable_functions_are_what_the_modules_compute(shape, device):
    x, D = torch.randn(shape, device=device).double(), shape[-1]
    torch.testing.assert_close(LayerNorm(D).to(device).double()(x), layer_norm(x))
    torch.testing.assert_close(RMSNorm(D).to(device).double()(x), rms_norm(x))
    torch.testing.assert_close(GemmaRMSNorm(D).to(device).double()(x), rms_norm(x))


def test_hand_examples():
    x = torch.tensor([[1.0, 2, 3], [4, 5, 6]])
    rows = torch.tensor([[-1.2247, 0, 1.2247]] * 2)
    torch.testing.assert_close(layer_norm(x, eps=0.0), rows, rtol=0, atol=1e-4)
    columns = torch.tensor([[-1.0] * 3, [1.0] * 3])
    torch.testing.assert_close(BatchNorm(3, eps=1e-12)(x), columns)
    torch.testing.assert_close(rms(x[:1]), torch.tensor([[math.sqrt(14 / 3)]]))
    assert rms(torch.tensor([3.0, 4.0])).item() == pytest.approx(math.sqrt(12.5))


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("bias", [True, False])
def test_layer_norm_equals_torch(shape, dtype, bias, device):
    theirs = random_weights(nn.LayerNorm(shape[-1], eps=1e-3, bias=bias)).to(device, dtype)
    ours = LayerNorm(shape[-1], eps=1e-3, bias=bias).to(device, dtype)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(shape, device=device, dtype=dtype) * 3 + 1
    torch.testing.assert_close(ours(x), theirs(x), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    ("norm", "make"),
    [
        (RMSNorm, lambda D: nn.RMSNorm(D, eps=1e-3)),
        (RMSNorm, lambda D: llama_theirs.LlamaRMSNorm(D, eps=1e-3)),
        (RMSNorm, lambda D: t5_theirs.T5LayerNorm(D, eps=1e-3)),
        (GemmaRMSNorm, lambda D: gemma_theirs.GemmaRMSNorm(D, eps=1e-3)),
    ],
    ids=["torch", "llama", "t5", "gemma"],
)
def test_rms_norms_equal_torch_and_transformers(norm, make, shape, dtype, device):
    theirs = random_weights(make(shape[-1])).to(device, dtype)
    ours = norm(shape[-1], eps=1e-3).to(device, dtype)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(shape, device=device, dtype=dtype) * 3 + 1
    x, y = x.requires_grad_(), x.detach().clone().requires_grad_()
    result, expected = ours(x), theirs(y)
    assert result.dtype == dtype
    tolerance = TOLERANCE[dtype]
    torch.testing.assert_close(result, expected, rtol=tolerance, atol=tolerance)
    result.float().square().sum().backward()
    expected.float().square().sum().backward()
    torch.testing.assert_close(x.grad, y.grad, rtol=5 * tolerance, atol=20 * tolerance)
    weights = (ours.weight.grad, theirs.weight.grad)
    torch.testing.assert_close(*weights, rtol=5 * tolerance, atol=20 * tolerance)


def test_llama_casts_before_the_gain_and_gemma_after():
    x = torch.randn(64, 256).bfloat16()
    llama, gemma = (
        random_weights(llama_theirs.LlamaRMSNorm(256)),
        random_weights(gemma_theirs.GemmaRMSNorm(256)),
    )
    for norm, theirs in ((RMSNorm, llama), (GemmaRMSNorm, gemma)):
        ours = norm(256).bfloat16()
        ours.load_state_dict(theirs.state_dict())
        assert torch.equal(ours(x), theirs.bfloat16()(x)), "to the last bit"


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("shape", [(4, 3), (2, 5, 3), (2, 2, 3, 1)], ids=str)
def test_batch_norm_equals_torch_in_training_and_evaluation(shape, dtype, device):
    """Torch's works in float64 throughout; in half precision it is a tenth off."""
    theirs = random_weights(nn.BatchNorm1d(shape[-1], eps=1e-3, momentum=0.3)).to(device, dtype)
    ours = BatchNorm(shape[-1], eps=1e-3, momentum=0.3).to(device, dtype)
    state = {k: v for k, v in theirs.state_dict().items() if k != "num_batches_tracked"}
    ours.load_state_dict(state)
    theirs, tolerance = theirs.double(), max(1e-5, TOLERANCE[dtype])
    close = {"rtol": tolerance, "atol": tolerance, "check_dtype": False}
    for step in range(3):
        x = torch.randn(shape, device=device).to(dtype) * 2 + step
        expected = theirs(x.reshape(-1, shape[-1]).double()).view(shape)
        result = ours(x)
        assert result.dtype == dtype
        torch.testing.assert_close(result, expected, **close)
    torch.testing.assert_close(ours.running_mean, theirs.running_mean, **close)
    torch.testing.assert_close(ours.running_var, theirs.running_var, **close)
    x, learnt = torch.randn(1, 1, shape[-1], device=device, dtype=dtype), ours.running_mean.clone()
    theirs.load_state_dict(ours.state_dict(), strict=False)  # the last bit that ours has lost
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x[0].double())[None], **close)
    assert torch.equal(ours.running_mean, learnt), "evaluation learns nothing"


@st.composite
def tokens(draw):
    shape = [draw(st.integers(1, 4)), draw(st.integers(2, 9))]
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10_000)))
    return torch.randn(shape, generator=generator).double()


@given(tokens(), st.floats(0.01, 100), st.floats(-100, 100))
def test_what_scale_and_shift_do(x, scale, shift):
    close = {"rtol": 0, "atol": 1e-6}
    torch.testing.assert_close(rms_norm(scale * x, 0.0), rms_norm(x, 0.0), **close)
    torch.testing.assert_close(layer_norm(scale * x + shift, 0.0), layer_norm(x, 0.0), **close)
    torch.testing.assert_close(rms_norm(-x), -rms_norm(x))
    centred = x - x.mean(dim=-1, keepdim=True)
    torch.testing.assert_close(rms_norm(centred, 1e-5), layer_norm(x), **close)
    torch.testing.assert_close(rms(rms_norm(x, 0.0)), torch.ones(len(x), 1).double())


def test_rms_norm_is_not_shift_invariant_and_a_norm_does_not_change_the_shape():
    x = torch.rand(1, 1000).double() ** 4
    assert not torch.allclose(rms_norm(x + 5), rms_norm(x), atol=0.1)

    def skewness(x):
        return (layer_norm(x, 0.0) ** 3).mean().item()

    assert skewness(x) > 1
    assert skewness(layer_norm(x)) == pytest.approx(skewness(x))


def test_only_batch_norm_mixes_tokens():
    x = torch.randn(2, 3, 4)
    moved = x.clone()
    moved[0, 0] += torch.randn(4)
    for norm in (LayerNorm(4), RMSNorm(4), GemmaRMSNorm(4), BatchNorm(4)):
        changed = (norm(moved) != norm(x)).any(dim=-1)
        assert changed.sum() == (6 if isinstance(norm, BatchNorm) else 1)


def test_the_source_texts_layer_norm_is_another():
    x = torch.randn(3, 16).double()
    theirs = (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6)
    ratio = torch.full_like(x, math.sqrt(15 / 16))
    torch.testing.assert_close(theirs / layer_norm(x, 0.0), ratio, rtol=0, atol=1e-5)


@pytest.mark.parametrize("norm", [*NORMS, BatchNorm])
def test_gradients_are_right(norm, device):
    module = random_weights(norm(4)).double().to(device)
    x = torch.randn(3, 4, device=device).double().requires_grad_()
    assert torch.autograd.gradcheck(module, (x,))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("size", [0.0, 1e-4, 1.0, 6e4])
def test_half_precision_stays_finite(norm, dtype, size, device):
    module = norm(8).to(device, dtype)
    x = (torch.randn(2, 3, 8, device=device).clamp(-1, 1) * size).to(dtype).requires_grad_()
    y = module(x)
    assert y.dtype == dtype
    y.sum().backward()
    assert y.isfinite().all()
    assert x.grad.isfinite().all()
    if size == 6e4:
        torch.testing.assert_close(rms_norm(y.float()), rms_norm(x.float()) if norm is not LayerNorm
                                   else layer_norm(x.float()), rtol=0.02, atol=0.02)  # fmt: skip


@pytest.mark.parametrize("norm", [*NORMS, BatchNorm])
def test_state_dict_round_trip_and_start(norm):
    ours, other = random_weights(norm(6)), norm(6)
    x = torch.randn(4, 6)
    ours(x)
    other.load_state_dict(ours.state_dict())
    assert torch.equal(ours.eval()(x), other.eval()(x))
    fresh = norm(6)
    assert (fresh.weight == (0 if norm is GemmaRMSNorm else 1)).all()
    assert LayerNorm(6, bias=False).bias is None


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("norm", [*NORMS, BatchNorm])
def test_compiles_to_one_graph_and_exports(norm):
    module = random_weights(norm(6)).eval()
    torch.compiler.reset()
    compiled = torch.compile(module, fullgraph=True, dynamic=True, backend="eager")
    x = torch.randn(2, 7, 6)
    torch.testing.assert_close(compiled(x), module(x))
    shapes = {"x": {1: torch.export.Dim("T", min=2, max=64)}}
    exported = torch.export.export(module, (torch.randn(2, 5, 6),), dynamic_shapes=shapes)
    torch.testing.assert_close(exported.module()(x), module(x))


@pytest.mark.usefixtures("unchecked")
def test_batch_norm_compiles_in_training():
    ours, theirs, x = BatchNorm(6), BatchNorm(6), torch.randn(2, 5, 6)
    torch.compiler.reset()
    compiled = torch.compile(ours, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), theirs(x))
    torch.testing.assert_close(ours.running_var, theirs.running_var)


x = torch.randn(2, 3, 8)
BAD = [
    (lambda norm: norm(0), ValueError, "d_model = 0: must be at least 1"),
    (lambda norm: norm(8.0), TypeError, "d_model = 8.0"),
    (lambda norm: norm(True), TypeError, "d_model = True"),
    (lambda norm: norm(8, eps=0.0), ValueError, "eps = 0.0: must be above 0"),
    (lambda norm: norm(8, eps="1"), TypeError, "eps = '1'"),
    (lambda norm: norm(7)(x), ValueError, "x.shape = (2, 3, 8): the last axis must be 7"),
    (lambda norm: norm(8)(x.long()), TypeError, "x.dtype = torch.int64"),
]
BAD = [(lambda call=call, norm=norm: call(norm), error, text)
       for call, error, text in BAD for norm in (*NORMS, BatchNorm)]  # fmt: skip
BAD += [
    (lambda: BatchNorm(8, momentum=0), ValueError, "momentum = 0: must be above 0"),
    (lambda: BatchNorm(8, momentum=1.5), ValueError, "momentum = 1.5: must be above 0"),
    (lambda: BatchNorm(8, momentum=None), TypeError, "momentum = None"),
    (lambda: BatchNorm(8)(x[:1, :1]), ValueError, "x.shape = (1, 1, 8): one token has no variance"),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[bad[2] for bad in BAD])
def test_bad_input_is_refused_by_name_and_value(call, error, text):
    refused(call, error, text)


@pytest.mark.parametrize("function", [rms, rms_norm, layer_norm])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_zero_token_has_a_gradient(function, dtype):
    x = torch.zeros(2, 4, dtype=dtype)
    x[1] = torch.tensor([1.0, -2.0, 3.0, 0.0])
    x.requires_grad_()
    y = function(x)
    (y * torch.arange(1, y.numel() + 1).view_as(y)).sum().backward()
    assert y.dtype == x.grad.dtype == dtype
    assert x.grad.isfinite().all()
    assert (y[0] == 0).all()


def test_the_gradient_of_rms_norm_at_0_is_that_of_the_module():
    x, layer = torch.zeros(3, 4, dtype=torch.float64, requires_grad=True), RMSNorm(4).double()
    up = torch.randn(3, 4, dtype=torch.float64)
    (own,) = torch.autograd.grad(rms_norm(x, layer.eps), x, up)
    (fused,) = torch.autograd.grad(layer(x), x, up)
    torch.testing.assert_close(own, fused)


@pytest.mark.parametrize("size", [1e-3, 300.0, 3e4])
def test_half_precision_neither_overflows_nor_vanishes(size):
    x = (torch.randn(5, 64).clamp(-2, 2) * size).half()
    exact = x.double()
    torch.testing.assert_close(rms_norm(x).double(), rms_norm(exact), rtol=2e-3, atol=2e-3)
    torch.testing.assert_close(layer_norm(x).double(), layer_norm(exact), rtol=2e-3, atol=2e-3)
    torch.testing.assert_close(rms(x).double(), rms(exact), rtol=2e-3, atol=1e-5)
