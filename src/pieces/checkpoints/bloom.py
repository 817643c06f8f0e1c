"""BLOOM: queries, keys and values by head."""

from typing import Any

from pieces.checkpoints.family import (
    Family,
    Rule,
    require_only,
    rules,
    tied_head,
    with_head,
    write_only,
)
from pieces.checkpoints.layouts import ByGroup
from pieces.checkpoints.plain import DOWN, FIRST, OUT, QKV, SECOND, UP
from pieces.checks import checked
from pieces.feedforward import gelu_tanh
from pieces.models.bloom import BloomConfig, bloom


@checked
def read_bloom(c: Any) -> BloomConfig:
    """Their config to ours. ``slow_but_exact`` leaves biases out, but for pretraining_tp = 1."""
    require_only(c, apply_residual_connection_post_layernorm=False)
    if c.pretraining_tp > 1:
        require_only(c, slow_but_exact=False)
    sizes = (c.vocab_size, c.hidden_size, c.n_layer, c.n_head, 4 * c.hidden_size)
    eps, tied = c.layer_norm_epsilon, bool(c.tie_word_embeddings)
    return BloomConfig(*sizes, norm_eps=eps, tied=tied)


@checked
def write_bloom(config: BloomConfig) -> dict[str, Any]:
    """Our config to theirs."""
    write_only(config, bias=True, activation=gelu_tanh, d_ff=4 * config.d_model)
    return {
        "vocab_size": config.vocab_size,
        "hidden_size": config.d_model,
        "n_layer": config.n_layers,
        "n_head": config.n_heads,
        "layer_norm_epsilon": config.norm_eps,
        "tie_word_embeddings": config.tied,
    }


@checked
def bloom_names(config: BloomConfig) -> list[Rule]:
    """Which weight is which."""
    layer = "transformer.h.{l}."
    found = rules(
        ("transformer.word_embeddings", "embedding"),
        ("transformer.word_embeddings_layernorm", "embedding_norm"),
        (layer + "input_layernorm", FIRST),
        (layer + "self_attention.query_key_value", QKV, ByGroup(config.n_heads, config.n_heads)),
        (layer + "self_attention.dense", OUT),
        (layer + "post_attention_layernorm", SECOND),
        (layer + "mlp.dense_h_to_4h", UP),
        (layer + "mlp.dense_4h_to_h", DOWN),
        ("transformer.ln_f", "stack.final_norm"),
    )
    return with_head(config, found)


BLOOM = Family(
    "BloomForCausalLM",
    BloomConfig,
    read_bloom,
    bloom,
    bloom_names,
    write_bloom,
    tied=tied_head,
    prefix="transformer.",
)
