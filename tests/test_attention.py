import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from checker import refused
from pieces import masks
from pieces.attention import (
    AttentionCore,
    CausalCore,
    MultiHeadAttention,
    SingleHeadAttention,
    attention,
    flash_attention,
    fused_attention,
    masked_softmax,
    merge_heads,
    share_heads,
    split_heads,
)
from pieces.scores import AdditiveScore, BilinearScore, dot, scaled_dot

# B, H, G, T, S, K, Kv: odd sizes, one of each, groups of 1, 2, 3 and H
SHAPES = [
    (1, 1, 1, 1, 1, 1, 1),
    (1, 1, 1, 1, 7, 3, 5),
    (2, 3, 3, 7, 1, 5, 5),
    (2, 4, 2, 5, 5, 4, 4),
    (3, 6, 2, 3, 7, 5, 2),
    (2, 5, 1, 4, 6, 3, 3),
]


def make(shape, dtype=torch.float64, device="cpu", grad=False):
    B, H, G, T, S, K, Kv = shape
    sizes = [(B, H, T, K), (B, G, S, K), (B, G, S, Kv)]
    return [torch.randn(size, dtype=dtype, device=device, requires_grad=grad) for size in sizes]


def reference(q, k, v, mask, bias):
    """Attention by loops over single numbers."""
    (B, H, T, K), (_, G, S, Kv) = q.shape, v.shape
    mask, bias = mask.expand(B, H, T, S).tolist(), bias.expand(B, H, T, S).tolist()
    output, weights = torch.zeros(B, H, T, Kv).double(), torch.zeros(B, H, T, S).double()
    for b, h, t in [(b, h, t) for b in range(B) for h in range(H) for t in range(T)]:
        g = h // (H // G)
        raised = {}
        for s in range(S):
            if mask[b][h][t][s]:
                product = sum(float(q[b, h, t, i] * k[b, g, s, i]) for i in range(K))
                raised[s] = math.exp(product / math.sqrt(K) + bias[b][h][t][s])
        for s, value in raised.items():
            weights[b, h, t, s] = value / sum(raised.values())
            output[b, h, t] += weights[b, h, t, s] * v[b, g, s]
    return output, weights


def random_mask(shape, seed=0, blind_row=True):
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.6
    if blind_row:
        mask[..., -1, :] = False
    return mask


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("per_head", [False, True])
def test_attention_is_its_equation(shape, per_head, device):
    q, k, v = make(shape)
    B, H, _, T, S, _, _ = shape
    stretched = (B, H, T, S) if per_head else (T, S)
    mask, bias = random_mask(stretched, blind_row=T > 1), torch.randn(stretched).double()
    output, weights = attention(
        *(x.to(device) for x in (q, k, v)), mask=mask.to(device), bias=bias.to(device)
    )
    expected_output, expected_weights = reference(q, k, v, mask, bias)
    torch.testing.assert_close(output.cpu(), expected_output, rtol=0, atol=1e-12)
    torch.testing.assert_close(weights.cpu(), expected_weights, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("masked", [False, True])
def test_both_paths_agree_with_torch(shape, masked, device):
    q, k, v = make(shape, torch.float32, device)
    mask = masks.full(*shape[3:5], device=device) if masked else None
    if masked and shape[3] <= shape[4]:
        mask = masks.causal(*shape[3:5], device=device)
    theirs = F.scaled_dot_product_attention(
        q, *(x.repeat_interleave(shape[1] // shape[2], dim=1) for x in (k, v)), attn_mask=mask
    )
    torch.testing.assert_close(attention(q, k, v, mask=mask)[0], theirs, rtol=0, atol=1e-5)
    torch.testing.assert_close(fused_attention(q, k, v, mask=mask), theirs, rtol=0, atol=1e-5)


@st.composite
def problems(draw):
    """Shapes, a mask and a bias of any allowed form, blind rows and -inf in the bias included."""
    B, G, n, T, S, K, Kv = (draw(st.integers(1, top)) for top in (3, 3, 3, 6, 6, 5, 5))
    forms = st.sampled_from([(T, S), (1, S), (B, 1, 1, S), (1, G * n, T, S), (B, G * n, T, S)])
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10_000)))
    mask = bias = None
    if draw(st.booleans()):
        mask = torch.rand(draw(forms), generator=generator) < draw(st.sampled_from([0.1, 0.7]))
    if draw(st.booleans()):
        bias = torch.randn(draw(forms), generator=generator).double()
        hidden = torch.rand(bias.shape, generator=generator) < draw(st.sampled_from([0.0, 0.7]))
        bias = bias.masked_fill(hidden, -torch.inf)
    return (B, G * n, G, T, S, K, Kv), mask, bias


@settings(max_examples=150)
@given(problems())
def test_explicit_equals_fused_with_gradients(device, problem):
    shape, mask, bias = problem
    mask, bias = (None if x is None else x.to(device) for x in (mask, bias))
    explicit = make(shape, device=device, grad=True)
    fused = [x.detach().clone().requires_grad_() for x in explicit]
    output, weights = attention(*explicit, mask=mask, bias=bias)
    fused_output = fused_attention(*fused, mask=mask, bias=bias)
    torch.testing.assert_close(fused_output, output, rtol=0, atol=1e-10)
    direction = torch.randn_like(output)
    for out in (output, fused_output):
        (out * direction).sum().backward()
    for ours, theirs in zip(explicit, fused, strict=True):
        assert ours.grad.isfinite().all()
        torch.testing.assert_close(theirs.grad, ours.grad, rtol=0, atol=1e-10)
    sums = weights.detach().sum(dim=-1)
    assert (((sums - 1).abs() < 1e-12) | (sums == 0)).all()
    seen = masks.full(*shape[3:5], device=device) if mask is None else mask
    seen = seen if bias is None else seen & (bias > -torch.inf)
    blind = ~seen.any(dim=-1).expand(sums.shape)
    assert torch.equal(sums == 0, blind)
    assert (output[blind] == 0).all()
    assert (weights[~seen.expand(weights.shape)] == 0).all()


@settings(max_examples=25)
@given(problems())
def test_bias_gradient_is_the_same_in_both_paths(device, problem):
    shape, mask, _ = problem
    mask = None if mask is None else mask.to(device)
    q, k, v = make(shape, device=device)
    bias = torch.randn(shape[3:5], device=device).double().requires_grad_()
    (ours,) = torch.autograd.grad(attention(q, k, v, mask=mask, bias=bias)[0].sum(), bias)
    (theirs,) = torch.autograd.grad(fused_attention(q, k, v, mask=mask, bias=bias).sum(), bias)
    torch.testing.assert_close(theirs, ours, rtol=0, atol=1e-10)


@pytest.mark.parametrize("path", ["explicit", "fused"])
def test_gradients_are_right_with_a_blind_row(path, device):
    inputs = make((1, 4, 2, 3, 4, 2, 3), device=device, grad=True)
    inputs.append(torch.randn(3, 4, device=device).double().requires_grad_())
    mask = random_mask((3, 4)).to(device)

    def run(q, k, v, bias):
        if path == "fused":
            return fused_attention(q, k, v, mask=mask, bias=bias)
        return attention(q, k, v, mask=mask, bias=bias)

    assert torch.autograd.gradcheck(run, inputs)


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("hide", ["mask", "bias"])
def test_no_nan_arises_on_the_way(hide):
    scores = torch.randn(2, 3, 4, requires_grad=True)
    mask = random_mask((3, 4))
    with torch.autograd.detect_anomaly(check_nan=True):
        if hide == "mask":
            weights = masked_softmax(scores, mask)
        else:
            weights = masked_softmax(scores + masks.to_additive(mask))
        weights.square().sum().backward()
    assert (weights[:, -1] == 0).all()
    assert (scores.grad[:, -1] == 0).all()
    assert scores.grad.isfinite().all()


def test_masked_softmax_is_softmax_and_hides_before_it():
    scores, mask = torch.randn(2, 3, 4), masks.causal(3, 4)
    assert torch.equal(masked_softmax(scores), scores.softmax(dim=-1))
    weights = masked_softmax(scores, mask)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 3))
    assert (weights[:, ~mask] == 0).all()
    after = scores.softmax(dim=-1) * mask
    torch.testing.assert_close(weights, after / after.sum(dim=-1, keepdim=True))
    assert masked_softmax(torch.full((1, 2), torch.nan)).isnan().all(), "a NaN is not hidden"


# ---- the modules


MASKS = {
    "none": None,
    "full": masks.full(7),
    "causal": masks.causal(7),
    "window": masks.sliding_window(7, 3),
    "window 1": masks.sliding_window(7, 1),
    "dilated": masks.dilated(7, 3, 2),
    "global": masks.global_window(7, 2, 1),
    "prefix": masks.prefix(7, 3),
    "right padding": masks.padding([7, 4], 7),
    "left padding": masks.padding([7, 4], 7, side="left"),
    "causal & padding": masks.causal(7) & masks.padding([7, 4], 7, side="left"),
}


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("return_weights", [False, True])
@pytest.mark.parametrize("n_kv_heads", [4, 2, 1])
def test_a_query_moves_with_a_key_if_and_only_if_it_sees_it(
    name, return_weights, n_kv_heads, device
):
    module = MultiHeadAttention(8, 4, n_kv_heads=n_kv_heads).to(device).double()
    mask = MASKS[name]
    seen = (masks.full(7) if mask is None else mask).expand(2, 1, 7, 7)[:, 0]
    mask = None if mask is None else mask.to(device)
    x, context = torch.randn(2, 2, 7, 8, device=device).double()

    def run(context):
        result = module(x, context=context, mask=mask, return_weights=return_weights)
        return result[0] if return_weights else result

    before = run(context)
    for b, j in [(b, j) for b in range(2) for j in range(7)]:
        moved = context.clone()
        moved[b, j] += torch.randn(8, device=device)
        change = (run(moved) - before).abs().amax(dim=-1).cpu()
        assert torch.equal(change[b] > 0, seen[b, :, j])
        assert (change[1 - b] == 0).all(), "sequences of a batch must not mix"


@pytest.mark.parametrize("return_weights", [False, True])
def test_without_a_mask_order_does_not_matter(return_weights, device):
    module = MultiHeadAttention(12, 3, n_kv_heads=1).to(device).double()
    x, order = torch.randn(2, 5, 12, device=device).double(), torch.randperm(5)

    def run(x):
        result = module(x, return_weights=return_weights)
        return result[0] if return_weights else result

    torch.testing.assert_close(run(x[:, order]), run(x)[:, order])


def copy_of_torch(theirs, d_context=None):
    """Our module with the weights of nn.MultiheadAttention."""
    d_model, bias = theirs.embed_dim, theirs.in_proj_bias is not None
    ours = MultiHeadAttention(d_model, theirs.num_heads, d_context=d_context, bias=bias)
    if theirs.in_proj_weight is None:
        parts = [theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight]
    else:
        parts = theirs.in_proj_weight.chunk(3)
    with torch.no_grad():
        for layer, weight in zip((ours.query, ours.key, ours.value), parts, strict=True):
            layer.weight.copy_(weight)
        ours.output.weight.copy_(theirs.out_proj.weight)
        if bias:
            torch.nn.init.normal_(theirs.in_proj_bias)  # torch starts it at 0, which proves nothing
            torch.nn.init.normal_(theirs.out_proj.bias)
            chunks = theirs.in_proj_bias.chunk(3)
            for layer, part in zip((ours.query, ours.key, ours.value), chunks, strict=True):
                layer.bias.copy_(part)
            ours.output.bias.copy_(theirs.out_proj.bias)
    return ours.to(theirs.out_proj.weight.device)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", ["none", "causal", "window", "right padding", "causal & padding"])
def test_agrees_with_torch_multihead_attention(name, bias, device):
    theirs = nn.MultiheadAttention(15, 3, bias=bias, batch_first=True, device=device)
    ours = copy_of_torch(theirs)
    x = torch.randn(2, 7, 15, device=device, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    hidden = {}
    if name in ("causal", "window", "causal & padding"):
        square = MASKS["causal" if "causal" in name else name]
        hidden["attn_mask"] = masks.torch_mha(square).to(device)
    if "padding" in name:
        # right padding, so that no row is blind: there torch's own module gives NaN
        pad = MASKS["right padding"]
        hidden["key_padding_mask"] = masks.torch_mha(pad[:, 0, 0]).to(device)
    mask = None if name == "none" else MASKS["causal" if "causal" in name else name]
    if name == "causal & padding":
        mask = mask & MASKS["right padding"]
    mask = None if mask is None else mask.to(device)
    expected, expected_weights = theirs(y, y, y, average_attn_weights=False, **hidden)
    output, weights = ours(x, mask=mask, return_weights=True)
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(weights, expected_weights, rtol=0, atol=1e-5)
    torch.testing.assert_close(ours(x, mask=mask), expected, rtol=0, atol=1e-5)

    ours(x, mask=mask).square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(x.grad, y.grad, rtol=1e-4, atol=1e-4)
    in_proj = torch.cat([ours.query.weight.grad, ours.key.weight.grad, ours.value.weight.grad])
    torch.testing.assert_close(in_proj, theirs.in_proj_weight.grad, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(
        ours.output.weight.grad, theirs.out_proj.weight.grad, rtol=1e-4, atol=1e-4
    )


def test_cross_attention_agrees_with_torch(device):
    theirs = nn.MultiheadAttention(12, 4, kdim=5, vdim=5, batch_first=True, device=device)
    ours = copy_of_torch(theirs, d_context=5)
    x, context = torch.randn(2, 3, 12, device=device), torch.randn(2, 7, 5, device=device)
    expected, _ = theirs(x, context, context)
    torch.testing.assert_close(ours(x, context=context), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("n_kv_heads", [1, 2, 3])
def test_grouped_heads_equal_full_heads_with_repeated_weights(n_kv_heads, device):
    grouped = MultiHeadAttention(12, 6, n_kv_heads=n_kv_heads, head_dim=5).to(device).double()
    full = MultiHeadAttention(12, 6, head_dim=5).to(device).double()
    state = grouped.state_dict()
    for name in ("key.weight", "value.weight"):
        heads = state[name].unflatten(0, (n_kv_heads, 5))
        state[name] = heads.repeat_interleave(6 // n_kv_heads, dim=0).flatten(0, 1)
    full.load_state_dict(state)
    x = torch.randn(2, 4, 12, device=device).double()
    torch.testing.assert_close(grouped(x), full(x))


def test_the_output_projection_mixes_the_heads():
    module, x = MultiHeadAttention(8, 2), torch.randn(1, 4, 8)
    before = module(x)
    with torch.no_grad():
        module.value.weight[4:] = 0  # silence the second head
    assert ((module(x) - before).abs() > 0).all()


@pytest.mark.parametrize(
    "score",
    [scaled_dot, dot, AdditiveScore(3, 3, 4), BilinearScore(3, 3)],
    ids=lambda score: getattr(score, "__name__", type(score).__name__),
)
@pytest.mark.parametrize("cross", [False, True])
def test_single_head_is_the_four_steps_with_any_score(score, cross, device):
    module = SingleHeadAttention(8, 3, d_context=6 if cross else 8, value_dim=5, score=score)
    module = module.to(device).double()
    x = torch.randn(2, 4, 8, device=device).double()
    context = torch.randn(2, 4, 6, device=device).double() if cross else None
    source = context if cross else x
    mask = masks.causal(4, device=device) & masks.padding([4, 2], 4, side="left", device=device)
    scores = score(module.query(x), module.key(source))
    expected_weights = masked_softmax(scores, mask[:, 0])
    expected = expected_weights @ module.value(source)
    output, weights = module(x, context=context, mask=mask, return_weights=True)
    assert (output.shape, weights.shape) == ((2, 4, 5), (2, 4, 4))
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(weights, expected_weights)
    torch.testing.assert_close(module(x, context=context, mask=mask), expected)


def test_single_head_is_multi_head_with_one_head_and_no_mixing():
    single, multi = SingleHeadAttention(6), MultiHeadAttention(6, 1)
    state = single.state_dict() | {"output.weight": torch.eye(6)}
    multi.load_state_dict(state)
    x = torch.randn(2, 5, 6)
    torch.testing.assert_close(single(x), multi(x))


def test_scale_is_the_head_dim_not_the_model_dim():
    module = MultiHeadAttention(16, 4).double()
    x = torch.randn(1, 3, 16).double()
    q, k = (split_heads(layer(x), 4) for layer in (module.query, module.key))
    _, weights = module(x, return_weights=True)
    torch.testing.assert_close(weights, (q @ k.mT / 2).softmax(dim=-1))


def test_core_is_fused_exactly_when_no_weights_are_wanted(monkeypatch):
    calls = []
    kernel = F.scaled_dot_product_attention
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda *a, **k: calls.append(1) or kernel(*a, **k)
    )
    module, x = MultiHeadAttention(8, 2), torch.randn(1, 3, 8)
    fused = module(x)
    assert len(calls) == 1
    explicit, weights = module(x, return_weights=True)
    assert len(calls) == 1
    assert weights.shape == (1, 2, 3, 3)
    torch.testing.assert_close(fused, explicit)
    assert AttentionCore()(*[torch.randn(1, 1, 2, 2)] * 3)[1] is None
    assert AttentionCore(dot)(*[torch.randn(1, 1, 2, 2)] * 3)[1] is None


def test_nothing_is_stored_on_the_modules():
    module, x = MultiHeadAttention(8, 2), torch.randn(1, 3, 8)
    before = {name: dict(vars(part)) for name, part in module.named_modules()}
    module(x, return_weights=True)
    assert {name: dict(vars(part)) for name, part in module.named_modules()} == before


def test_split_and_merge_are_inverse_and_split_is_a_view():
    x = torch.randn(2, 4, 8)
    heads = split_heads(x, 4)
    assert heads.shape == (2, 2, 4, 4)
    assert torch.equal(heads[:, 1, :, 0], x[..., 4])
    assert heads.data_ptr() == x.data_ptr()
    assert torch.equal(merge_heads(heads), x)


def test_share_heads_repeats_in_a_row_and_copies_nothing_needlessly():
    k = torch.arange(2.0).view(1, 2, 1, 1)
    assert share_heads(k, 6).flatten().tolist() == [0, 0, 0, 1, 1, 1]
    assert share_heads(k, 2) is k


def test_fused_rows_that_see_nothing_are_zero_and_only_the_bias_of_the_output_remains(device):
    module = MultiHeadAttention(8, 2, out_bias=True).to(device)
    mask = masks.padding([0, 3], 3, device=device)
    output = module(torch.randn(2, 3, 8, device=device), mask=mask)
    assert torch.equal(output[0], module.output.bias.expand(3, 8))
    assert module.query.bias is None


HIDING = {
    "explicit": lambda q, k, v, mask: attention(q, k, v, mask=mask)[0],
    "fused": lambda q, k, v, mask: fused_attention(q, k, v, mask=mask),
    "core": lambda q, k, v, mask: AttentionCore()(q, k, v, mask=mask)[0],
    "fused with a bias": lambda q, k, v, mask: fused_attention(
        q, k, v, mask=mask, bias=torch.zeros(q.shape[2], k.shape[2])
    ),
    "tiled": lambda q, k, v, mask: flash_attention(q, k, v, mask=mask, block_size=2),
    "tiled, whole": lambda q, k, v, mask: flash_attention(q, k, v, mask=mask),
}
HIDDEN = {
    "causal": lambda T, S: masks.causal(T, S),
    "window": lambda T, S: masks.sliding_window(T, 2, S),
    "padding": lambda T, S: masks.padding([S - 1, S], S),
    "a row that sees nothing": lambda T, S: masks.causal(T, S) & (torch.arange(T) > 0)[:, None],
}


@pytest.mark.parametrize("path", HIDING)
@pytest.mark.parametrize("mask", HIDDEN)
@pytest.mark.parametrize(("H", "G", "T", "S"), [(2, 2, 5, 5), (4, 2, 4, 7), (2, 1, 1, 6)])
def test_what_is_hidden_reaches_nobody_whatever_it_holds(path, mask, H, G, T, S):
    """And a row that may attend to it says so: it is NaN, in each path the same."""
    seen = HIDDEN[mask](T, S)
    for of, bad in itertools.product("kv", [torch.nan, torch.inf, -torch.inf]):
        q, k, v = torch.randn(2, H, T, 8), torch.randn(2, G, S, 8), torch.randn(2, G, S, 8)
        right = HIDING["explicit"](q, k, v, seen)
        (k if of == "k" else v)[0, 0, S - 1, 3] = bad
        spoilt = seen.expand(2, H, T, S)[..., S - 1].clone()
        spoilt[1], spoilt[:, H // G :] = False, False
        got = HIDING[path](q, k, v, seen)
        assert got[spoilt].isnan().all(), (of, bad)
        torch.testing.assert_close(got[~spoilt], right[~spoilt])


@pytest.mark.parametrize("of", ["key", "value"])
@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_the_causal_core_hides_them_too(of, bad):
    q, k, v = make((1, 2, 2, 6, 6, 3, 3))
    right = CausalCore()(q, k, v)[0]
    (k if of == "key" else v)[..., 4, 1] = bad
    got = CausalCore()(q, k, v)[0]
    assert got[..., 4:, :].isnan().all()
    torch.testing.assert_close(got[..., :4, :], right[..., :4, :])


PATHS = {"explicit": attention, "fused": fused_attention, "tiled": flash_attention}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("other", [torch.float64, torch.bfloat16])
def test_queries_keys_and_values_are_of_one_dtype(path, other):
    q, k, v = (x.float() for x in make((1, 2, 2, 3, 3, 4, 4)))
    with pytest.raises(TypeError, match=r"^k\.dtype = .*must be torch.float32, as q\. Remedy: "):
        PATHS[path](q, k.to(other), v.to(other))
    with pytest.raises(TypeError, match=r"^v\.dtype = .*must be torch.float32, as q\. Remedy: "):
        PATHS[path](q, k, v.to(other))
    with torch.autocast("cpu", torch.bfloat16):  # there torch brings them together
        attention(q, k.bfloat16(), v)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("return_weights", [False, True])
def test_half_precision_stays_finite_and_near(dtype, return_weights, device):
    module = MultiHeadAttention(32, 4, n_kv_heads=2).to(device)
    x, mask = torch.randn(2, 9, 32, device=device) * 5, random_mask((9, 9)).to(device)
    bias = torch.randn(9, 9, device=device)  # float32 beside half: cast, not refused
    expected = module(x, mask=mask, bias=bias)
    module, x = module.to(dtype), x.to(dtype).requires_grad_()
    result = module(x, mask=mask, bias=bias, return_weights=return_weights)
    output = result[0] if return_weights else result
    assert output.dtype == dtype
    torch.testing.assert_close(output.float(), expected, rtol=0.1, atol=0.1)
    output.float().square().sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_a_bias_of_another_dtype_is_cast(dtype, device):
    q, k, v = make((1, 4, 2, 3, 5, 4, 4), torch.float32, device)
    bias = torch.randn(3, 5, device=device, dtype=dtype)
    explicit, _ = attention(q, k, v, bias=bias)
    assert explicit.dtype == torch.float32
    torch.testing.assert_close(explicit, attention(q, k, v, bias=bias.float())[0])
    torch.testing.assert_close(fused_attention(q, k, v, bias=bias), explicit)


def test_large_scores_do_not_overflow(device):
    q = torch.full((1, 1, 2, 64), 60.0, dtype=torch.float16, device=device)
    output, weights = attention(q, q, torch.ones_like(q))
    assert (weights == 0.5).all()
    assert (output == 1).all()


def test_autocast_runs_both_paths(device):
    module, x = MultiHeadAttention(8, 2).to(device), torch.randn(1, 3, 8, device=device)
    bias = torch.randn(3, 3, device=device)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        fused = module(x, bias=bias)
        explicit, _ = module(x, bias=bias, return_weights=True)
    torch.testing.assert_close(fused, explicit, rtol=0.05, atol=0.05)


def test_the_meta_device_gives_shapes_for_nothing():
    module, x = MultiHeadAttention(8, 2).to("meta"), torch.empty(1, 3, 8, device="meta")
    mask = masks.causal(3, device="meta")
    assert module(x, mask=mask).shape == (1, 3, 8)
    assert module(x, mask=mask, return_weights=True)[1].shape == (1, 2, 3, 3)


@pytest.mark.parametrize(
    "options",
    [{}, {"n_kv_heads": 2}, {"head_dim": 3, "bias": True}, {"d_context": 5, "out_bias": True}],
    ids=str,
)
def test_state_dict_round_trip(options):
    ours, other = MultiHeadAttention(8, 4, **options), MultiHeadAttention(8, 4, **options)
    x, context = torch.randn(1, 3, 8), torch.randn(1, 2, options.get("d_context", 8))
    assert not torch.equal(ours(x, context=context), other(x, context=context))
    other.load_state_dict(ours.state_dict())
    assert torch.equal(ours(x, context=context), other(x, context=context))
    layers = {name.split(".")[0] for name in ours.state_dict()}
    assert layers == {"query", "key", "value", "output"}


class Decoder(nn.Module):
    """A mask made inside forward from the length, as models do."""

    def __init__(self):
        super().__init__()
        self.attention = MultiHeadAttention(8, 4, n_kv_heads=2)

    def forward(self, x, bias):
        return self.attention(x, mask=masks.causal(x.shape[1], device=x.device), bias=bias)


@pytest.mark.usefixtures("unchecked")
def test_compiles_to_one_graph():
    model = Decoder().double()
    compiled = torch.compile(model, fullgraph=True, dynamic=True)
    for T in (4, 7):
        x, bias = torch.randn(2, T, 8).double(), torch.randn(T, T).double()
        torch.testing.assert_close(compiled(x, bias), model(x, bias))
    explicit = torch.compile(model.attention, fullgraph=True, backend="eager")
    expected = model.attention(x, return_weights=True)
    torch.testing.assert_close(explicit(x, return_weights=True), expected)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("strict", [False, True])
def test_exports_with_a_free_length(strict):
    model, T = Decoder(), torch.export.Dim("T", min=2, max=64)
    example = (torch.randn(2, 5, 8), torch.randn(5, 5))
    shapes = {"x": {1: T}, "bias": {0: T, 1: T}}
    exported = torch.export.export(model, example, dynamic_shapes=shapes, strict=strict).module()
    x, bias = torch.randn(2, 9, 8), torch.randn(9, 9)
    torch.testing.assert_close(exported(x, bias), model(x, bias))


# ---- errors

q, k, v = make((2, 4, 2, 3, 5, 6, 6), torch.float32)
x = torch.randn(2, 3, 8)
mha, single = MultiHeadAttention(8, 4), SingleHeadAttention(8)
cross = MultiHeadAttention(8, 4, d_context=6)
BAD_QKV = [
    ((q[0], k, v), {}, ValueError, "q.shape = (4, 3, 6): must be 4-D"),
    ((q, k[0], v), {}, ValueError, "k.shape = (2, 5, 6): must be 4-D"),
    ((q, k, v[None]), {}, ValueError, "v.shape = (1, 2, 2, 5, 6): must be 4-D"),
    ((q.int(), k, v), {}, TypeError, "q.dtype = torch.int32"),
    ((q, k.long(), v), {}, TypeError, "k.dtype = torch.int64"),
    ((q, k, v.bool()), {}, TypeError, "v.dtype = torch.bool"),
    ((q, k[..., :5], v), {}, ValueError, "k.shape = (2, 2, 5, 5)"),
    ((q, k[:1], v), {}, ValueError, "k.shape = (1, 2, 5, 6)"),
    ((q, k, v[:, :, :4]), {}, ValueError, "v.shape = (2, 2, 4, 6)"),
    ((q, k, v[:, :1]), {}, ValueError, "v.shape = (2, 1, 5, 6)"),
    ((q[:, :3], k, v), {}, ValueError, "k.shape = (2, 2, 5, 6)"),
    ((q, k, v), {"mask": torch.ones(3, 5)}, TypeError, "mask.dtype = torch.float32"),
    ((q, k, v), {"mask": torch.ones(3, 5).int()}, TypeError, "mask.dtype = torch.int32"),
    ((q, k, v), {"mask": masks.full(5, 3)}, ValueError, "mask.shape = (5, 3)"),
    ((q, k, v), {"mask": masks.full(3, 5)[None]}, ValueError, "mask.shape = (1, 3, 5)"),
    ((q, k, v), {"mask": masks.padding([1] * 3, 5)}, ValueError, "mask.shape = (3, 1, 1, 5)"),
    ((q, k, v), {"bias": torch.ones(5)}, ValueError, "bias.shape = (5,)"),
    ((q, k, v), {"bias": torch.ones(1, 3, 3, 5)}, ValueError, "bias.shape = (1, 3, 3, 5)"),
    ((q, k, v), {"bias": masks.full(3, 5)}, TypeError, "bias.dtype = torch.bool"),
]
BAD = [
    (lambda: masked_softmax(q, torch.ones(3, 6)), TypeError, "mask.dtype = torch.float32"),
    (lambda: masked_softmax(q, masks.full(2, 6)), ValueError, "mask.shape = (2, 6)"),
    (lambda: share_heads(k, 3), ValueError, "n_kv_heads = 2: must divide n_heads = 3"),
    (lambda: MultiHeadAttention(0, 1), ValueError, "d_model = 0"),
    (lambda: MultiHeadAttention(8.0, 2), TypeError, "d_model = 8.0"),
    (lambda: MultiHeadAttention(8, True), TypeError, "n_heads = True"),
    (lambda: MultiHeadAttention(8, 3), ValueError, "n_heads = 3: must divide d_model = 8"),
    (lambda: MultiHeadAttention(8, 4, n_kv_heads=3), ValueError, "n_kv_heads = 3: must divide"),
    (lambda: MultiHeadAttention(8, 4, n_kv_heads=8), ValueError, "n_kv_heads = 8: must divide"),
    (lambda: MultiHeadAttention(8, 4, n_kv_heads=0), ValueError, "n_kv_heads = 0"),
    (lambda: MultiHeadAttention(8, 4, head_dim=0), ValueError, "head_dim = 0"),
    (lambda: MultiHeadAttention(8, 4, d_context="6"), TypeError, "d_context = '6'"),
    (lambda: SingleHeadAttention(-8), ValueError, "d_model = -8"),
    (lambda: SingleHeadAttention(8, 0), ValueError, "head_dim = 0"),
    (lambda: SingleHeadAttention(8, d_context=0), ValueError, "d_context = 0"),
    (lambda: SingleHeadAttention(8, value_dim=1.0), TypeError, "value_dim = 1.0"),
    (lambda: mha(x[0]), ValueError, "x.shape = (3, 8): must be 3-D"),
    (lambda: mha(x[..., :7]), ValueError, "x.shape = (2, 3, 7): the last axis must be 8"),
    (lambda: mha(x.long()), TypeError, "x.dtype = torch.int64"),
    (lambda: mha(x, context=x[..., :6]), ValueError, "context.shape = (2, 3, 6)"),
    (lambda: mha(x, context=x[0]), ValueError, "context.shape = (3, 8)"),
    (lambda: mha(x, context=x[:1]), ValueError, "context.shape = (1, 3, 8)"),
    (lambda: cross(x), ValueError, "context.shape = (2, 3, 8): the last axis must be 6"),
    (lambda: mha(x, mask=torch.ones(3, 3)), TypeError, "mask.dtype = torch.float32"),
    (lambda: mha(x, mask=masks.full(4)), ValueError, "mask.shape = (4, 4)"),
    (lambda: mha(x, bias=torch.ones(4, 4)), ValueError, "bias.shape = (4, 4)"),
    (lambda: single(x[0]), ValueError, "x.shape = (3, 8): must be 3-D"),
    (lambda: single(x, context=x[..., :6]), ValueError, "context.shape = (2, 3, 6)"),
    (lambda: single(x, mask=torch.ones(3, 3)), TypeError, "mask.dtype = torch.float32"),
    (lambda: single(x, mask=masks.full(3)[None]), ValueError, "mask.shape = (1, 3, 3)"),
]
BAD += [
    (lambda path=path, args=args, options=options: path(*args, **options), error, text)
    for args, options, error, text in BAD_QKV
    for path in (attention, fused_attention, AttentionCore(), AttentionCore(dot))
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[bad[2] for bad in BAD])
def test_bad_input_is_refused_by_name_and_value(call, error, text):
    refused(call, error, text)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_explicit_attention_overflows_no_earlier_than_the_fused(dtype):
    q, k = (torch.full((1, 1, 3, 64), 200.0, dtype=dtype) for _ in range(2))
    v = torch.randn(1, 1, 3, 64).to(dtype)
    output, weights = attention(q, k, v)
    assert weights.isfinite().all()
    assert output.dtype == weights.dtype == dtype
    torch.testing.assert_close(output, fused_attention(q, k, v), atol=1e-2, rtol=1e-2)


def test_every_score_in_the_package_that_the_kernel_knows_is_fused(monkeypatch):
    calls = []
    kernel = F.scaled_dot_product_attention
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda *a, **k: calls.append(1) or kernel(*a, **k)
    )
    for score in (dot, scaled_dot):
        AttentionCore(score)(*[torch.randn(1, 1, 2, 2)] * 3)
    assert len(calls) == 2
