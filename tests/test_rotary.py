"""Rotary positions: layouts, partial rotation, and every scaling against transformers."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import lazily
from checker import refused
from pieces.attention import CachedAttention
from pieces.positions import (
    DynamicNTK,
    Halves,
    Interleaved,
    Linear,
    Llama3,
    NTKAware,
    Rotary,
    Unscaled,
    YaRN,
)

hf = lazily.Module("transformers")
ropes = lazily.Module("transformers.modeling_rope_utils")
gpt_neox = lazily.Module("transformers.models.gpt_neox.modeling_gpt_neox")
gptj = lazily.Module("transformers.models.gptj.modeling_gptj")
llama_theirs = lazily.Module("transformers.models.llama.modeling_llama")

LAYOUTS = st.sampled_from([Halves(), Interleaved()])


def permutation(rotary_dim, head_dim):
    """Where each dimension of the interleaved layout stands in the half-split one."""
    pairs = torch.arange(rotary_dim).view(2, -1).T.flatten()
    return torch.cat((pairs, torch.arange(rotary_dim, head_dim)))


@pytest.mark.parametrize("layout", [Halves(), Interleaved()], ids=["halves", "interleaved"])
@pytest.mark.parametrize(("head_dim", "rotary_dim"), [(2, 2), (6, 6), (8, 4), (7, 6), (5, 2)])
def test_rotary_is_its_equation(layout, head_dim, rotary_dim, device):
    rotary = Rotary(head_dim, rotary_dim=rotary_dim, base=100.0, layout=layout)
    q = torch.randn(2, 3, 4, head_dim, device=device).double()
    k = torch.randn(2, 1, 4, head_dim, device=device).double()
    positions = torch.tensor([[0, 1, 2, 50], [7, 5000, 1, 0]], device=device)
    expected = [q.clone(), k.clone()]
    for b, t, i in [(b, t, i) for b in range(2) for t in range(4) for i in range(rotary_dim // 2)]:
        angle = int(positions[b, t]) * 100.0 ** (-2 * i / rotary_dim)
        cos, sin = math.cos(angle), math.sin(angle)
        a, c = (i, i + rotary_dim // 2) if isinstance(layout, Halves) else (2 * i, 2 * i + 1)
        for x, turned in zip((q, k), expected, strict=True):
            turned[b, :, t, a] = x[b, :, t, a] * cos - x[b, :, t, c] * sin
            turned[b, :, t, c] = x[b, :, t, c] * cos + x[b, :, t, a] * sin
    turned = rotary.rotate(q, k, positions)
    torch.testing.assert_close(turned, tuple(expected), rtol=0, atol=1e-11)
    once = rotary.rotate(q, k, rotary(positions, torch.float64))
    assert all(torch.equal(a, b) for a, b in zip(once, turned, strict=True))


@given(st.integers(0, 4000), st.integers(0, 4000), st.integers(0, 4000), LAYOUTS, st.booleans())
def test_scores_depend_on_the_distance_only(i, j, shift, layout, partial):
    rotary = Rotary(8, rotary_dim=6 if partial else 8, layout=layout)
    q, k = torch.randn(2, 1, 1, 1, 8).double()

    def score(i, j):
        turned, _ = rotary.rotate(q, q, torch.tensor([i]))
        _, key = rotary.rotate(k, k, torch.tensor([j]))
        return (turned * key).sum()

    torch.testing.assert_close(score(i, j), score(i + shift, j + shift), rtol=0, atol=1e-10)
    torch.testing.assert_close(rotary.rotate(q, k, torch.tensor([i]))[0].norm(), q.norm())


def test_mixing_the_layouts_breaks_the_rule():
    class Mixed(Halves):
        def pair(self, first, second):
            return Interleaved().pair(first, second)

    rotary, q, k = Rotary(8, layout=Mixed()), *torch.randn(2, 1, 1, 1, 8).double()
    scores = [
        (rotary.rotate(q, q, torch.tensor([i + 3]))[0] * rotary.rotate(k, k, torch.tensor([i]))[1])
        for i in (0, 5)
    ]
    assert (scores[0].sum() - scores[1].sum()).abs() > 1e-3


@pytest.mark.parametrize(("head_dim", "rotary_dim"), [(8, 8), (9, 6)])
def test_the_layouts_are_one_up_to_the_order_of_dimensions(head_dim, rotary_dim):
    order = permutation(rotary_dim, head_dim)
    q, k = torch.randn(2, 1, 2, 5, head_dim).double()
    halves = Rotary(head_dim, rotary_dim=rotary_dim)
    interleaved = Rotary(head_dim, rotary_dim=rotary_dim, layout=Interleaved())
    positions = torch.arange(5)
    for a, b in zip(
        halves.rotate(q, k, positions),
        interleaved.rotate(q[..., order], k[..., order], positions),
        strict=True,
    ):
        torch.testing.assert_close(a[..., order], b)


def llama(head_dim, rope_type, max_seq_len=64, base=10000.0, **options):
    rope = {"rope_type": rope_type, "rope_theta": base, **options}
    return hf.LlamaConfig(
        hidden_size=4 * head_dim,
        num_attention_heads=4,
        head_dim=head_dim,
        max_position_embeddings=max_seq_len,
        rope_parameters=rope,
    )


def original(n):
    return {"original_max_position_embeddings": n}


SCALINGS = [
    (Linear(4.0), llama(16, "linear", factor=4.0)),
    (Linear(0.7), llama(6, "linear", factor=0.7, base=500.0)),
    (DynamicNTK(4.0, 64), llama(16, "dynamic", factor=4.0)),
    (YaRN(4.0, 64), llama(16, "yarn", factor=4.0, **original(64))),
    (YaRN(16.0, 2048), llama(128, "yarn", factor=16.0, base=1e6, **original(2048))),
    (YaRN(0.5, 64), llama(8, "yarn", factor=0.5, **original(64))),
    (
        YaRN(8.0, 256, beta_fast=20.0, beta_slow=2.0, attention_factor=1.3, truncate=False),
        llama(
            32,
            "yarn",
            factor=8.0,
            beta_fast=20.0,
            beta_slow=2.0,
            attention_factor=1.3,
            truncate=False,
            **original(256),
        ),
    ),
    (
        Llama3(8.0, 8192),
        llama(
            128,
            "llama3",
            base=500000.0,
            factor=8.0,
            low_freq_factor=1.0,
            high_freq_factor=4.0,
            **original(8192),
        ),
    ),
    (
        Llama3(3.0, 40, low=2.0, high=5.0),
        llama(
            10,
            "llama3",
            base=100.0,
            factor=3.0,
            low_freq_factor=2.0,
            high_freq_factor=5.0,
            **original(40),
        ),
    ),
]


@pytest.mark.parametrize(("scaling", "config"), SCALINGS, ids=[str(s[0]) for s in SCALINGS])
def test_frequencies_agree_with_transformers(scaling, config):
    rope, dim = config.rope_parameters, config.head_dim
    expected, factor = ropes.ROPE_INIT_FUNCTIONS[rope["rope_type"]](config, "cpu")
    ours = scaling(dim, rope["rope_theta"])
    torch.testing.assert_close(ours, expected, rtol=1e-6, atol=0)
    assert scaling.attention_factor == pytest.approx(factor)
    assert not torch.allclose(ours, Unscaled()(dim, rope["rope_theta"])) or scaling in (
        DynamicNTK(4.0, 64),
    )


@pytest.mark.parametrize("length", [1, 64, 65, 100, 1000])
def test_dynamic_ntk_follows_the_length_as_transformers_does(length):
    config = llama(16, "dynamic", factor=4.0)
    expected, _ = ropes.ROPE_INIT_FUNCTIONS["dynamic"](config, "cpu", seq_len=length)
    ours = DynamicNTK(4.0, 64)(16, 10000.0, torch.arange(length))
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=0)
    by_hand = NTKAware(4.0 * max(length, 64) / 64 - 3.0)(16, 10000.0)
    torch.testing.assert_close(ours, by_hand, rtol=1e-5, atol=0)


def test_ntk_keeps_the_fastest_pair_and_slows_the_slowest_by_the_factor():
    plain, scaled = Unscaled()(16, 10000.0), NTKAware(4.0)(16, 10000.0)
    assert scaled[0] == plain[0] == 1
    torch.testing.assert_close(scaled[-1], plain[-1] / 4)


@pytest.mark.parametrize(
    ("scaling", "config"),
    [(None, llama(16, "default")), *SCALINGS],
    ids=["Unscaled", *(str(s[0]) for s in SCALINGS)],
)
def test_turned_queries_agree_with_llama_beyond_the_trained_length(scaling, config, device):
    theirs = llama_theirs.LlamaRotaryEmbedding(config).to(device)
    K = config.head_dim
    ours = Rotary(K, base=config.rope_parameters["rope_theta"], scaling=scaling)
    q, k = torch.randn(2, 4, 150, K, device=device), torch.randn(2, 2, 150, K, device=device)
    positions = torch.arange(150, device=device) + torch.tensor([[0], [30]], device=device)
    expected = llama_theirs.apply_rotary_pos_emb(q, k, *theirs(q, positions))
    turned = ours.rotate(q, k, positions)
    for a, b in zip(turned, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-4 if scaling else 1e-5)
    assert ours(positions, torch.bfloat16).cos.dtype == torch.bfloat16


def test_partial_rotation_agrees_with_gpt_neox():
    config = hf.GPTNeoXConfig(
        hidden_size=48,
        num_attention_heads=4,
        rope_parameters={
            "rope_type": "default",
            "rope_theta": 10000.0,
            "partial_rotary_factor": 0.5,
        },
    )
    q, k = torch.randn(2, 2, 4, 9, 12)
    cos, sin = gpt_neox.GPTNeoXRotaryEmbedding(config)(q, torch.arange(9)[None])
    assert cos.shape[-1] == 6
    expected = gpt_neox.apply_rotary_pos_emb(q, k, cos, sin)
    turned = Rotary(12, rotary_dim=6).rotate(q, k, torch.arange(9))
    torch.testing.assert_close(turned, expected, rtol=0, atol=1e-5)


def test_interleaved_partial_rotation_agrees_with_gpt_j():
    assert hf.GPTJConfig().rotary_dim
    q = torch.randn(2, 9, 3, 10)
    sin, cos = gptj.create_sinusoidal_positions(9, 6).chunk(2, dim=-1)
    expected = torch.cat(
        (gptj.apply_rotary_pos_emb(q[..., :6], sin[None], cos[None]), q[..., 6:]), dim=-1
    )
    rotary, heads_first = Rotary(10, rotary_dim=6, layout=Interleaved()), q.transpose(1, 2)
    turned, _ = rotary.rotate(heads_first, heads_first, torch.arange(9))
    torch.testing.assert_close(turned.transpose(1, 2), expected, rtol=0, atol=1e-5)


def test_one_rotation_serves_several_layers():
    rotary, x = Rotary(4), torch.randn(2, 5, 8)
    layers = [CachedAttention(8, 2, position=rotary) for _ in range(2)]
    rotation = rotary(torch.arange(5))
    for layer in layers:
        assert torch.equal(layer(x, positions=rotation), layer(x))
        assert not any("position" in name for name in layer.state_dict())


def test_low_precision_modules_do_not_round_the_angles():
    rotary, positions = Rotary(64).to(torch.bfloat16), torch.tensor([4001])
    exact = rotary(positions, torch.float64)
    half = rotary(positions, torch.bfloat16)
    torch.testing.assert_close(half.cos.double(), exact.cos, rtol=0, atol=0.01)


q, k, now = torch.randn(2, 4, 3, 8), torch.randn(2, 2, 3, 8), torch.arange(3)
BAD = [
    (lambda: Rotary(0), ValueError, "head_dim = 0"),
    (lambda: Rotary(7), ValueError, "rotary_dim = 7: must be even and at least 2"),
    (lambda: Rotary(8, rotary_dim=10), ValueError, "rotary_dim = 10"),
    (lambda: Rotary(8, rotary_dim=4.0), TypeError, "rotary_dim = 4.0"),
    (lambda: Rotary(8, base=-1.0), ValueError, "base = -1.0"),
    (lambda: Rotary(8)(now.float()), TypeError, "positions.dtype = torch.float32"),
    (lambda: Rotary(8)(now.view(1, 1, 3)), ValueError, "positions.shape = (1, 1, 3)"),
    (lambda: Rotary(8).rotate(q, k, now[:2]), ValueError, "positions.shape = (2,)"),
    (lambda: Rotary(8).rotate(q, k, now.expand(3, 3)), ValueError, "positions.shape = (3, 3)"),
    (
        lambda: Rotary(8).rotate(q, k, Rotary(8)(now.expand(3, 3))),
        ValueError,
        "positions.cos.shape = (3, 1, 3, 8)",
    ),
    (
        lambda: Rotary(6).rotate(q, k, now),
        ValueError,
        "q.shape = (2, 4, 3, 8): the last axis must be 6",
    ),
    (lambda: Rotary(8).rotate(q, k[:, :, :2], now), ValueError, "k.shape = (2, 2, 2, 8)"),
    (
        lambda: Rotary(8).rotate(q, k, Rotary(8)(now[:2])),
        ValueError,
        "positions.cos.shape = (1, 1, 2, 8)",
    ),
    (lambda: Linear(0.0), ValueError, "factor = 0.0"),
    (lambda: Linear("2"), TypeError, "factor = '2'"),
    (lambda: NTKAware(math.inf), ValueError, "factor = inf"),
    (lambda: NTKAware(2.0)(2, 10000.0), ValueError, "dim = 2: must be above 2"),
    (lambda: DynamicNTK(-1.0, 8), ValueError, "factor = -1.0"),
    (lambda: DynamicNTK(2.0, 8.0), TypeError, "max_seq_len = 8.0"),
    (lambda: YaRN(2.0, 0), ValueError, "max_seq_len = 0"),
    (lambda: YaRN(-2.0, 8), ValueError, "factor = -2.0"),
    (lambda: YaRN(2.0, 8, beta_slow=0.0), ValueError, "beta_slow = 0.0"),
    (lambda: YaRN(2.0, 8, attention_factor=math.nan), ValueError, "attention_factor = nan"),
    (lambda: Llama3(2.0, 8, low=4.0, high=4.0), ValueError, "high = 4.0: must be above low = 4.0"),
    (lambda: Llama3(2.0, 8, low=0), ValueError, "low = 0"),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[bad[2] for bad in BAD])
def test_bad_input_is_refused_by_name_and_value(call, error, text):
    refused(call, error, text)
