"""MPT: queries, keys and values one below the other."""

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
from pieces.checkpoints.layouts import Stacked
from pieces.checkpoints.plain import DOWN, FIRST, OUT, QKV, SECOND, UP
from pieces.checks import checked
from pieces.feedforward import gelu
from pieces.models.mpt import MPTConfig, mpt


@checked
def read_mpt(c: Any) -> MPTConfig:
    """Their config to ours."""
    require_only(c, no_bias=True, logit_scale=None)
    plain = {"alibi": True, "clip_qkv": None, "qk_ln": False, "softmax_scale": None}
    require_only(c.attn_config, **plain, prefix_lm=False, attn_type="multihead_attention")
    require_only(c.attn_config, alibi_bias_max=8)  # their code computes 8, whatever it says
    return MPTConfig(
        c.vocab_size,
        c.d_model,
        c.n_layers,
        c.n_heads,
        4 * c.d_model,  # their code fixes it, whatever expansion_ratio says
        c.max_seq_len,
        c.layer_norm_epsilon,
        tied=bool(c.tie_word_embeddings),
    )


@checked
def write_mpt(config: MPTConfig) -> dict[str, Any]:
    """Our config to theirs."""
    write_only(config, bias=False, activation=gelu, d_ff=4 * config.d_model, steepest=8)
    return {
        "vocab_size": config.vocab_size,
        "d_model": config.d_model,
        "n_layers": config.n_layers,
        "n_heads": config.n_heads,
        "max_seq_len": config.max_seq_len,
        "layer_norm_epsilon": config.norm_eps,
        "tie_word_embeddings": config.tied,
    }


@checked
def mpt_names(config: MPTConfig) -> list[Rule]:
    """Which weight is which."""
    layer = "transformer.blocks.{l}."
    found = rules(
        ("transformer.wte", "embedding"),
        (layer + "norm_1", FIRST),
        (layer + "attn.Wqkv", QKV, Stacked()),
        (layer + "attn.out_proj", OUT),
        (layer + "norm_2", SECOND),
        (layer + "ffn.up_proj", UP),
        (layer + "ffn.down_proj", DOWN),
        ("transformer.norm_f", "stack.final_norm"),
    )
    return with_head(config, found)


MPT = Family(
    "MptForCausalLM",
    MPTConfig,
    read_mpt,
    mpt,
    mpt_names,
    write_mpt,
    tied=tied_head,
    prefix="transformer.",
)
