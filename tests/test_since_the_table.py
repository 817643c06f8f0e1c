"""What published models changed since the source's table: each piece equal to ``transformers``."""

import pytest
import torch
from transformers import (
    DeepseekV2Config,
    Gemma3TextConfig,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
)
from transformers.models.deepseek_v2.modeling_deepseek_v2 import DeepseekV2Moe
from transformers.models.qwen3.modeling_qwen3 import Qwen3Attention, Qwen3RotaryEmbedding

from pieces import masks, moe
from pieces.attention import CachedAttention, CausalCore, NormedAttention
from pieces.cache import GrowingCache
from pieces.checkpoints import from_transformers
from pieces.feedforward import GatedFeedForward
from pieces.norms import RMSNorm, rms
from pieces.positions import Rotary

NEAR = {"atol": 1e-5, "rtol": 1e-5}
D, H, G, K = 24, 4, 2, 8


def theirs_and_ours():
    torch.manual_seed(0)
    config = Qwen3Config(
        hidden_size=D, num_attention_heads=H, num_key_value_heads=G, head_dim=K,
        num_hidden_layers=1, attn_implementation="eager",
    )  # fmt: skip
    theirs = Qwen3Attention(config, 0).eval()
    for norm in (theirs.q_norm, theirs.k_norm):
        torch.nn.init.uniform_(norm.weight, 0.5, 1.5)
    options = {"n_kv_heads": G, "head_dim": K, "position": Rotary(K), "core": CausalCore()}
    ours = NormedAttention(D, H, **options)
    pairs = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "o_proj"}
    pairs |= {"query_norm": "q_norm", "key_norm": "k_norm"}
    for one, other in pairs.items():
        getattr(ours, one).load_state_dict(getattr(theirs, other).state_dict())
    return config, theirs, ours


@torch.no_grad()
def test_normed_queries_and_keys_are_those_of_qwen3():
    config, theirs, ours = theirs_and_ours()
    x, T = torch.randn(2, 7, D), 7
    turned = Qwen3RotaryEmbedding(config)(x, torch.arange(T)[None])
    hidden = masks.to_additive(masks.causal(T))[None, None]
    expected, _ = theirs(x, turned, hidden)
    torch.testing.assert_close(ours(x), expected, **NEAR)
    cache = GrowingCache()
    parts = [ours(part, cache=cache[0]) for part in x.split((4, 1, 2), dim=1)]
    torch.testing.assert_close(torch.cat(parts, dim=1), expected, **NEAR)


@torch.no_grad()
def test_normed_scores_do_not_grow_with_the_stream():
    torch.manual_seed(0)
    layer, plain, x = NormedAttention(D, H), CachedAttention(D, H), torch.randn(1, 5, D)
    _, weights = layer(x, return_weights=True)
    _, louder = layer(100 * x, return_weights=True)
    torch.testing.assert_close(weights, louder, atol=1e-4, rtol=1e-4)
    assert plain(100 * x, return_weights=True)[1].max() > plain(x, return_weights=True)[1].max()
    q, k, _ = layer.project(x, x)
    for part in (q, k):
        torch.testing.assert_close(rms(part), torch.ones_like(rms(part)), atol=1e-3, rtol=0)


def test_the_norms_are_what_they_are_told_to_be():
    layer = NormedAttention(D, H, head_dim=6, key_norm=RMSNorm(6, eps=0.5))
    assert [norm.weight.shape for norm in (layer.query_norm, layer.key_norm)] == [(6,), (6,)]
    assert (layer.query_norm.eps, layer.key_norm.eps) == (1e-6, 0.5)


@torch.no_grad()
def test_a_shared_expert_is_that_of_deepseek_v2():
    torch.manual_seed(0)
    E, k, F = 6, 2, 10
    config = DeepseekV2Config(
        hidden_size=D, n_routed_experts=E, num_experts_per_tok=k, moe_intermediate_size=F,
        n_shared_experts=2, topk_method="greedy", routed_scaling_factor=1.0, num_hidden_layers=1,
        num_attention_heads=H, norm_topk_prob=False,
    )  # fmt: skip
    theirs = DeepseekV2Moe(config).eval()
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    router = moe.Router(D, E, k, choose=moe.route_unnormalised)
    shared = GatedFeedForward(D, 2 * F)
    ours = moe.MixtureOfExperts(router, moe.GatedExperts(E, D, F), shared)
    router.gate.weight.copy_(theirs.gate.weight)
    ours.experts.gate_up.copy_(theirs.experts.gate_up_proj)
    ours.experts.down.copy_(theirs.experts.down_proj)
    for part in ("gate", "up", "down"):
        weight = getattr(theirs.shared_experts, f"{part}_proj").weight
        getattr(shared, part).weight.copy_(weight)
    x = torch.randn(2, 5, D)
    torch.testing.assert_close(ours(x), theirs(x), **NEAR)


@pytest.mark.parametrize("layers", [6, 13])
def test_gemma_3_opens_every_sixth_layer(layers):
    kinds = Gemma3TextConfig(num_hidden_layers=layers).layer_types
    whole = [i for i, kind in enumerate(kinds) if kind == "full_attention"]
    assert whole == list(range(5, layers, 6))


@torch.no_grad()
def test_windows_in_some_layers_are_those_of_transformers():
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=30, hidden_size=D, intermediate_size=32, num_hidden_layers=3,
        num_attention_heads=H, num_key_value_heads=G, use_sliding_window=True, sliding_window=4,
        max_window_layers=1, attn_implementation="eager",
    )  # fmt: skip
    theirs = Qwen2ForCausalLM(config).eval()
    ours = from_transformers(theirs).eval()
    windows = [block.attention.core.window for block in ours.stack.blocks]
    assert windows == [None, 4, 4]
    ids = torch.randint(30, (2, 15))
    torch.testing.assert_close(ours(ids), theirs(ids).logits, **NEAR)
