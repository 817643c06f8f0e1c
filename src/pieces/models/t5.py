"""T5: pre-norm with RMSNorm, no biases, a bias by distance, scores that are not divided."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from pieces.attention import (
    AttentionCore,
    CachedAttention,
    CausalCore,
    CrossAttention,
    MultiHeadAttention,
)
from pieces.blocks import Block, CrossBlock, Stack
from pieces.checks import Positive, Size
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import FeedForward, GatedFeedForward, gelu_tanh, relu
from pieces.models.config import Config, builder
from pieces.models.encoder_decoder import EncoderDecoder
from pieces.norms import RMSNorm
from pieces.positions import T5Buckets
from pieces.residual import PreNorm
from pieces.scores import dot


def relu_network(d_model: int, d_ff: int) -> FeedForward:
    """The feed-forward network of the first T5."""
    return FeedForward(d_model, d_ff, relu, bias=False)


def geglu_network(d_model: int, d_ff: int) -> GatedFeedForward:
    """That of T5 v1.1 and mT5."""
    return GatedFeedForward(d_model, d_ff, gelu_tanh)


@dataclass(frozen=True)
class T5Config(Config):
    """Sizes of a T5; ``n_layers`` of each part, unless ``n_decoder_layers`` says otherwise.

    ``tied``: the head is the embedding. ``scaled``: then its logits are divided by sqrt(d_model).
    The first T5 is both, v1.1 neither.
    """

    vocab_size: Size
    d_model: Size
    n_layers: Size
    n_heads: Size
    d_ff: Size
    head_dim: Size = 64
    n_decoder_layers: Size | None = None
    num_buckets: Size = 32
    max_distance: Size = 128
    norm_eps: Positive = 1e-6
    feed_forward: Callable[[int, int], nn.Module] = relu_network
    tied: bool = True
    scaled: bool = True


@builder
def t5(config: T5Config) -> EncoderDecoder:
    """Build a T5 of random weights.

    Source: Raffel et al. 2020 (T5), 2.1, and its published code.
    """
    D, H = config.d_model, config.n_heads
    depth = config.n_layers if config.n_decoder_layers is None else config.n_decoder_layers

    def attention(
        kind: type[MultiHeadAttention] = MultiHeadAttention,
        core: type[AttentionCore] = AttentionCore,
    ) -> MultiHeadAttention:
        return kind(D, H, head_dim=config.head_dim, core=core(score=dot))

    def residual() -> PreNorm:
        return PreNorm(RMSNorm(D, eps=config.norm_eps))

    def encoder_block() -> Block:
        residuals = {"attention_residual": residual(), "feed_forward_residual": residual()}
        network = config.feed_forward(D, config.d_ff)
        return Block(attention(), network, **residuals)

    def decoder_block() -> CrossBlock:
        kinds = ("attention_residual", "cross_residual", "feed_forward_residual")
        residuals = {kind: residual() for kind in kinds}
        own, cross = attention(CachedAttention, CausalCore), attention(CrossAttention)
        return CrossBlock(own, cross, config.feed_forward(D, config.d_ff), **residuals)

    buckets = (H, config.num_buckets, config.max_distance)
    return EncoderDecoder(
        TokenEmbedding(config.vocab_size, D, std=1.0),
        Stack((encoder_block() for _ in range(config.n_layers)), RMSNorm(D, eps=config.norm_eps)),
        Stack((decoder_block() for _ in range(depth)), RMSNorm(D, eps=config.norm_eps)),
        encoder_position=T5Buckets(*buckets),
        decoder_position=T5Buckets(*buckets, bidirectional=False),
        head=None if config.tied else nn.Linear(D, config.vocab_size, bias=False),
        logit_scale=1 / math.sqrt(D) if config.scaled else 1.0,
        config=config,
    )


T5_SMALL = T5Config(32_128, 512, 6, 8, 2048)
T5_BASE = T5Config(32_128, 768, 12, 12, 3072)
T5_LARGE = T5Config(32_128, 1024, 24, 16, 4096)
T5_3B = T5Config(32_128, 1024, 24, 32, 16_384, 128)
T5_11B = T5Config(32_128, 1024, 24, 128, 65_536, 128)
T5_V1_1_BASE = T5Config(
    32_128, 768, 12, 12, 2048, feed_forward=geglu_network, tied=False, scaled=False
)
PRESETS = {
    "t5-small": T5_SMALL,
    "t5-base": T5_BASE,
    "t5-large": T5_LARGE,
    "t5-3b": T5_3B,
    "t5-11b": T5_11B,
    "t5-v1.1-base": T5_V1_1_BASE,
}
