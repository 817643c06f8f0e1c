"""The 2017 model: an encoder reads the source, a decoder writes the target and looks at both."""

import math
from dataclasses import dataclass
from typing import Any

from torch import nn

from pieces.attention import CachedAttention, CausalCore, CrossAttention, MultiHeadAttention
from pieces.blocks import Block, CrossBlock, Stack
from pieces.checks import Positive, Share, Size, checked
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import FeedForward
from pieces.models.config import Config
from pieces.models.encoder_decoder.model import EncoderDecoder
from pieces.norms import LayerNorm
from pieces.positions import Sinusoidal
from pieces.residual import PostNorm


@dataclass(frozen=True)
class EncoderDecoderConfig(Config):
    """Sizes of the 2017 model; ``n_layers`` of each part."""

    vocab_size: Size
    d_model: Size = 512
    n_layers: Size = 6
    n_heads: Size = 8
    d_ff: Size = 2048
    dropout: Share = 0.1
    norm_eps: Positive = 1e-5
    bias: bool = True


@checked
def encoder_decoder(config: EncoderDecoderConfig) -> EncoderDecoder:
    """Build the 2017 model: post-norm, sinusoidal code, one table for source, target and head.

    Source: Vaswani et al. 2017, 3 and 5.4; source text (5.1) to (5.11).
    """
    D = config.d_model

    def attention(kind: type[MultiHeadAttention], **options: Any) -> MultiHeadAttention:
        return kind(D, config.n_heads, bias=config.bias, **options)

    def residual() -> PostNorm:
        return PostNorm(LayerNorm(D, eps=config.norm_eps), nn.Dropout(config.dropout))

    def encoder_block() -> Block:
        residuals = {"attention_residual": residual(), "feed_forward_residual": residual()}
        return Block(attention(MultiHeadAttention), FeedForward(D, config.d_ff), **residuals)

    def decoder_block() -> CrossBlock:
        kinds = ("attention_residual", "cross_residual", "feed_forward_residual")
        residuals = {kind: residual() for kind in kinds}
        own, cross = attention(CachedAttention, core=CausalCore()), attention(CrossAttention)
        return CrossBlock(own, cross, FeedForward(D, config.d_ff), **residuals)

    return EncoderDecoder(
        TokenEmbedding(config.vocab_size, D, scale=math.sqrt(D)),
        Stack(encoder_block() for _ in range(config.n_layers)),
        Stack(decoder_block() for _ in range(config.n_layers)),
        encoder_position=Sinusoidal(D),
        decoder_position=Sinusoidal(D),
        dropout=nn.Dropout(config.dropout),
        config=config,
    )


BASE = EncoderDecoderConfig(37_000)
BIG = EncoderDecoderConfig(37_000, 1024, 6, 16, 4096, 0.3)
PRESETS = {"base": BASE, "big": BIG}
