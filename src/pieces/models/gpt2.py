"""GPT-2, and the plain decoder that OPT, BLOOM and MPT share with it.

Pre-norm with LayerNorm, a feed-forward network of two matrices, tied embeddings.
"""

from dataclasses import dataclass

from torch import nn

from pieces.attention import CachedAttention, CausalCore
from pieces.blocks import Block, Stack
from pieces.checks import Positive, Size
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import Activation, FeedForward, gelu_tanh
from pieces.models.config import Config, builder
from pieces.models.decoder_only import DecoderOnly
from pieces.norms import LayerNorm
from pieces.positions import Learned, PositionalEncoding
from pieces.residual import PreNorm


@dataclass(frozen=True)
class PlainConfig(Config):
    """What all plain decoders have.

    ``bias``: of all linear layers and norms. ``tied``: the head is the embedding.
    """

    vocab_size: Size
    d_model: Size
    n_layers: Size
    n_heads: Size
    d_ff: Size
    max_seq_len: Size = 2048
    norm_eps: Positive = 1e-5
    activation: Activation = gelu_tanh
    bias: bool = True
    tied: bool = True


@dataclass(frozen=True)
class GPT2Config(PlainConfig):
    """Sizes of a GPT-2."""

    max_seq_len: Size = 1024


@builder
def gpt2(config: GPT2Config) -> DecoderOnly:
    """Build a GPT-2 of random weights.

    Source: Radford et al. 2019 (GPT-2), 2.3.
    """
    return plain_decoder(config, position=Learned(config.max_seq_len, config.d_model))


def plain_decoder(
    config: PlainConfig,
    *,
    position: PositionalEncoding,
    embedding_norm: nn.Module | None = None,
) -> DecoderOnly:
    """A GPT-2 in which these parts may be others."""

    def norm() -> LayerNorm:
        return LayerNorm(config.d_model, eps=config.norm_eps, bias=config.bias)

    def block() -> Block:
        return Block(
            CachedAttention(config.d_model, config.n_heads, bias=config.bias, core=CausalCore()),
            FeedForward(config.d_model, config.d_ff, config.activation, bias=config.bias),
            attention_residual=PreNorm(norm()),
            feed_forward_residual=PreNorm(norm()),
        )

    embedding = TokenEmbedding(config.vocab_size, config.d_model, std=0.02)
    stack = Stack((block() for _ in range(config.n_layers)), norm())
    head = None if config.tied else nn.Linear(config.d_model, config.vocab_size, bias=False)
    parts = {"position": position, "embedding_norm": embedding_norm, "head": head}
    return DecoderOnly(embedding, stack, config=config, **parts)


GPT2_SMALL = GPT2Config(50_257, 768, 12, 12, 3072)
GPT2_MEDIUM = GPT2Config(50_257, 1024, 24, 16, 4096)
GPT2_LARGE = GPT2Config(50_257, 1280, 36, 20, 5120)
GPT2_XL = GPT2Config(50_257, 1600, 48, 25, 6400)
PRESETS = {
    "gpt2": GPT2_SMALL,
    "gpt2-medium": GPT2_MEDIUM,
    "gpt2-large": GPT2_LARGE,
    "gpt2-xl": GPT2_XL,
}
