import math

import pytest
import torch
from torch import nn

from checker import refused
from pieces import masks
from pieces.attention import MultiHeadAttention
from pieces.feedforward import FeedForward, GatedFeedForward
from pieces.norms import LayerNorm, RMSNorm, layer_norm
from pieces.residual import (
    DeepNorm,
    PostNorm,
    PreNorm,
    Residual,
    SandwichNorm,
    branch,
    deepnorm_alpha_beta,
    deepnorm_init_,
)


def norm(D=6):
    """A norm whose weights are not 1, so that the norms of a test differ."""
    module = LayerNorm(D)
    nn.init.normal_(module.weight)
    nn.init.normal_(module.bias)
    return module


FAMILY = {
    "residual": lambda dropout=None: Residual(dropout),
    "post": lambda dropout=None: PostNorm(norm(), dropout),
    "pre": lambda dropout=None: PreNorm(norm(), dropout),
    "sandwich": lambda dropout=None: SandwichNorm(norm(), norm(), dropout),
    "deep": lambda dropout=None: DeepNorm(norm(), 2.5, dropout),
}
EQUATIONS = {
    "residual": lambda m, x, f: x + f(x),
    "post": lambda m, x, f: m.norm(x + f(x)),
    "pre": lambda m, x, f: x + f(m.norm(x)),
    "sandwich": lambda m, x, f: x + m.norm_out(f(m.norm_in(x))),
    "deep": lambda m, x, f: m.norm(2.5 * x + f(x)),
}


@pytest.mark.parametrize("name", FAMILY)
def test_each_is_its_equation(name, device):
    module, sublayer = FAMILY[name]().double().to(device), nn.Linear(6, 6).double().to(device)
    x = torch.randn(2, 3, 6, device=device).double()
    torch.testing.assert_close(module(x, sublayer), EQUATIONS[name](module, x, sublayer))


def test_a_sublayer_of_zeros_tells_the_placements_apart():
    x = torch.randn(2, 3, 6).double() * 3 + 1
    parts = {
        "residual": Residual(),
        "pre": PreNorm(LayerNorm(6)),
        "sandwich": SandwichNorm(LayerNorm(6), LayerNorm(6)),
        "post": PostNorm(LayerNorm(6)),
        "deep": DeepNorm(LayerNorm(6), 2.5),
    }
    results = {name: part.double()(x, torch.zeros_like) for name, part in parts.items()}
    for name in ("residual", "pre", "sandwich"):
        assert torch.equal(results[name], x)
    torch.testing.assert_close(results["post"], layer_norm(x))
    torch.testing.assert_close(results["deep"], layer_norm(2.5 * x))


def test_deep_norm_with_alpha_1_is_post_norm():
    post, deep, f = PostNorm(norm()), DeepNorm(norm(), 1.0), nn.Linear(6, 6)
    deep.load_state_dict(post.state_dict())
    x = torch.randn(2, 6)
    assert torch.equal(post(x, f), deep(x, f))


@pytest.mark.parametrize("name", FAMILY)
def test_dropout_falls_on_what_is_added(name):
    module, x = FAMILY[name](nn.Dropout(1.0)), torch.randn(2, 6)
    dropped = module(x, lambda y: torch.full_like(y, 7.0))
    if name in ("post", "deep"):
        torch.testing.assert_close(dropped, module.norm(x * (2.5 if name == "deep" else 1)))
    else:
        assert torch.equal(dropped, x)
    assert not torch.equal(module.eval()(x, lambda y: torch.full_like(y, 7.0)), dropped)


@pytest.mark.parametrize("name", FAMILY)
def test_dropout_is_applied_once(name):
    module, calls = FAMILY[name](nn.Dropout(0.5)), []
    module.dropout.register_forward_hook(lambda *_: calls.append(1))
    module(torch.randn(2, 6), nn.Linear(6, 6))
    assert len(calls) == 1


@pytest.mark.parametrize("name", FAMILY)
def test_options_reach_the_sublayer(name):
    attention, module = MultiHeadAttention(6, 2), FAMILY[name]()
    x, mask = torch.randn(2, 4, 6), masks.causal(4)
    masked = module(x, attention, mask=mask)
    assert torch.equal(masked, module(x, lambda y: attention(y, mask=mask)))
    assert not torch.equal(masked, module(x, attention))


@pytest.mark.parametrize("name", FAMILY)
def test_gradients_are_right(name, device):
    module, f = FAMILY[name]().double().to(device), nn.Linear(6, 6).double().to(device)
    x = torch.randn(2, 6, device=device).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: module(x, f).sin(), (x,))


def test_the_gradient_of_the_bare_connection_is_one_plus_the_sublayers():
    x, f = torch.randn(6).double(), nn.Linear(6, 6).double()
    jacobian = torch.autograd.functional.jacobian(lambda x: Residual()(x, f), x)
    torch.testing.assert_close(jacobian, torch.eye(6).double() + f.weight)
    dead = torch.autograd.functional.jacobian(lambda x: Residual()(x, torch.neg), x)
    assert (dead == 0).all(), "a residual connection promises no gradient"


def test_size_of_the_stream_with_depth():
    x = torch.randn(64, 32)
    maps = [nn.Linear(32, 32, bias=False) for _ in range(24)]
    for f in maps:
        nn.init.orthogonal_(f.weight)  # the gain of each is 1
    sizes = {}
    for name, make in {
        "residual": Residual,
        "pre": lambda: PreNorm(RMSNorm(32)),
        "sandwich": lambda: SandwichNorm(RMSNorm(32), RMSNorm(32)),
        "post": lambda: PostNorm(RMSNorm(32)),
    }.items():
        y = x
        for f in maps:
            y = make()(y, f)
        sizes[name] = y.square().mean().sqrt().item()
    assert sizes["residual"] == pytest.approx(2**12, rel=0.5)
    assert sizes["pre"] == pytest.approx(5, rel=0.2)  # sqrt(1 + 24)
    assert sizes["sandwich"] == pytest.approx(5, rel=0.2)
    assert sizes["post"] == pytest.approx(1, rel=1e-3)


# ---- DeepNorm's numbers


def test_deepnorm_numbers_of_one_part():
    (alpha, beta), none = deepnorm_alpha_beta(12, 0)
    assert none is None
    assert (alpha, beta) == pytest.approx((24**0.25, 96**-0.25))
    none, decoder = deepnorm_alpha_beta(0, 1000)
    assert none is None
    assert (round(decoder.alpha, 2), round(decoder.beta, 3)) == (6.69, 0.106)


def test_deepnorm_numbers_of_encoder_and_decoder():
    encoder, decoder = deepnorm_alpha_beta(18, 6)
    log = 4 * math.log(18) + math.log(6)
    assert encoder == pytest.approx((0.81 * math.exp(log / 16), 0.87 * math.exp(-log / 16)))
    assert decoder == pytest.approx((18**0.25, 72**-0.25))


def test_deepnorm_init_scales_what_the_paper_scales():
    block = nn.ModuleDict(
        {
            "attention": MultiHeadAttention(64, 4, bias=True),
            "ffn": FeedForward(64, 128),
            "gated": GatedFeedForward(64, 128),
            "head": nn.Linear(64, 64),
        }
    )
    head, norm_weights = block["head"].weight.clone(), LayerNorm(3)
    deepnorm_init_(block, 0.1)
    layers = {n: m for n, m in block.named_modules() if isinstance(m, nn.Linear)}
    for name, layer in layers.items():
        fans = sum(layer.weight.shape)
        gain = layer.weight.std().item() / math.sqrt(2 / fans)
        small = name.rpartition(".")[2] not in ("query", "key", "head")
        if name != "head":
            assert gain == pytest.approx(0.1 if small else 1.0, rel=0.1), name
            assert layer.bias is None or (layer.bias == 0).all()
    assert torch.equal(block["head"].weight, head)
    assert (norm_weights.weight == 1).all()


# ---- as parts of a model


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", FAMILY)
def test_half_precision_stays_finite(name, dtype, device):
    module, f = FAMILY[name]().to(device, dtype), nn.Linear(6, 6).to(device, dtype)
    x = torch.randn(2, 6, device=device, dtype=dtype) * 100
    y = module(x, f)
    assert y.dtype == dtype
    assert y.isfinite().all()


@pytest.mark.parametrize("name", FAMILY)
def test_state_dict_round_trip(name):
    ours, other, x, f = FAMILY[name](), FAMILY[name](), torch.randn(2, 6), nn.Linear(6, 6)
    other.load_state_dict(ours.state_dict())
    assert torch.equal(ours(x, f), other(x, f))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", ["sandwich"])
def test_compiles_to_one_graph_and_exports(name):
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.residual, self.attention = FAMILY[name](), MultiHeadAttention(6, 2)

        def forward(self, x):
            return self.residual(x, self.attention, mask=masks.causal(x.shape[1]))

    module = Layer()
    torch.compiler.reset()
    compiled = torch.compile(module, fullgraph=True, dynamic=True, backend="eager")
    x = torch.randn(2, 7, 6)
    torch.testing.assert_close(compiled(x), module(x))
    shapes = {"x": {1: torch.export.Dim("T", min=2, max=64)}}
    exported = torch.export.export(module, (torch.randn(2, 5, 6),), dynamic_shapes=shapes)
    torch.testing.assert_close(exported.module()(x), module(x))


x = torch.randn(2, 3, 6)
BAD = [
    (lambda: PostNorm(6), TypeError, "norm = 6: must be a module"),
    (lambda: PreNorm(LayerNorm), TypeError, "norm = <class"),
    (lambda: SandwichNorm(6, norm()), TypeError, "norm_in = 6"),
    (lambda: SandwichNorm(norm(), None), TypeError, "norm_out = None"),
    (lambda: DeepNorm("n", 1.0), TypeError, "norm = 'n'"),
    (lambda: DeepNorm(norm(), 0), ValueError, "alpha = 0: must be above 0"),
    (lambda: DeepNorm(norm(), "2"), TypeError, "alpha = '2'"),
    (lambda: Residual(0.1), TypeError, "dropout = 0.1: must be a module"),
    (lambda: PostNorm(norm(), 0.1), TypeError, "dropout = 0.1"),
    (lambda: branch(x, lambda y: (y, y), {}), TypeError, "sublayer(x) = 'tuple': must return one"),
    (lambda: branch(x, lambda y: y[..., :1], {}), ValueError, "sublayer(x).shape = (2, 3, 1)"),
    (lambda: Residual()(x, lambda y: y[:1]), ValueError, "sublayer(x).shape = (1, 3, 6)"),
    (lambda: PreNorm(norm())(x, lambda y: None), TypeError, "sublayer(x) = 'NoneType'"),
    (lambda: PreNorm(norm(5))(x, torch.relu), ValueError, "x.shape = (2, 3, 6)"),
    (lambda: deepnorm_alpha_beta(-1, 2), ValueError, "n_encoder_layers = -1: must be at least 0"),
    (lambda: deepnorm_alpha_beta(1, 2.0), TypeError, "n_decoder_layers = 2.0"),
    (lambda: deepnorm_alpha_beta(0, 0), ValueError, "n_encoder_layers, n_decoder_layers = (0, 0)"),
    (lambda: deepnorm_init_(norm(), 0.1), ValueError, "module = 'LayerNorm': must contain"),
    (lambda: deepnorm_init_(FeedForward(2, 2), -1), ValueError, "beta = -1"),
    (lambda: deepnorm_init_(FeedForward(2, 2), None), TypeError, "beta = None"),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[bad[2] for bad in BAD])
def test_bad_input_is_refused_by_name_and_value(call, error, text):
    refused(call, error, text)
