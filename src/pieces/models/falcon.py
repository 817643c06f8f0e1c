"""Falcon, the newer architecture (40B, 180B): parallel branches, grouped heads, rotary."""

from dataclasses import dataclass
from typing import Annotated

from torch import nn

from pieces.attention import CachedAttention, CausalCore
from pieces.blocks import ParallelBlock, Stack
from pieces.checks import OneOf, Positive, Size
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import Activation, FeedForward, gelu
from pieces.models.config import Config, builder
from pieces.models.decoder_only import DecoderOnly
from pieces.norms import LayerNorm
from pieces.positions import Rotary, Unscaled


@dataclass(frozen=True)
class FalconConfig(Config):
    """Sizes of a Falcon. ``n_norms``: 2, one for each branch, or 1 for both (11B)."""

    vocab_size: Size
    d_model: Size
    n_layers: Size
    n_heads: Size
    d_ff: Size
    n_kv_heads: Size = 8
    n_norms: Annotated[int, OneOf((1, 2))] = 2
    max_seq_len: Size = 2048
    norm_eps: Positive = 1e-5
    activation: Activation = gelu
    rope_base: Positive = 10_000.0
    rope_scaling: Unscaled | None = None
    bias: bool = False
    tied: bool = True


@builder
def falcon(config: FalconConfig) -> DecoderOnly:
    """Build a Falcon of random weights.

    Source: Almazrouei et al. 2023 (Falcon), and its published code.
    """
    D = config.d_model
    rotary = Rotary(D // config.n_heads, base=config.rope_base, scaling=config.rope_scaling)

    def norms(count: int) -> list[LayerNorm]:
        return [LayerNorm(D, eps=config.norm_eps) for _ in range(count)]

    def block() -> ParallelBlock:
        heads = {"n_kv_heads": config.n_kv_heads, "bias": config.bias}
        return ParallelBlock(
            CachedAttention(D, config.n_heads, position=rotary, core=CausalCore(), **heads),
            FeedForward(D, config.d_ff, config.activation, bias=config.bias),
            *norms(config.n_norms),
        )

    embedding = TokenEmbedding(config.vocab_size, D, std=0.02)
    stack = Stack((block() for _ in range(config.n_layers)), *norms(1))
    head = None if config.tied else nn.Linear(D, config.vocab_size, bias=False)
    return DecoderOnly(embedding, stack, position=rotary, head=head, config=config)


FALCON_40B = FalconConfig(65_024, 8192, 60, 128, 32_768)
FALCON_180B = FalconConfig(65_024, 14_848, 80, 232, 59_392)
PRESETS = {"falcon-40b": FALCON_40B, "falcon-180b": FALCON_180B}
