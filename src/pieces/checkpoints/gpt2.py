"""GPT-2, OPT, BLOOM and MPT: a plain decoder under four sets of names."""

from typing import Any

from torch import Tensor

from pieces.checkpoints.family import (
    Family,
    Rule,
    activation_name,
    activation_named,
    prefixed,
    require_only,
    rules,
    tied_head,
)
from pieces.checkpoints.layouts import ByGroup, Same, Stacked, Transposed, TransposedStacked
from pieces.models.bloom import BloomConfig, bloom
from pieces.models.gpt2 import GPT2Config, PlainConfig, gpt2
from pieces.models.mpt import MPTConfig, mpt
from pieces.models.opt import OPTConfig, opt

BLOCK = "stack.blocks.{l}."
QKV = " ".join(BLOCK + f"attention.{part}" for part in ("query", "key", "value"))
FIRST, SECOND = (BLOCK + f"{part}_residual.norm" for part in ("attention", "feed_forward"))
OUT, UP, DOWN = (BLOCK + p for p in ("attention.output", "feed_forward.up", "feed_forward.down"))


class Shifted(Same):
    """OPT's position p is row p + 2: rows 0 and 1 meet nothing but padding, and are dropped."""

    def split(self, theirs: Tensor) -> tuple[Tensor, ...]:
        """Theirs to ours."""
        return (theirs[2:],)


def with_head(config: PlainConfig, found: list[Rule]) -> list[Rule]:
    """The head too, where it is a weight of its own."""
    return found if config.tied else [*found, *rules(("lm_head", "head"))]


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


def write_gpt2(config: GPT2Config) -> Any:
    """Our config to theirs. Raises: ValueError if it has no biases, which theirs must."""
    import transformers

    require_biases(config)
    return transformers.GPT2Config(
        vocab_size=config.vocab_size,
        n_embd=config.d_model,
        n_layer=config.n_layers,
        n_head=config.n_heads,
        n_inner=config.d_ff,
        n_positions=config.max_seq_len,
        layer_norm_epsilon=config.norm_eps,
        activation_function=activation_name(config.activation, ("gelu_new",)),
        tie_word_embeddings=config.tied,
    )


def require_biases(config: PlainConfig) -> None:
    """Refuse a GPT-2 without biases."""
    from pieces.checks import require

    require(config.bias, "bias", config.bias, "their GPT-2 has biases", "build it with bias=True")


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


def read_bloom(c: Any) -> BloomConfig:
    """Their config to ours."""
    require_only(c, apply_residual_connection_post_layernorm=False)
    sizes = (c.vocab_size, c.hidden_size, c.n_layer, c.n_head, 4 * c.hidden_size)
    eps, tied = c.layer_norm_epsilon, bool(c.tie_word_embeddings)
    return BloomConfig(*sizes, norm_eps=eps, tied=tied)


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


BARE = prefixed("transformer.")
GPT2 = Family(
    "GPT2LMHeadModel", GPT2Config, read_gpt2, gpt2, gpt2_names, write_gpt2, tied_head, BARE
)
OPT = Family(
    "OPTForCausalLM", OPTConfig, read_opt, opt, opt_names, None, tied_head, prefixed("model.")
)
BLOOM = Family(
    "BloomForCausalLM", BloomConfig, read_bloom, bloom, bloom_names, None, tied_head, BARE
)
MPT = Family("MptForCausalLM", MPTConfig, read_mpt, mpt, mpt_names, None, tied_head)
