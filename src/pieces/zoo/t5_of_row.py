"""T5, the one model of the table with an encoder."""

from dataclasses import replace
from functools import partial

from torch import nn

from pieces.checks import require
from pieces.models.encoder_decoder import EncoderDecoder
from pieces.models.t5 import T5Config, t5
from pieces.zoo.parts import FEED_FORWARDS
from pieces.zoo.row import Architecture

ONLY = {
    "arrangement": "pre",
    "norm": "RMSNorm",
    "position": "T5 buckets",
    "biases": "none",
    "embedding": "plain",
    "top": "nothing",
}


def t5_of_row(a: Architecture) -> EncoderDecoder:
    """The row's T5: ``models.t5``, whose other parts cannot be chosen.

    Source: Raffel et al. 2020, 2.1. Raises: as ``zoo.assemble``, and ValueError for other parts.
    """
    told = replace(a, n_kv_heads=a.kv_heads)  # left out, it is n_heads
    for field, word in (ONLY | {"n_kv_heads": a.n_heads}).items():
        seen, rule = getattr(told, field), f"an encoder-decoder has {word!r}"
        require(seen == word, field, seen, rule, "leave it so, or build a decoder")

    sizes = (a.vocab_size, a.d_model, a.n_layers, a.n_heads, a.d_ff, a.head_size)
    parts = {
        "feed_forward": partial(network_of_row, a),
        "norm_eps": a.norm_eps,
        "tied": a.head == "tied",
    }
    return t5(T5Config(*sizes, **parts))


def network_of_row(a: Architecture, d_model: int, d_ff: int) -> nn.Module:
    """The row's feed-forward network, whose sizes are the row's too."""
    return FEED_FORWARDS[a.feed_forward](a)
