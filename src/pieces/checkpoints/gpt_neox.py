"""GPT-NeoX (Pythia) and Falcon: parallel branches, fused projections by head."""

from typing import Any

from pieces.checkpoints.family import Family, Rule, activation_named, require_only, rules, tied_head
from pieces.checkpoints.layouts import ByGroup
from pieces.checkpoints.rope import read_rope
from pieces.models.falcon import FalconConfig, falcon
from pieces.models.gpt_neox import GPTNeoXConfig, gpt_neox

BLOCK = "stack.blocks.{l}."
QKV = " ".join(BLOCK + f"attention.{part}" for part in ("query", "key", "value"))


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
    return found if config.tied else [*found, *rules(("lm_head", "head"))]


def older_gpt_neox(state: dict) -> dict:
    """Files call the head embed_out."""
    return {name.replace("embed_out.", "lm_head."): weight for name, weight in state.items()}


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
    return found if config.tied else [*found, *rules(("lm_head", "head"))]


GPT_NEOX = Family(
    "GPTNeoXForCausalLM",
    GPTNeoXConfig,
    read_gpt_neox,
    gpt_neox,
    gpt_neox_names,
    tied=tied_head,
    older=older_gpt_neox,
)
FALCON = Family(
    "FalconForCausalLM", FalconConfig, read_falcon, falcon, falcon_names, tied=tied_head
)
