"""A small decoder in which each part can be another, and nothing else changes.

    decoder(vocab_size, position=Rotary(16), norm=RMSNorm)

All its matrices are drawn in the same order from torch's seed, whatever the positions are: two
schemes start from the same weights.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from pieces.attention import CachedAttention, CausalCore
from pieces.blocks import Block, Stack
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import FeedForward, GatedFeedForward, gelu_tanh, two_thirds
from pieces.models.decoder_only import DecoderOnly
from pieces.norms import LayerNorm
from pieces.positions import PositionalEncoding, Rotary
from pieces.residual import PreNorm, Residual

D_MODEL, N_LAYERS, N_HEADS, D_FF = 64, 2, 4, 256
HEAD_DIM = D_MODEL // N_HEADS


@dataclass(frozen=True)
class Start:
    """How large the word vectors start, what they are multiplied by, and how a block begins.

    The package's builders start words at 0.02. ``LOUD`` is for short runs: words of size 1 beside
    a positional code of about the same, and blocks that write nothing yet.
    """

    std: float = 0.02
    scale: float = 1.0
    silent: bool = False


LOUD = Start(D_MODEL**-0.5, math.sqrt(D_MODEL), silent=True)


def decoder(
    vocab_size: int,
    *,
    position: PositionalEncoding | None = None,
    norm: Callable[[int], nn.Module] = LayerNorm,
    gated: bool = False,
    bias: bool = True,
    tied: bool = True,
    residual: type[Residual] = PreNorm,
    start: Start = LOUD,
) -> DecoderOnly:
    """Two layers, four heads. A gated network has as many parameters as a plain one, to 0.4 %.

    ``residual`` is PreNorm or PostNorm; only an open stream has a norm at its end.
    """
    rotary = {"position": position} if isinstance(position, Rotary) else {}

    def feed_forward() -> FeedForward:
        if gated:
            return GatedFeedForward(D_MODEL, two_thirds(D_FF), bias=bias)
        return FeedForward(D_MODEL, D_FF, gelu_tanh, bias=bias)

    def block() -> Block:
        attention = CachedAttention(D_MODEL, N_HEADS, bias=bias, core=CausalCore(), **rotary)
        first, second = (residual(norm(D_MODEL)) for _ in range(2))
        parts = {"attention_residual": first, "feed_forward_residual": second}
        return Block(attention, feed_forward(), **parts)

    embedding = TokenEmbedding(vocab_size, D_MODEL, scale=start.scale, std=start.std)
    last = norm(D_MODEL) if residual is PreNorm else None
    stack = Stack((block() for _ in range(N_LAYERS)), last)
    head = None if tied else nn.Linear(D_MODEL, vocab_size, bias=False)
    if start.silent:
        for one in stack.blocks:
            nn.init.zeros_(one.attention.output.weight)
            nn.init.zeros_(one.feed_forward.down.weight)
    return DecoderOnly(embedding, stack, position=position, head=head)


def parameters(model: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(p.numel() for p in model.parameters())


def same_start(seed: int) -> None:
    """Seed before the positions are made, and again before the rest, which then starts alike."""
    torch.manual_seed(seed)
