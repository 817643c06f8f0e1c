"""T5, the first one and v1.1."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from pieces.checkpoints.family import (
    Family,
    Rule,
    activation_named,
    only,
    require_only,
    rules,
    with_head,
)
from pieces.checks import one_of, refuse
from pieces.models.t5 import T5Config, geglu_network, relu_network, t5

NETWORKS = {"relu": relu_network, "gated-gelu": geglu_network}
COPIES = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
NAMES = {
    relu_network: (("wi", "up"), ("wo", "down")),
    geglu_network: (("wi_0", "gate"), ("wi_1", "up"), ("wo", "down")),
}


def read_t5(c: Any) -> T5Config:
    """Their config to ours."""
    network = one_of("config.feed_forward_proj", c.feed_forward_proj, NETWORKS)
    gated = network is geglu_network
    require_only(c, is_gated_act=gated, is_encoder_decoder=True)
    usual = "gelu_new" if gated else "relu"  # but a config may say otherwise beside
    if activation_named(c.dense_act_fn) is not activation_named(usual):
        only("config.dense_act_fn", c.dense_act_fn, usual)
    return T5Config(
        c.vocab_size,
        c.d_model,
        c.num_layers,
        c.num_heads,
        c.d_ff,
        c.d_kv,
        c.num_decoder_layers,
        c.relative_attention_num_buckets,
        c.relative_attention_max_distance,
        c.layer_norm_epsilon,
        network,
        bool(c.tie_word_embeddings),
        bool(c.scale_decoder_outputs),
    )


def write_t5(config: T5Config) -> dict[str, Any]:
    """Our config to theirs, where "tied" only says whether logits are scaled.

    Raises: ValueError if the networks are of another kind.
    """
    kinds = {network: kind for kind, network in NETWORKS.items()}
    if config.feed_forward not in kinds:
        rule = "theirs has relu_network and geglu_network"
        refuse("feed_forward", config.feed_forward, rule, "build it with one of the two")
    depth = config.n_layers if config.n_decoder_layers is None else config.n_decoder_layers
    return {
        "vocab_size": config.vocab_size,
        "d_model": config.d_model,
        "num_layers": config.n_layers,
        "num_heads": config.n_heads,
        "d_ff": config.d_ff,
        "d_kv": config.head_dim,
        "num_decoder_layers": depth,
        "relative_attention_num_buckets": config.num_buckets,
        "relative_attention_max_distance": config.max_distance,
        "layer_norm_epsilon": config.norm_eps,
        "feed_forward_proj": kinds[config.feed_forward],
        "tie_word_embeddings": config.scaled,
    }


def own_head(config: T5Config, state: dict[str, Tensor]) -> T5Config:
    """Transformers calls every T5 tied; files of v1.1 have a head of their own."""
    head = state.get("lm_head.weight")
    table = next((state[name] for name in ("shared.weight", *COPIES) if name in state), None)
    known = head is not None and table is not None
    return replace(config, tied=not known or torch.equal(head, table))


def side_names(side: str, layers: tuple[tuple[str, str], ...], config: T5Config) -> list[Rule]:
    """The rules of one side: its sublayers in order, each with its norm."""
    block, ours = side + ".block.{l}.layer.", side + ".blocks.{l}."
    names = {"q": "query", "k": "key", "v": "value", "o": "output"}
    network = NAMES[config.feed_forward]
    pairs = []
    for number, (theirs, part_name) in enumerate(layers):
        inner = network if theirs == "DenseReluDense" else names.items()
        where = f"{block}{number}.{theirs}."
        pairs += [(where + x, f"{ours}{part_name}.{y}") for x, y in inner]
        residual = part_name.replace("cross_attention", "cross") + "_residual.norm"
        pairs.append((f"{block}{number}.layer_norm", ours + residual))
    pairs.append((side + ".final_layer_norm", side + ".final_norm"))
    table = side + ".block.0.layer.0.SelfAttention.relative_attention_bias"
    return rules(*pairs, (table, side + "_position"))


def t5_names(config: T5Config) -> list[Rule]:
    """Which weight is which."""
    own, network = ("SelfAttention", "attention"), ("DenseReluDense", "feed_forward")
    encoder = side_names("encoder", (own, network), config)
    cross = ("EncDecAttention", "cross_attention")
    decoder = side_names("decoder", (own, cross, network), config)
    found = [*rules(("shared", "embedding")), *encoder, *decoder]
    return with_head(config, found)


def tied_t5(config: T5Config) -> dict[str, str]:
    """Other names of the one table."""
    copies = dict.fromkeys(COPIES, "embedding.weight")
    return copies | ({"lm_head.weight": "embedding.weight"} if config.tied else {})


T5 = Family(
    "T5ForConditionalGeneration",
    T5Config,
    read_t5,
    t5,
    t5_names,
    write_t5,
    {"dropout_rate": 0.0},
    tied_t5,
    ignored=("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",),
    adjust=own_head,
)
