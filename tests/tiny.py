"""Tiny models of transformers with random configs and random weights: nothing is downloaded.

``theirs(family, seed)`` draws the sizes from the seed. Options that are either one thing or another
take turns, so that the seeds 0 .. 4 together have met every one.
"""

import functools
import random

import torch
from torch import nn

import lazily
from pieces.cache import GrowingCache, RollingCache

hf = lazily.Module("transformers")

SEEDS = range(5)
VOCAB = 37
LONGEST = 24
WINDOW = 4
ROPES = [
    {"rope_type": "default", "rope_theta": 10_000.0},
    {"rope_type": "linear", "rope_theta": 500.0, "factor": 2.5},
    {
        "rope_type": "llama3",
        "rope_theta": 1000.0,
        "factor": 4.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 3.0,
        "original_max_position_embeddings": 8,
    },
    {
        "rope_type": "yarn",
        "rope_theta": 1000.0,
        "factor": 4.0,
        "original_max_position_embeddings": 8,
    },
    {"rope_type": "dynamic", "rope_theta": 100.0, "factor": 2.0},
]


def gpt2(draw, seed):
    heads = draw.choice([1, 3, 5])
    return hf.GPT2Config(
        n_embd=heads * draw.choice([4, 7]), n_head=heads, n_positions=LONGEST,
        n_inner=[None, 31][seed % 2], layer_norm_epsilon=draw.choice([1e-5, 1e-2]),
        activation_function=["gelu_new", "gelu", "relu"][seed % 3],
        tie_word_embeddings=seed % 4 != 3, n_layer=2,
    )  # fmt: skip


def opt(draw, seed):
    heads, size = draw.choice([1, 3, 5]), draw.choice([4, 7])
    return hf.OPTConfig(
        hidden_size=heads * size, word_embed_proj_dim=heads * size, num_attention_heads=heads,
        ffn_dim=draw.choice([17, 40]), max_position_embeddings=LONGEST, num_hidden_layers=2,
        activation_function=["relu", "gelu"][seed % 2], tie_word_embeddings=seed % 4 != 3,
    )  # fmt: skip


def bloom(draw, seed):
    heads = [3, 4, 6, 1, 7][seed]
    return hf.BloomConfig(
        hidden_size=heads * draw.choice([4, 7]), n_head=heads, n_layer=2,
        layer_norm_epsilon=draw.choice([1e-5, 1e-2]), tie_word_embeddings=seed % 4 != 3,
    )  # fmt: skip


def mpt(draw, seed):
    heads = [4, 3, 6, 2, 8][seed]
    return hf.MptConfig(
        d_model=heads * draw.choice([4, 7]), n_heads=heads, n_layers=2, max_seq_len=LONGEST,
        layer_norm_epsilon=draw.choice([1e-5, 1e-2]), tie_word_embeddings=seed % 4 != 3,
    )  # fmt: skip


def gpt_neox(draw, seed):
    heads = draw.choice([1, 3])
    part = {"partial_rotary_factor": [0.25, 0.5, 1.0][seed % 3]}
    return hf.GPTNeoXConfig(
        hidden_size=heads * 16, num_attention_heads=heads, intermediate_size=draw.choice([17, 40]),
        num_hidden_layers=2, use_parallel_residual=seed % 2 == 0, attention_bias=seed % 3 != 1,
        max_position_embeddings=LONGEST, rope_parameters=ROPES[seed % 2] | part,
        layer_norm_eps=draw.choice([1e-5, 1e-2]), tie_word_embeddings=seed % 4 == 3,
    )  # fmt: skip


def falcon(draw, seed):
    heads, groups = [(6, 2), (3, 3), (3, 1), (4, 2), (5, 1)][seed]
    return hf.FalconConfig(
        hidden_size=heads * draw.choice([4, 10]), num_attention_heads=heads, num_kv_heads=groups,
        num_hidden_layers=2, new_decoder_architecture=True, bias=seed % 2 == 1,
        num_ln_in_parallel_attn=[None, 1, 2][seed % 3], ffn_hidden_size=[None, 31][seed % 2],
        max_position_embeddings=LONGEST, rope_parameters=ROPES[seed % 2],
        tie_word_embeddings=seed % 4 != 3,
    )  # fmt: skip


def gated(draw, seed):
    """What LLaMA and its cousins share; head_dim is not d_model / n_heads."""
    heads, groups = [(6, 2), (3, 3), (3, 1), (4, 2), (5, 1)][seed]
    return {
        "hidden_size": heads * draw.choice([5, 7]), "num_attention_heads": heads,
        "num_key_value_heads": groups, "head_dim": draw.choice([8, 14]), "num_hidden_layers": 2,
        "intermediate_size": draw.choice([17, 40]), "max_position_embeddings": LONGEST,
        "rms_norm_eps": draw.choice([1e-6, 1e-2]), "tie_word_embeddings": seed % 2 == 1,
        "rope_parameters": ROPES[seed],
    }  # fmt: skip


def llama(draw, seed):
    biases = {"attention_bias": seed % 2 == 1, "mlp_bias": seed % 3 == 1}
    return hf.LlamaConfig(**gated(draw, seed), **biases)


def mistral(draw, seed):
    return hf.MistralConfig(**gated(draw, seed), sliding_window=[WINDOW, None, 1, WINDOW, 40][seed])


def mixtral(draw, seed):
    experts = [(4, 2), (3, 1), (5, 3), (2, 2), (8, 2)][seed]
    return hf.MixtralConfig(
        **gated(draw, seed), num_local_experts=experts[0], num_experts_per_tok=experts[1],
        sliding_window=[None, WINDOW][seed % 2],
    )  # fmt: skip


def qwen2(draw, seed):
    windows = {"use_sliding_window": seed % 2 == 0, "sliding_window": WINDOW}
    return hf.Qwen2Config(**gated(draw, seed), **windows, max_window_layers=[1, 0, 0, 1, 2][seed])


def gemma(draw, seed):
    return hf.GemmaConfig(**gated(draw, seed) | {"tie_word_embeddings": True})


FAMILIES = {
    "gpt2": (gpt2, "GPT2LMHeadModel"),
    "opt": (opt, "OPTForCausalLM"),
    "bloom": (bloom, "BloomForCausalLM"),
    "mpt": (mpt, "MptForCausalLM"),
    "gpt_neox": (gpt_neox, "GPTNeoXForCausalLM"),
    "falcon": (falcon, "FalconForCausalLM"),
    "llama": (llama, "LlamaForCausalLM"),
    "mistral": (mistral, "MistralForCausalLM"),
    "mixtral": (mixtral, "MixtralForCausalLM"),
    "qwen2": (qwen2, "Qwen2ForCausalLM"),
    "gemma": (gemma, "GemmaForCausalLM"),
}


def config_of(family: str, seed: int):
    """Their config."""
    config = FAMILIES[family][0](random.Random(seed), seed)
    config.vocab_size, config.pad_token_id = VOCAB, 0
    config._attn_implementation = config._experts_implementation = "eager"
    return config


@functools.cache
def theirs(family: str, seed: int = 0) -> nn.Module:
    """Their model, its weights drawn."""
    torch.manual_seed(seed)
    return shaken(getattr(hf, FAMILIES[family][1])(config_of(family, seed)).eval())


def shaken(model: nn.Module) -> nn.Module:
    """No weight left at 0 or 1, so that each of them matters."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.25)
    return model


def their_bert(kind: str, seed: int, **changes) -> nn.Module:
    """Their BERT, drawn from the seed in the same way."""
    draw = random.Random(seed)
    heads = draw.choice([1, 3, 5])
    config = hf.BertConfig(**{
        "vocab_size": 37, "hidden_size": heads * draw.choice([4, 7]), "num_attention_heads": heads,
        "intermediate_size": draw.choice([17, 40]), "num_hidden_layers": draw.choice([1, 3]),
        "max_position_embeddings": 30, "type_vocab_size": draw.choice([2, 3]),
        "hidden_act": ["gelu", "relu", "gelu_new"][seed % 3],
        "layer_norm_eps": draw.choice([1e-12, 1e-3]),
    } | changes)  # fmt: skip
    torch.manual_seed(seed)
    model = getattr(hf, kind)(config).eval()
    return shaken(model)


def their_t5(seed: int, **changes) -> nn.Module:
    """Their T5, drawn from the seed in the same way."""
    draw = random.Random(seed)
    layers = draw.choice([1, 2])
    config = hf.T5Config(**{
        "vocab_size": 37, "d_model": draw.choice([12, 20]), "d_kv": draw.choice([5, 8]),
        "d_ff": draw.choice([17, 40]), "num_layers": layers, "num_decoder_layers": layers,
        "num_heads": draw.choice([1, 3]), "relative_attention_num_buckets": draw.choice([8, 12]),
        "relative_attention_max_distance": draw.choice([9, 16]), "pad_token_id": 0,
        "eos_token_id": 1, "decoder_start_token_id": 0, "layer_norm_epsilon": 1e-6,
        "feed_forward_proj": ["relu", "gated-gelu"][seed % 2], "tie_word_embeddings": seed % 2 == 0,
    } | changes)  # fmt: skip
    torch.manual_seed(seed)
    model = hf.T5ForConditionalGeneration(config).eval()
    return shaken(model)


def tokens(B: int = 2, T: int = 13) -> torch.Tensor:
    """Random tokens, none of which is the padding."""
    return torch.randint(1, VOCAB, (B, T))


def caches(config) -> list:
    """The caches a model of this config may be given."""
    window = getattr(config, "window", None)
    rolling = window is not None and getattr(config, "first_window_layer", 0) == 0
    return [GrowingCache, functools.partial(RollingCache, window)] if rolling else [GrowingCache]
