"""Models from rows: on the meta device at full size, or shrunk so that they run."""

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated

import torch
from torch import nn

from pieces.attention import CachedAttention
from pieces.blocks import Stack
from pieces.checks import OneOf, Range, Size, checked, one_of
from pieces.embeddings import TokenEmbedding
from pieces.models.decoder_only import DecoderOnly
from pieces.positions import PositionalEncoding
from pieces.types import Device
from pieces.zoo.count import count_parameters
from pieces.zoo.parts import (
    ARRANGEMENTS,
    BIASES,
    CORES,
    FEED_FORWARDS,
    FINAL_NORMS,
    HEADS,
    NORMS,
    POSITIONS,
    Placement,
)
from pieces.zoo.query_layer import ClosingBlock, LearnedTwice, QueryAttention
from pieces.zoo.row import Architecture
from pieces.zoo.t5_of_row import t5_of_row
from pieces.zoo.table import MODEL_TABLE, OUR_MODELS

WORDS = {
    "arrangement": ARRANGEMENTS,
    "norm": NORMS,
    "position": POSITIONS,
    "feed_forward": FEED_FORWARDS,
    "biases": BIASES,
    "head": HEADS,
}

ROWS = MODEL_TABLE | OUR_MODELS
Name = Annotated[str, OneOf(ROWS)]


@checked
def build(name: Name, device: Device = "meta") -> nn.Module:
    """The model of a row at its full size; on "meta" it has shapes but no numbers.

    Source: source text, Table 5.1.
    """
    with torch.device(device):
        return assemble(ROWS[name].built)


@checked
@functools.cache
def counted(name: Name) -> Mapping[str, int]:
    """The parameters of a row's model by part, and in "total": built at full size, and counted."""
    return MappingProxyType(count_parameters(build(name)))


@checked
def assemble(architecture: Architecture) -> nn.Module:
    """The model of an architecture, with random weights, on torch's default device.

    Causal models and "prefix" ones are ``DecoderOnly``, the other takes a source and a target. A
    prefix model sees its whole input unless told otherwise: pass ``masks.prefix(T, prefix_len)``.
    """
    for field, parts in (WORDS | HERE).items():
        one_of(field, getattr(architecture, field), parts)
    return CATEGORIES[architecture.category](architecture)


@checked
def shrink(
    architecture: Architecture, *, n_layers: Size = 2, head_dim: Annotated[int, Range(2)] = 8
) -> Architecture:
    """The same architecture in small: what divides, shares or differs in it still does.

    4 heads stand for a power of 2 and 6 for any other number; grouped heads become 2 groups; the
    width of all heads keeps its ratio to d_model, and d_ff too (rounded).
    """
    a = architecture
    n_heads = 4 if math.log2(a.n_heads).is_integer() else 6
    groups = {a.n_heads: n_heads, 1: 1}.get(a.kv_heads, 2)
    d_model = max(16, round(n_heads * head_dim * a.d_model / (a.n_heads * a.head_size)))
    turned = None if a.rotary_dim is None else a.rotary_dim * head_dim // a.head_size
    sizes = {"n_layers": n_layers, "n_heads": n_heads, "n_kv_heads": groups, "head_dim": head_dim}
    widths = {"d_model": d_model, "d_ff": round(d_model * a.d_ff / a.d_model), "vocab_size": 97}
    reach = {"max_seq_len": 32, "window": a.window and 3, "rotary_dim": turned}
    return replace(a, **sizes, **widths, **reach)


def _decoder(a: Architecture) -> DecoderOnly:
    embedding, embedding_norm = EMBEDDINGS[a.embedding](a)
    position, blocks, final_norm = TOPS[a.top](a)
    stack = Stack(blocks, final_norm)
    around = {"position": position, "embedding_norm": embedding_norm, "head": HEADS[a.head](a)}
    return DecoderOnly(embedding, stack, **around, config=a)


def _attention(a: Architecture, position: PositionalEncoding | None) -> CachedAttention:
    biases = BIASES[a.biases]
    return CachedAttention(
        a.d_model,
        a.n_heads,
        n_kv_heads=a.n_kv_heads,
        head_dim=a.head_dim,
        bias=biases.attention,
        out_bias=biases.output,
        position=position,
        core=CORES[a.category](a),
    )


def _blocks(a: Architecture, placement: Placement, count: int) -> list[nn.Module]:
    arrange, feed_forward = ARRANGEMENTS[a.arrangement], FEED_FORWARDS[a.feed_forward]
    layers = (_attention(a, placement.layer()) for _ in range(count))
    return [arrange(a, attention, feed_forward(a)) for attention in layers]


Top = tuple[PositionalEncoding | None, list[nn.Module], nn.Module | None]


def _no_top(a: Architecture) -> Top:
    placement = POSITIONS[a.position](a)
    final_norm = NORMS[a.norm](a) if a.arrangement in FINAL_NORMS else None
    return placement.model, _blocks(a, placement, a.n_layers), final_norm


def _query_layer(a: Architecture) -> Top:
    """PanGu-α: the last of the layers is the query layer, and the norm stands below it."""
    position = LearnedTwice(a.max_seq_len, a.d_model)
    placement = Placement(position, lambda: position)
    options = {"position": position, "bias": BIASES[a.biases].attention}
    attention = QueryAttention(a.d_model, a.n_heads, **options)
    ordinary = ARRANGEMENTS[a.arrangement](a, attention, FEED_FORWARDS[a.feed_forward](a))
    top = ClosingBlock(NORMS[a.norm](a), **dict(ordinary.named_children()))
    return position, [*_blocks(a, placement, a.n_layers - 1), top], None


TOPS: dict[str, Callable[[Architecture], Top]] = {
    "nothing": _no_top,
    "query layer": _query_layer,
}


def _embedding(a: Architecture, scale: float = 1.0) -> tuple[TokenEmbedding, None]:
    return TokenEmbedding(a.vocab_size, a.d_model, scale=scale, std=0.02), None


def _scaled(a: Architecture) -> tuple[TokenEmbedding, None]:
    return _embedding(a, math.sqrt(a.d_model))


def _normalised(a: Architecture) -> tuple[TokenEmbedding, nn.Module]:
    return _embedding(a)[0], NORMS[a.norm](a)


EMBEDDINGS: dict[str, Callable[[Architecture], tuple[TokenEmbedding, nn.Module | None]]] = {
    "plain": _embedding,
    "times the root of d_model": _scaled,
    "normalised": _normalised,
}

CATEGORIES: dict[str, Callable[[Architecture], nn.Module]] = {
    "causal": _decoder,
    "prefix": _decoder,
    "encoder-decoder": t5_of_row,
}

HERE = {"category": CATEGORIES, "embedding": EMBEDDINGS, "top": TOPS}
