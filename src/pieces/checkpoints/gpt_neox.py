"""GPT-NeoX and Pythia: queries, keys and values by head, a part of each rotated."""

import math
from typing import Any

from pieces.checkpoints.family import (
    Family,
    Rule,
    activation_name,
    activation_named,
    rules,
    tied_head,
    with_head,
)
from pieces.checkpoints.layouts import ByGroup
from pieces.checkpoints.plain import BLOCK, QKV
from pieces.checkpoints.rope import read_rope, write_rope
from pieces.models.gpt_neox import GPTNeoXConfig, gpt_neox


def read_gpt_neox(c: Any) -> GPTNeoXConfig:
    """Their config to ours."""
    part = c.rope_parameters.get("partial_rotary_factor", 1.0)
    base, scaling = read_rope(c, part)
    head_dim = c.hidden_size // c.num_attention_heads
    return GPTNeoXConfig(
        c.vocab_size,
        c.hidden_size,
        c.num_hidden_layers,
        c.num_attention_heads,
        c.intermediate_size,
        int(head_dim * part),
        c.max_position_embeddings,
        c.layer_norm_eps,
        activation_named(c.hidden_act),
        base,
        scaling,
        "parallel" if c.use_parallel_residual else "sequential",
        c.attention_bias,
        bool(c.tie_word_embeddings),
    )


def gpt_neox_names(config: GPTNeoXConfig) -> list[Rule]:
    """Which weight is which; the norms stand elsewhere if one branch follows the other."""
    norms = {
        "parallel": ("norm", "feed_forward_norm"),
        "sequential": ("attention_residual.norm", "feed_forward_residual.norm"),
    }
    first, second = norms[config.arrangement]
    layer = "gpt_neox.layers.{l}."
    found = rules(
        ("gpt_neox.embed_in", "embedding"),
        (layer + "input_layernorm", BLOCK + first),
        (layer + "post_attention_layernorm", BLOCK + second),
        (layer + "attention.query_key_value", QKV, ByGroup(config.n_heads, config.n_heads)),
        (layer + "attention.dense", BLOCK + "attention.output"),
        (layer + "mlp.dense_h_to_4h", BLOCK + "feed_forward.up"),
        (layer + "mlp.dense_4h_to_h", BLOCK + "feed_forward.down"),
        ("gpt_neox.final_layer_norm", "stack.final_norm"),
    )
    return with_head(config, found)


def write_gpt_neox(config: GPTNeoXConfig) -> dict[str, Any]:
    """Our config to theirs."""
    head_dim = config.d_model // config.n_heads
    turned = head_dim if config.rotary_dim is None else config.rotary_dim
    part = turned / head_dim
    part = part if int(head_dim * part) == turned else math.nextafter(part, 1.0)
    rope = write_rope(config.rope_base, config.rope_scaling, config.max_seq_len)
    return {
        "vocab_size": config.vocab_size,
        "hidden_size": config.d_model,
        "num_hidden_layers": config.n_layers,
        "num_attention_heads": config.n_heads,
        "intermediate_size": config.d_ff,
        "max_position_embeddings": config.max_seq_len,
        "layer_norm_eps": config.norm_eps,
        "hidden_act": activation_name(config.activation),
        "rope_parameters": rope | {"partial_rotary_factor": part},
        "use_parallel_residual": config.arrangement == "parallel",
        "attention_bias": config.bias,
        "tie_word_embeddings": config.tied,
    }


GPT_NEOX = Family(
    "GPTNeoXForCausalLM",
    GPTNeoXConfig,
    read_gpt_neox,
    gpt_neox,
    gpt_neox_names,
    write_gpt_neox,
    tied=tied_head,
    prefix="gpt_neox.",
    renames={r"^embed_out\.": "lm_head."},
    ignored=tuple(
        f"gpt_neox.layers.{{l}}.attention.{x}"
        for x in ("bias", "masked_bias", "rotary_emb.inv_freq")
    ),
)
