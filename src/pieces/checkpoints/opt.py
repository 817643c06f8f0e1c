"""OPT: its table of positions begins with two rows for padding."""

from typing import Any

import torch
from torch import Tensor

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
from pieces.checkpoints.layouts import Same
from pieces.checkpoints.plain import BLOCK, DOWN, FIRST, OUT, SECOND, UP
from pieces.checks import checked
from pieces.models.opt import OPTConfig, opt


@checked
class Shifted(Same):
    """OPT's position p is row p + 2: rows 0 and 1 meet nothing but padding, and are dropped."""

    def split(self, theirs: Tensor) -> tuple[Tensor, ...]:
        """Theirs to ours."""
        return (theirs[2:],)

    def join(self, ours: tuple[Tensor, ...]) -> Tensor:
        """Ours to theirs: what was dropped is 0."""
        return torch.cat((ours[0].new_zeros(2, ours[0].shape[1]), ours[0]))


@checked
def read_opt(c: Any) -> OPTConfig:
    """Their config to ours."""
    require_only(c, do_layer_norm_before=True, word_embed_proj_dim=c.hidden_size)
    require_only(c, _remove_final_layer_norm=False, layer_norm_elementwise_affine=True)
    require_only(c, enable_bias=True)
    return OPTConfig(
        c.vocab_size,
        c.hidden_size,
        c.num_hidden_layers,
        c.num_attention_heads,
        c.ffn_dim,
        c.max_position_embeddings,
        activation=activation_named(c.activation_function),
        tied=bool(c.tie_word_embeddings),
    )


@checked
def write_opt(config: OPTConfig) -> dict[str, Any]:
    """Our config to theirs."""
    write_only(config, bias=True, norm_eps=1e-5)
    return {
        "vocab_size": config.vocab_size,
        "hidden_size": config.d_model,
        "word_embed_proj_dim": config.d_model,
        "num_hidden_layers": config.n_layers,
        "num_attention_heads": config.n_heads,
        "ffn_dim": config.d_ff,
        "max_position_embeddings": config.max_seq_len,
        "activation_function": activation_name(config.activation),
        "tie_word_embeddings": config.tied,
    }


@checked
def opt_names(config: OPTConfig) -> list[Rule]:
    """Which weight is which."""
    layer = "model.decoder.layers.{l}."
    found = rules(
        ("model.decoder.embed_tokens", "embedding"),
        ("model.decoder.embed_positions", "position", Shifted()),
        (layer + "self_attn_layer_norm", FIRST),
        (layer + "self_attn.q_proj", BLOCK + "attention.query"),
        (layer + "self_attn.k_proj", BLOCK + "attention.key"),
        (layer + "self_attn.v_proj", BLOCK + "attention.value"),
        (layer + "self_attn.out_proj", OUT),
        (layer + "final_layer_norm", SECOND),
        (layer + "fc1", UP),
        (layer + "fc2", DOWN),
        ("model.decoder.final_layer_norm", "stack.final_norm"),
    )
    return with_head(config, found)


OPT = Family(
    "OPTForCausalLM",
    OPTConfig,
    read_opt,
    opt,
    opt_names,
    write_opt,
    {"dropout": 0.0},
    tied_head,
    prefix="model.",
)
