"""GPT-2: matrices turned, queries, keys and values side by side."""

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
    write_only,
)
from pieces.checkpoints.layouts import Transposed, TransposedStacked
from pieces.checkpoints.plain import DOWN, FIRST, OUT, QKV, SECOND, UP
from pieces.checks import checked
from pieces.models.gpt2 import GPT2Config, gpt2


@checked
def read_gpt2(c: Any) -> GPT2Config:
    """Their config to ours."""
    require_only(c, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False)
    require_only(c, add_cross_attention=False)
    return GPT2Config(
        c.vocab_size,
        c.n_embd,
        c.n_layer,
        c.n_head,
        c.n_inner or 4 * c.n_embd,
        c.n_positions,
        c.layer_norm_epsilon,
        activation_named(c.activation_function),
        tied=bool(c.tie_word_embeddings),
    )


@checked
def write_gpt2(config: GPT2Config) -> dict[str, Any]:
    """Our config to theirs."""
    write_only(config, bias=True)
    return {
        "vocab_size": config.vocab_size,
        "n_embd": config.d_model,
        "n_layer": config.n_layers,
        "n_head": config.n_heads,
        "n_inner": config.d_ff,
        "n_positions": config.max_seq_len,
        "layer_norm_epsilon": config.norm_eps,
        "activation_function": activation_name(config.activation, ("gelu_new",)),
        "tie_word_embeddings": config.tied,
    }


@checked
def gpt2_names(config: GPT2Config) -> list[Rule]:
    """Which weight is which."""
    layer = "transformer.h.{l}."
    found = rules(
        ("transformer.wte", "embedding"),
        ("transformer.wpe", "position"),
        (layer + "ln_1", FIRST),
        (layer + "attn.c_attn", QKV, TransposedStacked()),
        (layer + "attn.c_proj", OUT, Transposed()),
        (layer + "ln_2", SECOND),
        (layer + "mlp.c_fc", UP, Transposed()),
        (layer + "mlp.c_proj", DOWN, Transposed()),
        ("transformer.ln_f", "stack.final_norm"),
    )
    return with_head(config, found)


GPT2 = Family(
    "GPT2LMHeadModel",
    GPT2Config,
    read_gpt2,
    gpt2,
    gpt2_names,
    write_gpt2,
    {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0},
    tied_head,
    prefix="transformer.",
    ignored=("transformer.h.{l}.attn.bias", "transformer.h.{l}.attn.masked_bias"),
)
