"""Falcon, the newer architecture: queries, keys and values by group."""

from typing import Any

from pieces.checkpoints.family import (
    Family,
    Rule,
    activation_name,
    activation_named,
    require_only,
    rules,
    tied_head,
    with_head,
)
from pieces.checkpoints.layouts import ByGroup
from pieces.checkpoints.plain import BLOCK, QKV
from pieces.checkpoints.rope import read_rope, write_rope
from pieces.checks import checked
from pieces.models.falcon import FalconConfig, falcon


@checked
def read_falcon(c: Any) -> FalconConfig:
    """Their config to ours: the newer architecture only."""
    require_only(c, new_decoder_architecture=True, alibi=False)
    base, scaling = read_rope(c)
    return FalconConfig(
        c.vocab_size,
        c.hidden_size,
        c.num_hidden_layers,
        c.num_attention_heads,
        c.ffn_hidden_size,
        c.num_kv_heads,
        2 if c.num_ln_in_parallel_attn is None else c.num_ln_in_parallel_attn,
        c.max_position_embeddings,
        c.layer_norm_epsilon,
        activation_named(c.activation),
        base,
        scaling,
        c.bias,
        bool(c.tie_word_embeddings),
    )


@checked
def write_falcon(config: FalconConfig) -> dict[str, Any]:
    """Our config to theirs."""
    return {
        "vocab_size": config.vocab_size,
        "hidden_size": config.d_model,
        "num_hidden_layers": config.n_layers,
        "num_attention_heads": config.n_heads,
        "ffn_hidden_size": config.d_ff,
        "num_kv_heads": config.n_kv_heads,
        "num_ln_in_parallel_attn": config.n_norms,
        "max_position_embeddings": config.max_seq_len,
        "layer_norm_epsilon": config.norm_eps,
        "activation": activation_name(config.activation),
        "rope_parameters": write_rope(config.rope_base, config.rope_scaling, config.max_seq_len),
        "bias": config.bias,
        "tie_word_embeddings": config.tied,
        "new_decoder_architecture": True,
        "alibi": False,
    }


@checked
def falcon_names(config: FalconConfig) -> list[Rule]:
    """Which weight is which."""
    layer = "transformer.h.{l}."
    norms = {
        1: [(layer + "input_layernorm", BLOCK + "norm")],
        2: [(layer + "ln_attn", BLOCK + "norm"), (layer + "ln_mlp", BLOCK + "feed_forward_norm")],
    }
    fused = ByGroup(config.n_heads, config.n_kv_heads)
    found = rules(
        ("transformer.word_embeddings", "embedding"),
        *norms[config.n_norms],
        (layer + "self_attention.query_key_value", QKV, fused),
        (layer + "self_attention.dense", BLOCK + "attention.output"),
        (layer + "mlp.dense_h_to_4h", BLOCK + "feed_forward.up"),
        (layer + "mlp.dense_4h_to_h", BLOCK + "feed_forward.down"),
        ("transformer.ln_f", "stack.final_norm"),
    )
    return with_head(config, found)


FALCON = Family(
    "FalconForCausalLM",
    FalconConfig,
    read_falcon,
    falcon,
    falcon_names,
    write_falcon,
    tied=tied_head,
    prefix="transformer.",
    ignored=tuple(
        f"transformer.h.{{l}}.self_attention.{x}.inv_freq" for x in ("rotary_emb", "maybe_rotary")
    ),
)
