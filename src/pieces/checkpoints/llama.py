"""LLaMA, Mistral, Qwen2 and Gemma: one shape, one set of names; Mixtral shares most of it."""

from typing import Any

from pieces.checkpoints.family import (
    Family,
    Rule,
    activation_named,
    only,
    rules,
    tied_head,
    with_head,
    write_only,
)
from pieces.checkpoints.rope import read_rope, write_rope
from pieces.models.gemma import GemmaConfig, gemma
from pieces.models.llama import LlamaConfig, llama
from pieces.models.mistral import MistralConfig, mistral
from pieces.models.qwen2 import Qwen2Config, qwen2

BLOCK, LAYER = "stack.blocks.{l}.", "model.layers.{l}."


def gated_sizes(hf_config: Any, activation: str = "silu") -> dict[str, Any]:
    """What all five have."""
    if activation_named(hf_config.hidden_act) is not activation_named(activation):
        only("config.hidden_act", hf_config.hidden_act, activation)
    base, scaling = read_rope(hf_config)
    return {
        "vocab_size": hf_config.vocab_size,
        "d_model": hf_config.hidden_size,
        "n_layers": hf_config.num_hidden_layers,
        "n_heads": hf_config.num_attention_heads,
        "d_ff": hf_config.intermediate_size,
        "n_kv_heads": hf_config.num_key_value_heads,
        "head_dim": getattr(hf_config, "head_dim", None),
        "max_seq_len": hf_config.max_position_embeddings,
        "norm_eps": hf_config.rms_norm_eps,
        "rope_base": base,
        "rope_scaling": scaling,
        "tied": bool(hf_config.tie_word_embeddings),
    }


def shared_names(config: LlamaConfig) -> list[Rule]:
    """Which weight is which, without the feed-forward networks."""
    found = rules(
        ("model.embed_tokens", "embedding"),
        (LAYER + "self_attn.q_proj", BLOCK + "attention.query"),
        (LAYER + "self_attn.k_proj", BLOCK + "attention.key"),
        (LAYER + "self_attn.v_proj", BLOCK + "attention.value"),
        (LAYER + "self_attn.o_proj", BLOCK + "attention.output"),
        (LAYER + "input_layernorm", BLOCK + "attention_residual.norm"),
        (LAYER + "post_attention_layernorm", BLOCK + "feed_forward_residual.norm"),
        ("model.norm", "stack.final_norm"),
    )
    return with_head(config, found)


def dense_names(config: LlamaConfig) -> list[Rule]:
    """Which weight is which."""
    parts = [(LAYER + f"mlp.{x}_proj", BLOCK + f"feed_forward.{x}") for x in ("gate", "up", "down")]
    return [*shared_names(config), *rules(*parts)]


def read_llama(hf_config: Any) -> LlamaConfig:
    """Their config to ours."""
    biases = {"bias": hf_config.attention_bias, "ff_bias": hf_config.mlp_bias}
    return LlamaConfig(**gated_sizes(hf_config), **biases)


def read_mistral(hf_config: Any) -> MistralConfig:
    """Their config to ours."""
    return MistralConfig(**gated_sizes(hf_config), window=hf_config.sliding_window)


def read_qwen2(hf_config: Any) -> Qwen2Config:
    """Their config to ours: layers with a window must be the upper ones."""
    kinds = list(hf_config.layer_types)
    full = kinds.count("full_attention")
    expected = ["full_attention"] * full + ["sliding_attention"] * (len(kinds) - full)
    only("config.layer_types", kinds, expected)
    window = hf_config.sliding_window  # kept where no layer uses it: it goes back with the rest
    first = 0 if window is None else full
    return Qwen2Config(**gated_sizes(hf_config), window=window, first_window_layer=first)


def read_gemma(hf_config: Any) -> GemmaConfig:
    """Their config to ours."""
    bidirectional = getattr(hf_config, "use_bidirectional_attention", None)
    only("config.use_bidirectional_attention", bool(bidirectional), False)
    return GemmaConfig(**gated_sizes(hf_config, "gelu_pytorch_tanh"), bias=hf_config.attention_bias)


def write_sizes(config: LlamaConfig) -> dict[str, Any]:
    """What their configs call our sizes."""
    heads = config.head_dim or config.d_model // config.n_heads
    return {
        "vocab_size": config.vocab_size,
        "hidden_size": config.d_model,
        "num_hidden_layers": config.n_layers,
        "num_attention_heads": config.n_heads,
        "num_key_value_heads": config.n_kv_heads or config.n_heads,
        "head_dim": heads,
        "intermediate_size": config.d_ff,
        "max_position_embeddings": config.max_seq_len,
        "rms_norm_eps": config.norm_eps,
        "rope_parameters": write_rope(config.rope_base, config.rope_scaling, config.max_seq_len),
        "tie_word_embeddings": config.tied,
    }


def write_llama(config: LlamaConfig) -> dict[str, Any]:
    """Our config to theirs."""
    return write_sizes(config) | {"attention_bias": config.bias, "mlp_bias": config.ff_bias}


def write_mistral(config: MistralConfig) -> dict[str, Any]:
    """Our config to theirs. Raises: ValueError if it has biases, which theirs cannot."""
    write_only(config, bias=False, ff_bias=False)
    return write_sizes(config) | {"sliding_window": config.window}


def write_qwen2(config: Qwen2Config) -> dict[str, Any]:
    """Our config to theirs. Raises: ValueError if its biases are not where theirs are."""
    write_only(config, bias=True, ff_bias=False)
    full = config.n_layers if config.window is None else config.first_window_layer
    kinds = ["full_attention"] * full + ["sliding_attention"] * (config.n_layers - full)
    windows = {"use_sliding_window": config.window is not None, "sliding_window": config.window}
    return write_sizes(config) | windows | {"layer_types": kinds[: config.n_layers]}


def write_gemma(config: GemmaConfig) -> dict[str, Any]:
    """Our config to theirs. Raises: ValueError if its networks have biases, which theirs cannot."""
    write_only(config, ff_bias=False)
    return write_sizes(config) | {"attention_bias": config.bias}


COMMON = {
    "tied": tied_head,
    "prefix": "model.",
    "ignored": (LAYER + "self_attn.rotary_emb.inv_freq",),
}
LLAMA = Family(
    "LlamaForCausalLM", LlamaConfig, read_llama, llama, dense_names, write_llama, **COMMON
)
MISTRAL = Family(
    "MistralForCausalLM", MistralConfig, read_mistral, mistral, dense_names, write_mistral, **COMMON
)
QWEN2 = Family(
    "Qwen2ForCausalLM", Qwen2Config, read_qwen2, qwen2, dense_names, write_qwen2, **COMMON
)
GEMMA = Family(
    "GemmaForCausalLM", GemmaConfig, read_gemma, gemma, dense_names, write_gemma, **COMMON
)
