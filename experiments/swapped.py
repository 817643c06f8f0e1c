"""A small decoder by the names that the book's workbench gives to its parts.

    built(BASE)                       the baseline
    built(BASE | {"place": "post"})   one part swapped

The widget *Workbench* writes such a model as a few lines of code; a test holds the two equal.
"""

import math
from collections.abc import Callable
from typing import Any

from torch import nn

from pieces.attention import CachedAttention, CausalCore
from pieces.blocks import Block, Stack
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import (
    FeedForward,
    GatedFeedForward,
    gelu,
    identity,
    relu,
    sigmoid,
    swish,
    two_thirds,
)
from pieces.models.decoder_only import DecoderOnly
from pieces.moe import GatedExperts, MixtureOfExperts, Router
from pieces.norms import LayerNorm, RMSNorm
from pieces.positions import ALiBi, Learned, PositionalEncoding, Rotary, Sinusoidal, T5Buckets
from pieces.residual import (
    DeepNorm,
    PostNorm,
    PreNorm,
    Residual,
    SandwichNorm,
    deepnorm_alpha_beta,
    deepnorm_init_,
)

Parts = dict[str, Any]

BASE: Parts = {
    "vocab_size": 496,
    "d_model": 64,
    "n_layers": 2,
    "n_heads": 4,
    "n_kv_heads": 4,
    "head_dim": 16,
    "d_ff": 256,
    "length": 128,
    "position": "rope",
    "norm": "rms",
    "place": "pre",
    "activation": "swiglu",
    "n_experts": 1,
    "n_chosen": 1,
}
POSITIONS: dict[str, Callable[[Parts], PositionalEncoding | None]] = {
    "none": lambda p: None,
    "sinusoidal": lambda p: Sinusoidal(p["d_model"]),
    "learned": lambda p: Learned(p["length"], p["d_model"]),
    "rope": lambda p: Rotary(p["head_dim"]),
    "alibi": lambda p: ALiBi(p["n_heads"]),
    "t5": lambda p: T5Buckets(p["n_heads"], bidirectional=False),
}
NORMS = {"rms": RMSNorm, "layer": LayerNorm}
PLAIN = {"relu": relu, "gelu": gelu}
GATED = {"glu": sigmoid, "swiglu": swish, "geglu": gelu, "bilinear": identity}


def residual(p: Parts) -> nn.Module:
    """The connection of one sublayer."""
    if p["norm"] == "none":
        return Residual()
    norm, D = NORMS[p["norm"]], p["d_model"]
    if p["place"] == "sandwich":
        return SandwichNorm(norm(D), norm(D))
    if p["place"] == "deep":
        return DeepNorm(norm(D), deepnorm_alpha_beta(0, p["n_layers"])[1].alpha)
    return {"pre": PreNorm, "post": PostNorm}[p["place"]](norm(D))


def feed_forward(p: Parts) -> nn.Module:
    """One network, or several that a token chooses from; a gated one is two thirds as wide."""
    D, F = p["d_model"], p["d_ff"]
    if p["n_experts"] > 1:
        router = Router(D, p["n_experts"], p["n_chosen"])
        return MixtureOfExperts(router, GatedExperts(p["n_experts"], D, two_thirds(F)))
    if p["activation"] in PLAIN:
        return FeedForward(D, F, PLAIN[p["activation"]], bias=False)
    return GatedFeedForward(D, two_thirds(F), GATED[p["activation"]])


def built(p: Parts) -> DecoderOnly:
    """The model of these parts, with torch's own first weights, or DeepNorm's small ones."""
    D, position = p["d_model"], POSITIONS[p["position"]](p)
    rotary = {"position": position} if p["position"] == "rope" else {}

    def block() -> Block:
        sizes = {"n_kv_heads": p["n_kv_heads"], "head_dim": p["head_dim"]}
        attention = CachedAttention(D, p["n_heads"], **sizes, core=CausalCore(), **rotary)
        connections = {"attention_residual": residual(p), "feed_forward_residual": residual(p)}
        return Block(attention, feed_forward(p), **connections)

    embedding = TokenEmbedding(p["vocab_size"], D, scale=math.sqrt(D))
    opened = p["norm"] != "none" and p["place"] in ("pre", "sandwich")
    last = NORMS[p["norm"]](D) if opened else None
    stack = Stack([block() for _ in range(p["n_layers"])], last)
    if p["norm"] != "none" and p["place"] == "deep":
        deepnorm_init_(stack, deepnorm_alpha_beta(0, p["n_layers"])[1].beta)
    return DecoderOnly(embedding, stack, position=position)
