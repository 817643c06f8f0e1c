import copy
import re

import pytest
import torch

from pieces.checkpoints import from_transformers, to_transformers
from pieces.feedforward import sigmoid
from pieces.models.decoder_only import DecoderOnly
from pieces.models.gpt2 import GPT2Config, gpt2
from pieces.models.llama import LlamaConfig, llama
from pieces.models.mixtral import MixtralConfig, mixtral
from pieces.positions import DynamicNTK, NTKAware, Rotary
from tiny import FAMILIES, ROPES, SEEDS, config_of, hf, theirs, tokens


def starting(text):
    """The pattern of an error that begins with this and ends with a remedy."""
    return f"^{re.escape(text)}(?s:.*)Remedy: "


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_there_and_back_is_the_same_model(family, seed):
    model, ids = theirs(family, seed), tokens()
    back = to_transformers(from_transformers(model))
    assert type(back) is type(model)
    assert not back.training
    expected = model.state_dict()
    assert back.state_dict().keys() == expected.keys()
    for name, weight in back.state_dict().items():
        rows = slice(2, None) if "embed_positions" in name else slice(None)  # OPT's, for padding
        assert torch.equal(weight[rows], expected[name][rows]), name
    back.config._attn_implementation = back.config._experts_implementation = "eager"
    with torch.no_grad():
        torch.testing.assert_close(back(ids).logits, model(ids).logits, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_are_copies_in_the_same_dtype_and_mode(family):
    model = getattr(hf, FAMILIES[family][1])(config_of(family, 1)).to(torch.bfloat16).train()
    ours = from_transformers(model)
    assert ours.training
    assert {p.dtype for p in ours.parameters()} == {torch.bfloat16}
    assert all(p.requires_grad and p.is_leaf for p in ours.parameters())
    before = copy.deepcopy(model.state_dict())
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.zero_()
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())


@pytest.mark.parametrize("family", FAMILIES)
def test_no_weight_is_counted_twice_or_left_out(family):
    for seed in SEEDS:
        model = theirs(family, seed)
        count = sum(p.numel() for p in from_transformers(model).parameters())
        dropped = 2 * model.config.hidden_size if family == "opt" else 0  # rows of the padding
        assert count == sum(p.numel() for p in model.parameters()) - dropped


# ---- options


LONGROPE = {"rope_type": "longrope", "rope_theta": 1e4, "short_factor": [1.0] * 4,
            "long_factor": [1.0] * 4, "original_max_position_embeddings": 8}  # fmt: skip
BAD_OPTIONS = [
    ("gpt2", {"scale_attn_weights": False}, "config.scale_attn_weights = False"),
    ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, "config.scale_attn_by_inverse"),
    ("gpt2", {"activation_function": "mish"}, "activation = 'mish'"),
    ("opt", {"do_layer_norm_before": False}, "config.do_layer_norm_before = False"),
    ("opt", {"word_embed_proj_dim": 6}, "config.word_embed_proj_dim = 6"),
    ("opt", {"enable_bias": False}, "config.enable_bias = False"),
    ("opt", {"layer_norm_elementwise_affine": False}, "config.layer_norm_elementwise_affine"),
    ("opt", {"_remove_final_layer_norm": True}, "config._remove_final_layer_norm = True"),
    ("bloom", {"apply_residual_connection_post_layernorm": True}, "config.apply_residual"),
    ("mpt", {"attn_config": {"alibi": False}}, "config.alibi = False"),
    ("mpt", {"attn_config": {"alibi_bias_max": 16}}, "config.alibi_bias_max = 16"),
    ("mpt", {"attn_config": {"clip_qkv": 8.0}}, "config.clip_qkv = 8.0"),
    ("mpt", {"attn_config": {"qk_ln": True}}, "config.qk_ln = True"),
    ("mpt", {"attn_config": {"softmax_scale": 0.5}}, "config.softmax_scale = 0.5"),
    ("mpt", {"attn_config": {"prefix_lm": True}}, "config.prefix_lm = True"),
    ("mpt", {"attn_config": {"attn_type": "multiquery_attention"}}, "config.attn_type"),
    ("mpt", {"logit_scale": 0.5}, "config.logit_scale = 0.5"),
    ("gpt_neox", {"hidden_act": "mish"}, "activation = 'mish'"),
    ("falcon", {"new_decoder_architecture": False}, "config.new_decoder_architecture = False"),
    ("falcon", {"alibi": True}, "config.alibi = True"),
    ("llama", {"rope_parameters": LONGROPE}, "config.rope_parameters['rope_type'] = 'longrope'"),
    ("llama", {"rope_parameters": ROPES[3] | {"mscale": 0.7}}, "config.rope_parameters = "),
    ("llama", {"rope_parameters": ROPES[0] | {"partial_rotary_factor": 0.5}}, "config.rope_par"),
    ("falcon", {"rope_parameters": ROPES[0] | {"partial_rotary_factor": 0.5}}, "config.rope_par"),
    ("mixtral", {"hidden_act": "mish"}, "activation = 'mish'"),
    ("qwen2", {"layer_types": ["sliding_attention", "full_attention"]}, "config.layer_types"),
    ("gemma", {"use_bidirectional_attention": True}, "config.use_bidirectional_attention = True"),
    ("gemma", {"hidden_act": "mish"}, "activation = 'mish'"),
]  # fmt: skip


class Fake(torch.nn.Module):
    """A model whose weights nobody comes to see."""

    def __init__(self, config):
        super().__init__()
        self.config = config


@pytest.mark.parametrize(("family", "options", "text"), BAD_OPTIONS, ids=str)
def test_an_option_that_is_not_ours_is_refused_by_name(family, options, text):
    config = config_of(family, 0)
    given = type(config)(**config.to_dict() | options)
    model = type(FAMILIES[family][1], (Fake,), {})(given)
    with pytest.raises(ValueError, match=starting(text)):
        from_transformers(model)


PLAIN = LlamaConfig(7, 8, 1, 2, 8)
BAD_RETURNS = [
    (lambda: DecoderOnly(*parts()), "model.config = 'NoneType'"),
    (lambda: torch.nn.Linear(2, 2), "model.config = 'NoneType'"),
    (lambda: llama(LlamaConfig(7, 8, 1, 2, 8, rope_scaling=NTKAware(2.0))), "rope_scaling = "),
    (lambda: llama(LlamaConfig(7, 8, 1, 2, 8, rope_scaling=DynamicNTK(2.0, 9))), "rope_scaling = "),
    (lambda: gpt2(GPT2Config(7, 8, 1, 2, 8, bias=False)), "bias = False"),
    (lambda: gpt2(GPT2Config(7, 8, 1, 2, 8, activation=sigmoid)), "activation = "),
    (lambda: mixtral(MixtralConfig(7, 8, 1, 2, 8, bias=True)), "bias = True"),
]


def parts():
    built = llama(PLAIN)
    return built.embedding, built.stack.requires_grad_(False).apply(forget)


def forget(module):
    if isinstance(getattr(module, "position", None), Rotary):
        module.position = None


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("build", "text"), BAD_RETURNS, ids=[bad[1] for bad in BAD_RETURNS])
def test_a_model_that_cannot_go_back_is_refused_by_name(build, text):
    with pytest.raises(ValueError, match=starting(text)):
        to_transformers(build())


@pytest.mark.parametrize("family", ["gpt2", "bloom", "mpt", "gpt_neox", "falcon"])
def test_a_fused_projection_of_another_size_is_refused_by_name(family):
    model = copy.deepcopy(theirs(family))
    fused = next(m for n, m in model.named_modules() if n.endswith(("c_attn", "Wqkv", "key_value")))
    name = next(n for n, p in model.named_parameters() if p is fused.weight)
    fused.weight = torch.nn.Parameter(torch.ones(7, 7))
    blamed = (f"{name}.shape = (7, 7)", "stack.blocks.0.attention.query.weight.shape = ")
    with pytest.raises(ValueError, match="|".join(map(starting, blamed))):
        from_transformers(model)


def test_an_unknown_model_is_refused_by_name():
    with pytest.raises(ValueError, match="architecture = 'Linear': must be one of GPT2LMHeadModel"):
        from_transformers(torch.nn.Linear(2, 2))


def test_a_tied_head_that_differs_is_refused():
    model = copy.deepcopy(theirs("gpt2"))
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight + 1)
    with pytest.raises(ValueError, match=r"lm_head.weight = 'a weight of its own'"):
        from_transformers(model)


@pytest.mark.parametrize("turned", [1, 3, 5])
def test_a_part_of_a_head_that_cannot_turn_in_pairs_is_refused(turned):
    """A loader is asked like anyone else: of one dimension it made wrong logits in silence."""
    config = config_of("gpt_neox", 0)
    config.rope_parameters = dict(config.rope_parameters, partial_rotary_factor=turned / 16)
    model = getattr(hf, FAMILIES["gpt_neox"][1])(config)
    with pytest.raises(ValueError, match=starting(f"rotary_dim = {turned}: must be even")):
        from_transformers(model)


def test_a_window_that_no_layer_uses_comes_back():
    model = theirs("qwen2", 4)
    assert set(model.config.layer_types) == {"full_attention"}
    assert model.config.sliding_window is not None
    back = to_transformers(from_transformers(model)).config
    for name in ("sliding_window", "layer_types", "use_sliding_window"):
        assert getattr(back, name) == getattr(model.config, name)
