"""T5, the first one and v1.1."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from pieces.checkpoints.family import Family, Rule, rules
from pieces.checks import require
from pieces.models.t5 import T5Config, geglu_network, relu_network, t5

NETWORKS = {"relu": relu_network, "gated-gelu": geglu_network}
NAMES = {
    relu_network: (("wi", "up"), ("wo", "down")),
    geglu_network: (("wi_0", "gate"), ("wi_1", "up"), ("wo", "down")),
}


def read_t5(c: Any) -> T5Config:
    """Their config to ours."""
    kind = c.feed_forward_proj
    rule, remedy = f"must be one of {', '.join(NETWORKS)}", "use another checkpoint"
    require(kind in NETWORKS, "config.feed_forward_proj", kind, rule, remedy)
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
        NETWORKS[kind],
        bool(c.tie_word_embeddings),
        bool(c.scale_decoder_outputs),
    )


def own_head(config: T5Config, state: dict[str, Tensor]) -> T5Config:
    """Transformers calls every T5 tied; files of v1.1 have a head of their own."""
    head, table = state.get("lm_head.weight"), state.get("shared.weight")
    known = head is not None and table is not None
    return replace(config, tied=not known or torch.equal(head, table))


def part(side: str, layers: tuple[tuple[str, str], ...], config: T5Config) -> list[Rule]:
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
    encoder = part("encoder", (own, network), config)
    cross = ("EncDecAttention", "cross_attention")
    decoder = part("decoder", (own, cross, network), config)
    found = [*rules(("shared", "embedding")), *encoder, *decoder]
    return found if config.tied else [*found, *rules(("lm_head", "head"))]


def tied_t5(config: T5Config) -> dict[str, str]:
    """Other names of the one table."""
    copies = dict.fromkeys(
        ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight"), "embedding.weight"
    )
    return copies | ({"lm_head.weight": "embedding.weight"} if config.tied else {})


T5 = Family(
    "T5ForConditionalGeneration", T5Config, read_t5, t5, t5_names, tied=tied_t5, adjust=own_head
)
