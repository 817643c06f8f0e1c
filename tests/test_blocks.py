import pytest
import torch
from torch import nn

import lazily
from checker import refused
from pieces import masks
from pieces.attention import MultiHeadAttention
from pieces.blocks import Block, CrossBlock, ParallelBlock, Stack
from pieces.cache import GrowingCache
from pieces.feedforward import FeedForward, GatedFeedForward, gelu
from pieces.moe import GatedExperts, MixtureOfExperts, Router
from pieces.norms import LayerNorm, RMSNorm
from pieces.residual import DeepNorm, PostNorm, PreNorm, SandwichNorm

hf = lazily.Module("transformers")
gpt_neox = lazily.Module("transformers.models.gpt_neox.modeling_gpt_neox")

RESIDUALS = {
    "post": lambda D: PostNorm(LayerNorm(D)),
    "pre": lambda D: PreNorm(LayerNorm(D)),
    "sandwich": lambda D: SandwichNorm(RMSNorm(D), RMSNorm(D)),
    "deep": lambda D: DeepNorm(LayerNorm(D), 1.7),
}


def build_block(residual=RESIDUALS["pre"], D=12, feed_forward=None, bias=False):
    return Block(
        MultiHeadAttention(D, 2, bias=bias),
        feed_forward or FeedForward(D, 20),
        attention_residual=residual(D),
        feed_forward_residual=residual(D),
    )


def build_cross(residual=RESIDUALS["pre"], D=12, bias=False):
    return CrossBlock(
        MultiHeadAttention(D, 2, bias=bias),
        MultiHeadAttention(D, 2, bias=bias),
        FeedForward(D, 20),
        attention_residual=residual(D),
        cross_residual=residual(D),
        feed_forward_residual=residual(D),
    )


def build_parallel(D=12, two_norms=True):
    second = LayerNorm(D) if two_norms else None
    return ParallelBlock(MultiHeadAttention(D, 2), FeedForward(D, 20), LayerNorm(D), second)


def copy_attention(ours, theirs):
    weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
    layers = (ours.query, ours.key, ours.value)
    with torch.no_grad():
        for layer, weight, bias in zip(layers, weights, biases, strict=True):
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
    ours.output.load_state_dict(theirs.out_proj.state_dict())


def copy_rest(ours, theirs, residuals):
    ours.feed_forward.up.load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward.down.load_state_dict(theirs.linear2.state_dict())
    for number, residual in enumerate(residuals, start=1):
        residual.norm.load_state_dict(getattr(theirs, f"norm{number}").state_dict())


def randomise(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.3)
    return module


@pytest.mark.parametrize("placement", ["post", "pre"])
@pytest.mark.parametrize("masked", [False, True])
def test_block_equals_torchs_encoder_layer(placement, masked, device):
    theirs = nn.TransformerEncoderLayer(
        12, 2, 20, dropout=0.0, batch_first=True, norm_first=placement == "pre"
    )
    randomise(theirs).to(device)
    ours = build_block(RESIDUALS[placement], bias=True).to(device)
    copy_attention(ours.attention, theirs.self_attn)
    copy_rest(ours, theirs, [ours.attention_residual, ours.feed_forward_residual])
    x = torch.randn(2, 5, 12, device=device)
    mask = masks.causal(5, device=device) if masked else None
    expected = theirs(x, src_mask=None if mask is None else masks.torch_mha(mask))
    torch.testing.assert_close(ours(x, mask=mask), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("placement", ["post", "pre"])
def test_cross_block_equals_torchs_decoder_layer(placement, device):
    theirs = nn.TransformerDecoderLayer(
        12, 2, 20, dropout=0.0, batch_first=True, norm_first=placement == "pre"
    )
    randomise(theirs).to(device)
    ours = build_cross(RESIDUALS[placement], bias=True).to(device)
    copy_attention(ours.attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    residuals = [ours.attention_residual, ours.cross_residual, ours.feed_forward_residual]
    copy_rest(ours, theirs, residuals)
    x, context = torch.randn(2, 5, 12, device=device), torch.randn(2, 7, 12, device=device)
    causal, padding = masks.causal(5, device=device), masks.padding([7, 4], 7, device=device)
    expected = theirs(
        x,
        context,
        tgt_mask=masks.torch_mha(causal),
        memory_key_padding_mask=masks.torch_mha(padding[:, 0, 0]),
    )
    result = ours(x, context, mask=causal, context_mask=padding)
    torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("parallel", [True, False])
def test_parallel_block_equals_gpt_neox(parallel, device):
    config = hf.GPTNeoXConfig(
        hidden_size=12, num_attention_heads=2, intermediate_size=20, num_hidden_layers=1,
        use_parallel_residual=parallel, hidden_dropout=0.0, attn_implementation="eager",
    )  # fmt: skip
    theirs = randomise(gpt_neox.GPTNeoXLayer(config, 0)).eval()
    attention, feed_forward = MultiHeadAttention(12, 2, bias=True), FeedForward(12, 20, gelu)
    norms = LayerNorm(12), LayerNorm(12)
    with torch.no_grad():
        for kind in ("weight", "bias"):
            fused = getattr(theirs.attention.query_key_value, kind).unflatten(0, (2, 3, 6))
            for index, layer in enumerate((attention.query, attention.key, attention.value)):
                getattr(layer, kind).copy_(fused[:, index].flatten(0, 1))
    attention.output.load_state_dict(theirs.attention.dense.state_dict())
    feed_forward.up.load_state_dict(theirs.mlp.dense_h_to_4h.state_dict())
    feed_forward.down.load_state_dict(theirs.mlp.dense_4h_to_h.state_dict())
    norms[0].load_state_dict(theirs.input_layernorm.state_dict())
    norms[1].load_state_dict(theirs.post_attention_layernorm.state_dict())
    if parallel:
        ours = ParallelBlock(attention, feed_forward, *norms)
    else:
        residuals = {"attention_residual": PreNorm(norms[0]),
                     "feed_forward_residual": PreNorm(norms[1])}  # fmt: skip
        ours = Block(attention, feed_forward, **residuals)
    x, mask = torch.randn(2, 5, 12), masks.causal(5)
    still = torch.ones(1, 5, 1), torch.zeros(1, 5, 1)  # the cosine and sine of no rotation
    expected = theirs(x, masks.to_additive(mask)[None, None], position_embeddings=still)
    result = ours.to(device)(x.to(device), mask=mask.to(device)).cpu()
    torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("two_norms", [True, False])
def test_parallel_block_is_its_equation(two_norms):
    block, x = (
        randomise(build_parallel(two_norms=two_norms)).double(),
        torch.randn(2, 4, 12).double(),
    )
    first, second = block.norm, block.feed_forward_norm if two_norms else block.norm
    expected = x + block.attention(first(x)) + block.feed_forward(second(x))
    torch.testing.assert_close(block(x), expected)
    block.dropout = nn.Dropout(1.0)
    assert torch.equal(block(x), x)


def test_one_norm_is_computed_once():
    block, calls = build_parallel(two_norms=False), []
    block.norm.register_forward_hook(lambda *_: calls.append(1))
    block(torch.randn(1, 2, 12))
    assert len(calls) == 1


def test_parallel_is_not_sequential():
    parallel = randomise(build_parallel())
    sequential = Block(
        parallel.attention,
        parallel.feed_forward,
        attention_residual=PreNorm(parallel.norm),
        feed_forward_residual=PreNorm(parallel.feed_forward_norm),
    )
    x = torch.randn(1, 3, 12)
    assert not torch.allclose(parallel(x), sequential(x), atol=1e-2)


@pytest.mark.parametrize("name", RESIDUALS)
def test_causal_blocks_do_not_leak(name):
    stack = Stack([build_block(RESIDUALS[name]) for _ in range(2)], LayerNorm(12)).double()
    x, mask = torch.randn(1, 6, 12).double(), masks.causal(6)
    before = stack(x, mask=mask)
    for t in range(6):
        moved = x.clone()
        moved[0, t] += torch.randn(12)
        changed = (stack(moved, mask=mask) != before).any(dim=-1)[0]
        assert changed.tolist() == [False] * t + [True] * (6 - t)


# ---- stacks


def test_stack_runs_in_order_and_closes_with_the_norm():
    blocks, final = [build_block() for _ in range(3)], LayerNorm(12)
    x, mask = torch.randn(2, 4, 12), masks.causal(4)
    expected = x
    for block in blocks:
        expected = block(expected, mask=mask)
    assert torch.equal(Stack(blocks)(x, mask=mask), expected)
    assert torch.equal(Stack(blocks, final)(x, mask=mask), final(expected))


def test_pre_norm_needs_the_final_norm_and_post_norm_does_not():
    def size(stack):
        with torch.no_grad():
            return stack(torch.randn(2, 8, 12)).square().mean().sqrt().item()

    pre = [randomise(build_block(lambda D: PreNorm(RMSNorm(D)))) for _ in range(8)]
    post = [build_block(RESIDUALS["post"]) for _ in range(8)]
    assert size(Stack(pre)) > 1.5
    assert size(Stack(pre, RMSNorm(12))) == pytest.approx(1, rel=1e-3)
    assert size(Stack(post)) == pytest.approx(1, rel=1e-3)


class Spy(nn.Module):
    """A block that returns its input and notes what it was given."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x, **options):
        self.seen.append(options)
        return x


def test_each_block_gets_its_own_cache_and_everything_else_unchanged():
    spies, x, context = [Spy(), Spy()], torch.randn(1, 2, 4), torch.randn(1, 3, 4)
    stack = Stack(spies)
    stack(x, mask=masks.causal(2))
    assert [set(spy.seen[0]) for spy in spies] == [{"mask"}] * 2
    own, crossed = GrowingCache(), GrowingCache()
    stack(x, context, cache=own, context_cache=crossed, context_mask=None)
    assert [spy.seen[1]["cache"] for spy in spies] == [own[0], own[1]]
    assert [spy.seen[1]["context_cache"] for spy in spies] == [crossed[0], crossed[1]]
    assert all(spy.seen[1]["context"] is context for spy in spies)


def test_cross_block_hands_a_cache_to_the_cross_attention_only_if_there_is_one():
    seen = []

    class Cross(nn.Module):
        def forward(self, x, **options):
            seen.append(options)
            return x

    block = build_cross()
    block.cross_attention = Cross()
    x, context = torch.randn(1, 2, 12), torch.randn(1, 3, 12)
    block(x, context)
    block(x, context, context_cache=GrowingCache()[0])
    assert [set(options) for options in seen] == [{"context"}, {"context", "cache"}]


def test_a_stack_of_cross_blocks_is_a_decoder():
    stack = Stack([build_cross() for _ in range(2)], LayerNorm(12))
    x, context = torch.randn(2, 4, 12), torch.randn(2, 5, 12)
    options = {"mask": masks.causal(4), "context_mask": masks.padding([5, 3], 5)}
    before = stack(x, context, **options)
    context[1, 3:] += 1
    assert torch.equal(stack(x, context, **options), before)
    context[1, 2] += 1
    assert (stack(x, context, **options) != before).any(dim=-1)[1].all()


# ---- as parts of a model


def build_model(kind):
    if kind == "cross":
        return Stack([build_cross()], LayerNorm(12))
    if kind == "parallel":
        return Stack([build_parallel()], LayerNorm(12))
    experts = MixtureOfExperts(Router(12, 4, 2), GatedExperts(4, 12, 8))
    return Stack([build_block(feed_forward=experts)], RMSNorm(12))


KINDS = ["cross", "parallel", "experts"]


class Model(nn.Module):
    """A stack with a mask made inside forward from the length, as models do."""

    def __init__(self, kind):
        super().__init__()
        self.stack, self.cross = build_model(kind), kind == "cross"

    def forward(self, x):
        mask = masks.causal(x.shape[1], device=x.device)
        return self.stack(x, *([x] if self.cross else []), mask=mask)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_stays_finite_and_near(kind, dtype, device):
    model, x = Model(kind).to(device), torch.randn(2, 5, 12, device=device)
    expected = model(x)
    model, x = model.to(dtype), x.to(dtype).requires_grad_()
    y = model(x)
    assert y.dtype == dtype
    # one token may visit another expert: its logits are rounded too
    far = ((y.float() - expected).abs() > 0.1).any(dim=-1).sum()
    assert far <= (1 if kind == "experts" else 0)
    y.float().square().sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("kind", KINDS)
def test_state_dict_round_trip(kind):
    ours, other, x = Model(kind), Model(kind), torch.randn(2, 5, 12)
    assert not torch.equal(ours(x), other(x))
    other.load_state_dict(ours.state_dict())
    assert torch.equal(ours(x), other(x))


@pytest.mark.parametrize("kind", ["cross", "parallel"])
def test_gradients_are_right(kind, device):
    model = Model(kind).double().to(device)
    x = torch.randn(1, 2, 12, device=device).double().requires_grad_()
    assert torch.autograd.gradcheck(model, (x,))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("kind", KINDS)
def test_compiles_to_one_graph_and_exports(kind):
    model = Model(kind)
    torch.compiler.reset()
    compiled = torch.compile(model, fullgraph=True, dynamic=True, backend="eager")
    x = torch.randn(2, 7, 12)
    torch.testing.assert_close(compiled(x), model(x))
    shapes = {"x": {1: torch.export.Dim("T", min=2, max=64)}}
    exported = torch.export.export(model, (torch.randn(2, 5, 12),), dynamic_shapes=shapes)
    torch.testing.assert_close(exported.module()(x), model(x))


x, mha, ffn, pre = (
    torch.randn(2, 3, 12),
    MultiHeadAttention(12, 2),
    FeedForward(12, 8),
    RESIDUALS["pre"],
)
R = {"attention_residual": pre(12), "feed_forward_residual": pre(12)}
C = R | {"cross_residual": pre(12)}
BAD = [
    (lambda: Block(12, ffn, **R), TypeError, "attention = 12: must be a module"),
    (lambda: Block(mha, "gelu", **R), TypeError, "feed_forward = 'gelu'"),
    (lambda: Block(mha, ffn, **R | {"attention_residual": 0}), TypeError, "attention_residual"),
    (lambda: Block(mha, ffn, **R | {"feed_forward_residual": 0}), TypeError, "feed_forward_res"),
    (lambda: CrossBlock(None, mha, ffn, **C), TypeError, "attention = None"),
    (lambda: CrossBlock(mha, None, ffn, **C), TypeError, "cross_attention = None"),
    (lambda: CrossBlock(mha, mha, None, **C), TypeError, "feed_forward = None"),
    (lambda: CrossBlock(mha, mha, ffn, **C | {"cross_residual": 1}), TypeError, "cross_residual"),
    (lambda: ParallelBlock(1, ffn, ffn), TypeError, "attention = 1"),
    (lambda: ParallelBlock(mha, 1, ffn), TypeError, "feed_forward = 1"),
    (lambda: ParallelBlock(mha, ffn, 1), TypeError, "norm = 1"),
    (lambda: ParallelBlock(mha, ffn, ffn, 1), TypeError, "feed_forward_norm = 1"),
    (lambda: ParallelBlock(mha, ffn, ffn, dropout=0.1), TypeError, "dropout = 0.1"),
    (lambda: Stack([]), ValueError, "blocks = []: must not be empty"),
    (lambda: Stack([ffn, 2]), TypeError, "blocks[1] = 2"),
    (lambda: Stack([ffn], "norm"), TypeError, "final_norm = 'norm'"),
    (lambda: build_block()(x[..., :7]), ValueError, "x.shape = (2, 3, 7): the last axis"),
    (lambda: build_block()(x, mask=masks.full(4)), ValueError, "mask.shape = (4, 4)"),
    (lambda: build_cross()(x, x[..., :7]), ValueError, "context.shape = (2, 3, 7)"),
    (
        lambda: build_cross()(x, x, context_mask=masks.full(4)),
        ValueError,
        "context_mask.shape = (4, 4)",
    ),
    (
        lambda: build_cross()(x, x, context_mask=masks.full(3).float()),
        TypeError,
        "context_mask.dtype = torch.float32",
    ),
    (lambda: build_cross()(x, x, mask=masks.full(3).float()), TypeError, "mask.dtype"),
    (lambda: build_parallel()(x, mask=masks.full(4)), ValueError, "mask.shape = (4, 4)"),
    (lambda: Block(mha, GatedFeedForward(8, 8), **R)(x), ValueError, "x.shape = (2, 3, 12)"),
]  # fmt: skip


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[bad[2] for bad in BAD])
def test_bad_input_is_refused_by_name_and_value(call, error, text):
    refused(call, error, text)
