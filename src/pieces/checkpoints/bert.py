"""BERT, with or without its pooler, or with its masked-language head."""

from dataclasses import replace
from typing import Any

from torch import Tensor

from pieces.checkpoints.family import (
    Family,
    Rule,
    activation_name,
    activation_named,
    require_only,
    rules,
    write_only,
)
from pieces.checks import checked
from pieces.models.bert import BertConfig, BertMaskedLMConfig, bert, bert_masked_lm

OLDER = {r"LayerNorm\.gamma$": "LayerNorm.weight", r"LayerNorm\.beta$": "LayerNorm.bias"}
POSITIONS = "embeddings.position_ids"


@checked
def bert_sizes(c: Any) -> tuple:
    """What both have."""
    require_only(c, is_decoder=False, add_cross_attention=False)
    require_only(c, position_embedding_type="absolute")
    return (
        c.vocab_size,
        c.hidden_size,
        c.num_hidden_layers,
        c.num_attention_heads,
        c.intermediate_size,
        c.max_position_embeddings,
        c.type_vocab_size,
        c.layer_norm_eps,
        activation_named(c.hidden_act),
        c.hidden_dropout_prob,
    )


@checked
def read_bert(c: Any) -> BertConfig:
    """Their config to ours."""
    return BertConfig(*bert_sizes(c))


@checked
def read_masked(c: Any) -> BertMaskedLMConfig:
    """Their config to ours."""
    require_only(c, tie_word_embeddings=True)
    return BertMaskedLMConfig(*bert_sizes(c))


@checked
def with_or_without_pooler(config: BertConfig, state: dict[str, Tensor]) -> BertConfig:
    """Their config does not say whether there is one."""
    return replace(config, pooler=any(name.startswith("pooler.") for name in state))


@checked
def write_bert(config: BertConfig) -> dict[str, Any]:
    """Our config to theirs."""
    return {
        "vocab_size": config.vocab_size,
        "hidden_size": config.d_model,
        "num_hidden_layers": config.n_layers,
        "num_attention_heads": config.n_heads,
        "intermediate_size": config.d_ff,
        "max_position_embeddings": config.max_seq_len,
        "type_vocab_size": config.n_segments,
        "layer_norm_eps": config.norm_eps,
        "hidden_act": activation_name(config.activation),
        "hidden_dropout_prob": config.dropout,
    }


@checked
def write_masked(config: BertMaskedLMConfig) -> dict[str, Any]:
    """Our config to theirs."""
    write_only(config, pooler=False)
    return write_bert(config)


@checked
def encoder_names(theirs: str, ours: str) -> list[Rule]:
    """The encoder's weights, under the two prefixes."""
    layer, block = theirs + "encoder.layer.{l}.", ours + "stack.blocks.{l}."
    heads = ((f"attention.self.{x}", f"attention.{x}") for x in ("query", "key", "value"))
    return rules(
        (theirs + "embeddings.word_embeddings", ours + "embedding"),
        (theirs + "embeddings.position_embeddings", ours + "position"),
        (theirs + "embeddings.token_type_embeddings", ours + "segment"),
        (theirs + "embeddings.LayerNorm", ours + "embedding_norm"),
        *((layer + x, block + y) for x, y in heads),
        (layer + "attention.output.dense", block + "attention.output"),
        (layer + "attention.output.LayerNorm", block + "attention_residual.norm"),
        (layer + "intermediate.dense", block + "feed_forward.up"),
        (layer + "output.dense", block + "feed_forward.down"),
        (layer + "output.LayerNorm", block + "feed_forward_residual.norm"),
    )


@checked
def bert_names(config: BertConfig) -> list[Rule]:
    """Which weight is which."""
    pooler = rules(("pooler.dense", "pooler")) if config.pooler else []
    return [*encoder_names("", ""), *pooler]


@checked
def masked_names(config: BertMaskedLMConfig) -> list[Rule]:
    """Which weight is which."""
    head = "cls.predictions."
    return [
        *encoder_names("bert.", "bert."),
        *rules(
            (head + "transform.dense", "transform"),
            (head + "transform.LayerNorm", "norm"),
            (head + "bias", "bias"),
        ),
    ]


@checked
def tied_masked(config: BertMaskedLMConfig) -> dict[str, str]:
    """Their decoder is other names for the embedding and the bias."""
    head = "cls.predictions.decoder."
    return {head + "weight": "bert.embedding.weight", head + "bias": "bias"}


NO_DROPOUT = {"attention_probs_dropout_prob": 0.0}
BERT = Family(
    "BertModel",
    BertConfig,
    read_bert,
    bert,
    bert_names,
    write_bert,
    NO_DROPOUT,
    renames={r"^bert\.": "", **OLDER},
    ignored=(POSITIONS, "cls.*"),
    adjust=with_or_without_pooler,
    options=lambda config: {"add_pooling_layer": config.pooler},
)
MASKED = Family(
    "BertForMaskedLM",
    BertMaskedLMConfig,
    read_masked,
    bert_masked_lm,
    masked_names,
    write_masked,
    NO_DROPOUT,
    tied_masked,
    renames=OLDER,
    ignored=("bert." + POSITIONS, "bert.pooler.*", "cls.seq_relationship.*"),
)
