"""The protocol, what is added and what biases. Rotary has a file of its own."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import lazily
from checker import refused
from pieces import masks
from pieces.attention import CachedAttention, attention
from pieces.positions import (
    ALiBi,
    DynamicNTK,
    Learned,
    PositionalEncoding,
    Rotary,
    Sinusoidal,
    T5Buckets,
    TransformerXLRelative,
    YaRN,
    alibi_slopes,
    key_positions,
    relative_shift,
    t5_bucket,
)

hf = lazily.Module("transformers")
bloom = lazily.Module("transformers.models.bloom.modeling_bloom")
mpt = lazily.Module("transformers.models.mpt.modeling_mpt")
t5 = lazily.Module("transformers.models.t5.modeling_t5")
xlnet = lazily.Module("transformers.models.xlnet.modeling_xlnet")

ENCODINGS = {
    "added sinusoidal": lambda: Sinusoidal(8),
    "added learned": lambda: Learned(50, 8),
    "rotating": lambda: Rotary(2),
    "biasing xl": lambda: TransformerXLRelative(8, 4),
    "biasing t5": lambda: T5Buckets(4, 8, 20),
    "biasing alibi": lambda: ALiBi(4),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_each_encoding_acts_in_exactly_one_place(name, device):
    encoding = ENCODINGS[name]().to(device)
    x, positions = torch.randn(2, 5, 8, device=device), torch.arange(5, device=device)
    q, k = torch.randn(2, 4, 5, 2, device=device), torch.randn(2, 2, 5, 2, device=device)
    assert isinstance(encoding, PositionalEncoding)
    places = set()
    if encoding.add(x, positions) is not x:
        places.add("added")
    if any(a is not b for a, b in zip(encoding.rotate(q, k, positions), (q, k), strict=True)):
        places.add("rotating")
    if encoding.bias(q, k, positions) is not None:
        places.add("biasing")
    assert places == {name.split()[0]}
    overridden = {"add", "rotate", "bias"} & set(vars(type(encoding)))
    assert len(overridden) == 1


def test_the_base_does_nothing():
    x, q = torch.randn(1, 3, 4), torch.randn(1, 2, 3, 2)
    base = PositionalEncoding()
    assert base.add(x, torch.arange(3)) is x
    assert base.rotate(q, q, torch.arange(3)) == (q, q)
    assert base.bias(q, q, torch.arange(3)) is None


def test_keys_stand_right_before_the_queries():
    assert key_positions(torch.tensor([3, 9]), 2).tolist() == [3, 9]
    assert key_positions(torch.tensor([4, 5]), 5).tolist() == [1, 2, 3, 4, 5]
    left_padded = torch.tensor([[2], [5]])
    assert key_positions(left_padded, 4).tolist() == [[-1, 0, 1, 2], [2, 3, 4, 5]]


# ---- added


@pytest.mark.parametrize("d_model", [1, 2, 15, 16])
def test_sinusoidal_is_its_equation(d_model):
    positions = [0, 1, 7, 4999, 5000, 1_000_000]
    codes = Sinusoidal(d_model)(torch.tensor(positions), torch.float64)
    for row, p in zip(codes.tolist(), positions, strict=True):
        for column, value in enumerate(row):
            angle = p / 10000 ** (column // 2 * 2 / d_model)
            expected = math.sin(angle) if column % 2 == 0 else math.cos(angle)
            assert value == pytest.approx(expected, abs=1e-9)


def test_sinusoidal_is_exact_in_float32_however_late_the_position():
    late = torch.tensor([10_000_000])
    exact, rounded = Sinusoidal(64)(late, torch.float64), Sinusoidal(64)(late)
    torch.testing.assert_close(rounded.double(), exact, rtol=0, atol=1e-7)


@given(st.integers(0, 5000), st.integers(0, 5000), st.integers(0, 300))
def test_a_step_is_a_rotation_and_distances_depend_on_the_step_only(p, other, step):
    codes = Sinusoidal(32)(torch.tensor([p, p + step, other, other + step]), torch.float64)
    first = (codes[0] - codes[1]).norm()
    torch.testing.assert_close(first, (codes[2] - codes[3]).norm(), rtol=0, atol=1e-9)
    if step > 0:
        assert first > 0.9, "the fastest pair alone tells neighbours apart"


def test_sinusoidal_adds_and_has_no_state(device):
    x, encoding = torch.randn(2, 3, 6, device=device), Sinusoidal(6)
    left_padded = torch.tensor([[0, 0, 1], [0, 1, 2]], device=device)
    expected = x + encoding(torch.arange(3, device=device))[left_padded]
    torch.testing.assert_close(encoding.add(x, left_padded), expected)
    assert not encoding.state_dict()
    assert encoding.add(x.bfloat16(), left_padded).dtype == torch.bfloat16


def test_learned_is_a_table_with_an_end(device):
    encoding = Learned(5, 4).to(device)
    x, positions = torch.randn(1, 3, 4, device=device), torch.tensor([4, 0, 2], device=device)
    torch.testing.assert_close(encoding.add(x, positions), x + encoding.weight[[4, 0, 2]])
    assert set(encoding.state_dict()) == {"weight"}
    assert encoding.weight.std() < 0.1


# ---- ALiBi


@pytest.mark.parametrize("n_heads", [1, 2, 3, 5, 6, 8, 12, 16, 20, 31, 112])
def test_alibi_agrees_with_bloom_for_any_number_of_heads(n_heads):
    attention_mask = torch.ones(2, 9)
    theirs = bloom.build_alibi_tensor(attention_mask, n_heads, torch.float32).view(2, n_heads, 1, 9)
    torch.testing.assert_close(alibi_slopes(n_heads), theirs[0, :, 0, 1], rtol=1e-5, atol=0)
    q, k, v = torch.randn(3, 2, n_heads, 9, 4).double()
    mask = masks.causal(9)
    ours, _ = attention(q, k, v, mask=mask, bias=ALiBi(n_heads).bias(q, k, torch.arange(9)))
    expected, _ = attention(q, k, v, mask=mask, bias=theirs)
    torch.testing.assert_close(ours, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("n_heads", [4, 6, 12])
@pytest.mark.parametrize("steepest", [8, 5.0])
def test_alibi_agrees_with_mpt(n_heads, steepest):
    theirs = mpt.build_mpt_alibi_tensor(n_heads, 7, alibi_bias_max=steepest)
    last = ALiBi(n_heads, steepest=steepest)(torch.tensor([6]), torch.arange(7))
    torch.testing.assert_close(last[0], theirs, rtol=1e-5, atol=0)


def test_alibi_of_twelve_heads_is_not_the_formula_of_the_paper():
    halves = [2.0**-h for h in range(1, 9)] + [2.0 ** -(h + 0.5) for h in range(4)]
    torch.testing.assert_close(alibi_slopes(12), torch.tensor(halves))
    torch.testing.assert_close(alibi_slopes(8), torch.tensor(halves[:8]))


def test_adding_m_j_is_right_only_under_a_causal_mask():
    q, k, v = torch.randn(3, 1, 4, 6, 4)
    ours, shortcut = ALiBi(4)(torch.arange(6)), alibi_slopes(4)[:, None, None] * torch.arange(6)
    for mask, equal in ((masks.causal(6), True), (None, False)):
        a, b = (attention(q, k, v, mask=mask, bias=bias[None].view(1, 4, -1, 6))[0]
                for bias in (ours[0], shortcut))  # fmt: skip
        assert torch.allclose(a, b, atol=1e-5) is equal


def test_alibi_keeps_every_distance_apart_in_float32_and_is_symmetric():
    bias = ALiBi(12)(torch.tensor([8191]), torch.arange(8192))
    assert bias.dtype == torch.float32
    assert all(row.unique().numel() == 8192 for row in bias[0, :, 0])
    square = ALiBi(3)(torch.arange(5))
    assert torch.equal(square, square.mT)
    assert (square.diagonal(dim1=-2, dim2=-1) == 0).all()


# ---- T5


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(
    ("num_buckets", "max_distance"), [(32, 128), (8, 20), (33, 100), (4, 5), (6, 1000), (128, 256)]
)
def test_t5_buckets_agree_with_transformers_far_beyond_the_limit(
    num_buckets, max_distance, bidirectional
):
    relative = torch.arange(-3000, 3001)
    if not bidirectional and num_buckets // 2 >= max_distance:
        max_distance = num_buckets
    ours = t5_bucket(relative, num_buckets, max_distance, bidirectional=bidirectional)
    theirs = t5.T5Attention._relative_position_bucket(
        relative, bidirectional, num_buckets, max_distance
    )
    assert torch.equal(ours, theirs)
    assert ours.min() >= 0
    assert ours.max() < num_buckets


@pytest.mark.parametrize("is_decoder", [True, False])
@pytest.mark.parametrize(("T", "S"), [(1, 1), (7, 7), (1, 60), (9, 45)])
def test_t5_bias_agrees_with_transformers(T, S, is_decoder):
    config = hf.T5Config(
        d_model=12,
        num_heads=3,
        d_kv=4,
        relative_attention_num_buckets=8,
        relative_attention_max_distance=20,
        is_decoder=is_decoder,
    )
    theirs = t5.T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    ours = T5Buckets(3, 8, 20, bidirectional=not is_decoder)
    with torch.no_grad():
        nn.init.normal_(theirs.relative_attention_bias.weight)
        ours.weight.copy_(theirs.relative_attention_bias.weight)
    expected = theirs.compute_bias(T, S, past_seen_tokens=S - T)
    q, k = torch.randn(2, 3, T, 4), torch.randn(2, 3, S, 4)
    torch.testing.assert_close(ours.bias(q, k, torch.arange(S - T, S)), expected)
    left_padded = torch.arange(S - T, S) - torch.tensor([[0], [5]])
    torch.testing.assert_close(ours.bias(q, k, left_padded), expected.expand(2, 3, T, S))


# ---- Transformer-XL


def xl(d_model, n_heads, head_dim, device="cpu"):
    encoding = TransformerXLRelative(d_model, n_heads, head_dim).double().to(device)
    nn.init.normal_(encoding.u)
    nn.init.normal_(encoding.v)
    return encoding


@pytest.mark.parametrize(("H", "G"), [(1, 1), (4, 2), (3, 1), (3, 3)])
@pytest.mark.parametrize(("T", "S"), [(1, 1), (1, 6), (5, 5), (3, 8)])
def test_transformer_xl_is_its_four_terms(H, G, T, S, device):
    encoding = xl(6, H, 5, device)
    q = torch.randn(2, H, T, 5, device=device).double()
    k = torch.randn(2, G, S, 5, device=device).double()
    v = torch.randn(2, G, S, 3, device=device).double()
    bias = encoding.bias(q, k, torch.arange(S - T, S, device=device))
    scores = torch.empty(2, H, T, S).double()
    code = Sinusoidal(6)
    for b, h, i, j in [
        (b, h, i, j) for b in range(2) for h in range(H) for i in range(T) for j in range(S)
    ]:
        distance = torch.tensor([S - T + i - j], device=device)
        r = encoding.relative(code(distance, torch.float64)).view(H, 5)[h]
        key = k[b, h // (H // G), j]
        content = (q[b, h, i] + encoding.u[h]) @ key
        scores[b, h, i, j] = ((content + (q[b, h, i] + encoding.v[h]) @ r) / 5**0.5).item()
    expected = scores.to(device).softmax(dim=-1) @ v.repeat_interleave(H // G, dim=1)
    torch.testing.assert_close(attention(q, k, v, bias=bias)[0], expected)


def test_transformer_xl_agrees_with_xlnet():
    config = hf.XLNetConfig(d_model=12, n_head=3, d_head=4, d_inner=8)
    theirs, ours = xlnet.XLNetRelativeAttention(config).double().eval(), xl(12, 3, 4)
    with torch.no_grad():
        for parameter in theirs.parameters():
            nn.init.normal_(parameter)
        theirs.r_w_bias.copy_(ours.u)
        theirs.r_r_bias.copy_(ours.v)
    T, S = 4, 7
    q, k, v = (torch.randn(2, 3, n, 4).double() for n in (T, S, S))
    k_of_distance = ours(T, S)[:, None].expand(3, 2, T + S, 4)
    as_theirs = [x.permute(2, 0, 1, 3) for x in (q, k, v)]
    # theirs begins one distance earlier, at S, which no pair has
    k_of_distance = k_of_distance.roll(1, dims=2).permute(2, 1, 0, 3)
    expected = theirs.rel_attn_core(*as_theirs, k_of_distance)
    output, _ = attention(q, k, v, bias=ours.bias(q, k, torch.arange(S - T, S)))
    torch.testing.assert_close(output, expected.permute(1, 2, 0, 3))


@given(st.integers(1, 7), st.integers(0, 7))
def test_relative_shift_takes_each_distance_to_its_key(T, older):
    S = T + older
    distances = torch.arange(S - 1, -T - 1, -1.0).expand(2, T, T + S)
    shifted = relative_shift(distances, S)
    assert torch.equal(shifted, masks.lag(T, S).float().expand(2, T, S))


# ---- all of them, inside attention


@pytest.mark.parametrize("name", list(ENCODINGS)[2:])
def test_inside_attention_only_distances_count(name, device):
    encoding = ENCODINGS[name]().to(device)
    module = CachedAttention(8, 4, position=encoding).double().to(device)
    x, positions = torch.randn(2, 6, 8, device=device).double(), torch.arange(6, device=device)
    output = module(x)
    torch.testing.assert_close(module(x, positions=positions), output)
    torch.testing.assert_close(module(x, positions=positions + 1000), output)
    shifted = positions + torch.tensor([[3], [-70]], device=device)
    torch.testing.assert_close(module(x, positions=shifted), output)
    explicit, _ = module(x, return_weights=True)
    torch.testing.assert_close(explicit, output)
    order = torch.randperm(6)
    assert not torch.allclose(module(x[:, order]), output[:, order]), "order must count"


@pytest.mark.parametrize("name", list(ENCODINGS)[2:])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_near_and_finite(name, dtype, device):
    module = CachedAttention(8, 4, position=ENCODINGS[name]()).to(device)
    x = torch.randn(2, 60, 8, device=device)
    expected = module(x)
    half = module.to(dtype)(x.to(dtype))
    assert half.dtype == dtype
    torch.testing.assert_close(half.float(), expected, rtol=0.1, atol=0.1)


@pytest.mark.parametrize("name", list(ENCODINGS)[2:])
def test_a_bias_of_the_caller_is_added_to_that_of_the_encoding(name, device):
    encoding = ENCODINGS[name]().to(device)
    module = CachedAttention(8, 4, position=encoding).to(device)
    x, mask = torch.randn(2, 5, 8, device=device), masks.causal(5, device=device)
    as_bias = masks.to_additive(mask)
    torch.testing.assert_close(module(x, bias=as_bias), module(x, mask=mask))


def test_parameters_of_an_encoding_are_trained_and_saved():
    for encoding, names in ((T5Buckets(4), {"weight"}), (xl(8, 4, 2), {"u", "v", "relative"})):
        module = CachedAttention(8, 4, position=encoding).float()
        module(torch.randn(1, 5, 8)).square().sum().backward()
        saved = {key.split(".")[1] for key in module.state_dict() if key.startswith("position.")}
        assert saved == names
        assert all(p.grad is not None and p.grad.any() for p in encoding.parameters())


class Model(nn.Module):
    """Positions made inside forward from the length, as models do."""

    def __init__(self, encoding, head_dim=2):
        super().__init__()
        self.encoding = encoding
        self.attention = CachedAttention(8, 4, head_dim=head_dim, position=encoding)

    def forward(self, x):
        positions = torch.arange(x.shape[1], device=x.device)
        x = self.encoding.add(x, positions)
        return self.attention(x, positions=positions)


SCALED = {
    f"rotating {type(scaling).__name__}": lambda scaling=scaling: Rotary(4, scaling=scaling)
    for scaling in (DynamicNTK(2.0, 8), YaRN(2.0, 8))
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", [*ENCODINGS, *SCALED])
def test_compiles_to_one_graph_and_exports_with_a_free_length(name):
    head_dim = 4 if name in SCALED else 2
    model = Model((ENCODINGS | SCALED)[name](), head_dim)
    torch.compiler.reset()  # its limit of recompilations counts all tests together
    compiled = torch.compile(model, fullgraph=True, dynamic=True, backend="eager")
    T = torch.export.Dim("T", min=2, max=40)
    exported = torch.export.export(model, (torch.randn(1, 5, 8),), dynamic_shapes=({1: T},))
    for length in (5, 12):
        x = torch.randn(1, length, 8)
        torch.testing.assert_close(compiled(x), model(x))
        torch.testing.assert_close(exported.module()(x), model(x))


# ---- errors

x, q, k = torch.randn(2, 3, 8), torch.randn(2, 4, 3, 2), torch.randn(2, 4, 5, 2)
now = torch.arange(3)
BAD = [
    (lambda: Sinusoidal(0), ValueError, "d_model = 0"),
    (lambda: Sinusoidal(8.0), TypeError, "d_model = 8.0"),
    (lambda: Sinusoidal(8, base=0.0), ValueError, "base = 0.0"),
    (lambda: Sinusoidal(8, base="10000"), TypeError, "base = '10000'"),
    (lambda: Sinusoidal(8)(now.float()), TypeError, "positions.dtype = torch.float32"),
    (lambda: Sinusoidal(8)(now[None, None]), ValueError, "positions.shape = (1, 1, 3)"),
    (lambda: Sinusoidal(8).add(x, torch.arange(4)), ValueError, "positions.shape = (4,)"),
    (lambda: Sinusoidal(8).add(x, now.expand(3, 3)), ValueError, "positions.shape = (3, 3)"),
    (lambda: Learned(9, 8).add(x[:1], now.expand(2, 3)), ValueError, "positions.shape = (2, 3)"),
    (
        lambda: CachedAttention(8, 4, position=ALiBi(4))(x, positions=now.expand(3, 3)),
        ValueError,
        "positions.shape = (3, 3)",
    ),
    (lambda: Sinusoidal(8).add(x[..., :7], now), ValueError, "embeddings.shape = (2, 3, 7)"),
    (lambda: Sinusoidal(8).add(x.long(), now), TypeError, "embeddings.dtype = torch.int64"),
    (lambda: Learned(0, 8), ValueError, "max_seq_len = 0"),
    (lambda: Learned(8, None), TypeError, "d_model = None"),
    (lambda: Learned(3, 8)(torch.arange(4)), ValueError, "positions = '0 .. 3': must be in 0 .. 2"),
    (lambda: Learned(3, 8)(now - 1), ValueError, "positions = '-1 .. 1': must be in 0 .. 2"),
    (lambda: Learned(3, 8)(now > 1), TypeError, "positions.dtype = torch.bool"),
    (lambda: Learned(2, 8).add(x, now), ValueError, "positions = '0 .. 2'"),
    (lambda: Learned(9, 8).add(x, now[:2]), ValueError, "positions.shape = (2,)"),
    (lambda: Learned(9, 6).add(x, now), ValueError, "embeddings.shape = (2, 3, 8)"),
    (lambda: alibi_slopes(0), ValueError, "n_heads = 0"),
    (lambda: alibi_slopes(4, steepest=-1), ValueError, "steepest = -1"),
    (lambda: ALiBi(2.5), TypeError, "n_heads = 2.5"),
    (lambda: ALiBi(4, steepest=0), ValueError, "steepest = 0"),
    (lambda: ALiBi(4)(now.float()), TypeError, "queries.dtype = torch.float32"),
    (lambda: ALiBi(4)(now, now.view(1, 1, 3)), ValueError, "keys.shape = (1, 1, 3)"),
    (lambda: ALiBi(3).bias(q, k, now), ValueError, "q.shape = (2, 4, 3, 2): axis 1 must be 3"),
    (lambda: T5Buckets(0), ValueError, "n_heads = 0"),
    (lambda: T5Buckets(4, 3), ValueError, "num_buckets = 3: must be at least 4"),
    (lambda: T5Buckets(4, 1, bidirectional=False), ValueError, "num_buckets = 1"),
    (lambda: T5Buckets(4, 32, 8), ValueError, "max_distance = 8: must be above 8"),
    (lambda: T5Buckets(4)(now.float()), TypeError, "queries.dtype = torch.float32"),
    (lambda: T5Buckets(3).bias(q, k, now), ValueError, "q.shape = (2, 4, 3, 2): axis 1 must be"),
    (lambda: TransformerXLRelative(8, 3), ValueError, "n_heads = 3: must divide d_model = 8"),
    (lambda: TransformerXLRelative(8, 3, 0), ValueError, "head_dim = 0"),
    (lambda: TransformerXLRelative(8, 4).bias(q[:, :3], k, now), ValueError, "q.shape = (2, 3, 3"),
    (lambda: TransformerXLRelative(8, 4).bias(k, q, now), ValueError, "positions.shape = (3,)"),
    (lambda: CachedAttention(8, 4)(x, positions=now), ValueError, "positions = 'given'"),
    (
        lambda: CachedAttention(8, 4, position=ALiBi(4))(x, bias=torch.ones(4, 3, 3)),
        ValueError,
        "bias.shape = (4, 3, 3)",
    ),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[bad[2] for bad in BAD])
def test_bad_input_is_refused_by_name_and_value(call, error, text):
    refused(call, error, text)
