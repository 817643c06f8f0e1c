import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import lazily
from checker import refused
from pieces.feedforward import (
    FeedForward,
    GatedFeedForward,
    gelu,
    gelu_tanh,
    identity,
    relu,
    sigmoid,
    swish,
    two_thirds,
)

hf = lazily.Module("transformers")
gemma = lazily.Module("transformers.models.gemma.modeling_gemma")
llama = lazily.Module("transformers.models.llama.modeling_llama")


def phi(x):
    """Chance that a standard normal number is below x."""
    return (1 + math.erf(x / math.sqrt(2))) / 2


FORMULAS = {
    "relu": (relu, lambda x: max(x, 0.0)),
    "sigmoid": (sigmoid, lambda x: 1 / (1 + math.exp(-x))),
    "swish": (swish, lambda x: x / (1 + math.exp(-x))),
    "swish 1.7": (lambda x: swish(x, 1.7), lambda x: x / (1 + math.exp(-1.7 * x))),
    "swish 0": (lambda x: swish(x, 0.0), lambda x: x / 2),
    "gelu": (gelu, lambda x: x * phi(x)),
    "gelu_tanh": (
        gelu_tanh,
        lambda x: x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    "identity": (identity, lambda x: x),
}
GATES = {"glu": sigmoid, "reglu": relu, "geglu": gelu, "geglu tanh": gelu_tanh, "swiglu": swish,
         "bilinear": identity}  # fmt: skip
KINDS = [FeedForward, GatedFeedForward]


@pytest.mark.parametrize("name", FORMULAS)
def test_activations_are_their_formulas(name, device):
    activation, formula = FORMULAS[name]
    x = torch.linspace(-8, 8, 333).double()
    expected = torch.tensor([formula(value) for value in x.tolist()], dtype=torch.float64)
    torch.testing.assert_close(activation(x.to(device)).cpu(), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", FORMULAS)
def test_gradients_of_activations_are_right(name):
    x = torch.tensor([-2.0, -0.5, 0.3, 4.0]).double().requires_grad_()
    assert torch.autograd.gradcheck(FORMULAS[name][0], (x,))


def test_how_the_activations_are_related():
    x = torch.linspace(-6, 6, 1001).double()
    assert (gelu(x) - gelu_tanh(x)).abs().max() < 5e-4
    torch.testing.assert_close(swish(x, 500.0), relu(x), rtol=0, atol=1e-3)
    normal = torch.distributions.Normal(0.0, 1.0)
    torch.testing.assert_close(gelu(x), x * normal.cdf(x), rtol=0, atol=1e-9)
    assert not torch.allclose(gelu(x), normal.cdf(x)), "GELU is not the distribution itself"


def test_two_thirds_gives_llamas_widths_and_equal_parameters():
    assert two_thirds(4 * 4096, 256) == 11008
    assert two_thirds(4 * 5120, 256) == 13824
    assert two_thirds(4 * 6656, 256) == 17920
    assert two_thirds(4 * 8192, 256) == 22016
    assert two_thirds(4 * 4096) == 10922
    two = FeedForward(48, 192, bias=False)
    three = GatedFeedForward(48, two_thirds(192))
    assert sum(p.numel() for p in two.parameters()) == sum(p.numel() for p in three.parameters())


@given(st.integers(1, 10_000), st.integers(1, 300))
def test_two_thirds_is_the_next_multiple(d_ff, multiple_of):
    width = two_thirds(d_ff, multiple_of)
    assert width % multiple_of == 0
    assert width >= max(1, 2 * d_ff // 3)
    assert width == multiple_of or width - multiple_of < 2 * d_ff // 3


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", FORMULAS)
def test_feed_forward_is_its_equation(name, bias, device):
    activation, formula = FORMULAS[name]
    module = FeedForward(3, 5, activation, bias=bias).double()
    x = torch.randn(2, 4, 3).double()
    up, down = module.up.weight, module.down.weight
    b_1, b_2 = (module.up.bias, module.down.bias) if bias else (torch.zeros(5), torch.zeros(3))
    hidden = (x @ up.T + b_1).detach().apply_(formula)
    expected = hidden @ down.T + b_2
    result = module.to(device)(x.to(device)).cpu()
    torch.testing.assert_close(result, expected.cpu(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", GATES)
def test_gated_feed_forward_is_its_equation(name, bias, device):
    module = GatedFeedForward(3, 5, GATES[name], bias=bias).double().to(device)
    x = torch.randn(2, 4, 3, device=device).double()
    weights = dict(module.named_parameters())
    none = torch.zeros((), device=device)
    gate = x @ weights["gate.weight"].T + weights.get("gate.bias", none)
    up = x @ weights["up.weight"].T + weights.get("up.bias", none)
    expected = (GATES[name](gate) * up) @ weights["down.weight"].T + weights.get("down.bias", none)
    torch.testing.assert_close(module(x), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "activation"),
    [
        (lambda config: llama.LlamaMLP(hf.LlamaConfig(**config)), swish),
        (lambda config: gemma.GemmaMLP(hf.GemmaConfig(**config)), gelu_tanh),
    ],
    ids=["llama", "gemma"],
)
def test_gated_feed_forward_equals_transformers(make, activation, device):
    theirs = make({"hidden_size": 32, "intermediate_size": 20})
    ours = GatedFeedForward(32, 20, activation)
    ours.load_state_dict({n.replace("_proj", ""): w for n, w in theirs.state_dict().items()})
    x = torch.randn(2, 3, 32)
    torch.testing.assert_close(ours.to(device)(x.to(device)).cpu(), theirs(x), rtol=0, atol=1e-6)


def test_feed_forward_equals_the_one_inside_torchs_layer():
    layer = nn.TransformerEncoderLayer(12, 2, 20, dropout=0.0)
    ours = FeedForward(12, 20)
    ours.up, ours.down = layer.linear1, layer.linear2
    x = torch.randn(2, 3, 12)
    torch.testing.assert_close(ours(x), layer._ff_block(x))


@pytest.mark.parametrize("kind", KINDS)
def test_each_token_stands_alone_and_the_output_may_be_negative(kind):
    module, x = kind(6, 10), torch.randn(2, 3, 6)
    moved = x.clone()
    moved[0, 0] += 1
    assert ((module(moved) != module(x)).any(dim=-1).sum()) == 1
    torch.testing.assert_close(module(x)[1, 2], module(x[1, 2]))
    assert (module(x) < 0).any(), "the activation does not come last"


@pytest.mark.parametrize("kind", KINDS)
def test_options(kind):
    module = kind(6, 10, bias=True, out_bias=False, dropout=nn.Dropout(1.0))
    assert module.up.bias is not None
    assert module.down.bias is None
    x = torch.randn(2, 6)
    assert (module(x) == 0).all(), "dropout stands before the last matrix"
    assert (module.eval()(x) != 0).any()
    assert kind(6, 10, out_bias=True).down.bias is not None
    assert FeedForward(6, 10).up.bias is not None
    assert GatedFeedForward(6, 10).up.bias is None
    trained = kind(6, 10, nn.PReLU())
    assert "activation.weight" in trained.state_dict()


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_right(kind, device):
    module = kind(3, 4, gelu).double().to(device)
    x = torch.randn(2, 3, device=device).double().requires_grad_()
    assert torch.autograd.gradcheck(module, (x,))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", GATES)
def test_half_precision_stays_finite_and_near(kind, name, dtype, device):
    module, x = kind(16, 32, GATES[name]).to(device), torch.randn(2, 3, 16, device=device) * 5
    expected = module(x)
    module, x = module.to(dtype), x.to(dtype).requires_grad_()
    y = module(x)
    assert y.dtype == dtype
    torch.testing.assert_close(y.float(), expected, rtol=0.1, atol=0.1)
    y.float().sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("kind", KINDS)
def test_state_dict_round_trip(kind):
    ours, other, x = kind(6, 10), kind(6, 10), torch.randn(2, 6)
    assert not torch.equal(ours(x), other(x))
    other.load_state_dict(ours.state_dict())
    assert torch.equal(ours(x), other(x))
    assert {name.split(".")[0] for name in ours.state_dict()} <= {"gate", "up", "down"}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("kind", "activation"),
    [(FeedForward, gelu_tanh), (GatedFeedForward, lambda x: swish(x, 1.7))],
    ids=["plain", "gated"],
)
def test_compiles_to_one_graph_and_exports(kind, activation):
    module = kind(6, 10, activation)
    torch.compiler.reset()
    compiled = torch.compile(module, fullgraph=True, dynamic=True, backend="eager")
    x = torch.randn(2, 7, 6)
    torch.testing.assert_close(compiled(x), module(x))
    shapes = {"x": {1: torch.export.Dim("T", min=2, max=64)}}
    exported = torch.export.export(module, (torch.randn(2, 5, 6),), dynamic_shapes=shapes)
    torch.testing.assert_close(exported.module()(x), module(x))


x = torch.randn(2, 3, 8)
BAD = [
    (lambda kind: kind(0, 8), ValueError, "d_model = 0: must be at least 1"),
    (lambda kind: kind("8", 8), TypeError, "d_model = '8'"),
    (lambda kind: kind(8, -1), ValueError, "d_ff = -1"),
    (lambda kind: kind(8, 8.0), TypeError, "d_ff = 8.0"),
    (lambda kind: kind(8, 8, "gelu"), TypeError, "activation = 'gelu': must be a function"),
    (lambda kind: kind(7, 8)(x), ValueError, "x.shape = (2, 3, 8): the last axis must be 7"),
    (lambda kind: kind(8, 8)(x.int()), TypeError, "x.dtype = torch.int32"),
    (lambda kind: kind(8, 8, dropout=0.1), TypeError, "dropout = 0.1: must be a module"),
]
BAD = [(lambda call=call, kind=kind: call(kind), error, text)
       for call, error, text in BAD for kind in KINDS]  # fmt: skip
BAD += [
    (lambda: two_thirds(0), ValueError, "d_ff = 0"),
    (lambda: two_thirds(10.5), TypeError, "d_ff = 10.5"),
    (lambda: two_thirds(10, 0), ValueError, "multiple_of = 0"),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[bad[2] for bad in BAD])
def test_bad_input_is_refused_by_name_and_value(call, error, text):
    refused(call, error, text)
