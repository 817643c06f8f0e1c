"""T5, the one model of the table with an encoder."""

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
REMEDY = "leave it so, or build a decoder"


def t5_of_row(a: Architecture) -> EncoderDecoder:
    """The row's T5: ``models.t5``, whose other parts cannot be chosen.

    Source: Raffel et al. 2020, 2.1. Raises: as ``zoo.assemble``, and ValueError for other parts.
    """
    for field, word in ONLY.items():
        seen, rule = getattr(a, field), f"an encoder-decoder has {word!r}"
        require(seen == word, field, seen, rule, REMEDY)
    heads, rule = a.n_heads, f"an encoder-decoder has n_heads = {a.n_heads}"
    require(a.kv_heads == heads, "n_kv_heads", a.kv_heads, rule, REMEDY)

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
