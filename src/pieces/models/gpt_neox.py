"""GPT-NeoX and Pythia: attention and feed-forward side by side, a part of each head rotated."""

from dataclasses import dataclass
from typing import Literal

from torch import nn

from pieces.attention import CachedAttention, CausalCore
from pieces.blocks import Block, ParallelBlock, Stack
from pieces.checks import Positive, Size
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import Activation, FeedForward, gelu
from pieces.models.config import Config, builder
from pieces.models.decoder_only import DecoderOnly
from pieces.norms import LayerNorm
from pieces.positions import Rotary, Unscaled
from pieces.residual import PreNorm


def in_parallel(
    attention: nn.Module, feed_forward: nn.Module, norm: nn.Module, second: nn.Module
) -> ParallelBlock:
    """Both sublayers read the stream as it came in, each through its own norm."""
    return ParallelBlock(attention, feed_forward, norm, second)


def one_after_another(
    attention: nn.Module, feed_forward: nn.Module, norm: nn.Module, second: nn.Module
) -> Block:
    """The plain order, which the architecture allows too."""
    return Block(
        attention,
        feed_forward,
        attention_residual=PreNorm(norm),
        feed_forward_residual=PreNorm(second),
    )


ARRANGEMENTS = {"parallel": in_parallel, "sequential": one_after_another}


@dataclass(frozen=True)
class GPTNeoXConfig(Config):
    """Sizes of a GPT-NeoX. ``rotary_dim`` dimensions of a head turn; left out, all do.

    ``arrangement`` is "parallel" or "sequential".
    """

    vocab_size: Size
    d_model: Size
    n_layers: Size
    n_heads: Size
    d_ff: Size
    rotary_dim: Size | None = None
    max_seq_len: Size = 2048
    norm_eps: Positive = 1e-5
    activation: Activation = gelu
    rope_base: Positive = 10_000.0
    rope_scaling: Unscaled | None = None
    arrangement: Literal["parallel", "sequential"] = "parallel"
    bias: bool = True
    tied: bool = False


@builder
def gpt_neox(config: GPTNeoXConfig) -> DecoderOnly:
    """Build a GPT-NeoX of random weights.

    Source: Black et al. 2022 (GPT-NeoX-20B), 2.1.
    """
    D = config.d_model
    arrange = ARRANGEMENTS[config.arrangement]
    options = {"rotary_dim": config.rotary_dim, "base": config.rope_base}
    rotary = Rotary(D // config.n_heads, scaling=config.rope_scaling, **options)

    def block() -> nn.Module:
        heads = {"bias": config.bias, "position": rotary, "core": CausalCore()}
        return arrange(
            CachedAttention(D, config.n_heads, **heads),
            FeedForward(D, config.d_ff, config.activation),
            LayerNorm(D, eps=config.norm_eps),
            LayerNorm(D, eps=config.norm_eps),
        )

    embedding = TokenEmbedding(config.vocab_size, D, std=0.02)
    stack = Stack((block() for _ in range(config.n_layers)), LayerNorm(D, eps=config.norm_eps))
    head = None if config.tied else nn.Linear(D, config.vocab_size, bias=False)
    return DecoderOnly(embedding, stack, position=rotary, head=head, config=config)


PYTHIA_70M = GPTNeoXConfig(50_304, 512, 6, 8, 2048, 16)
PYTHIA_6_9B = GPTNeoXConfig(50_432, 4096, 32, 32, 16_384, 32)
PYTHIA_12B = GPTNeoXConfig(50_688, 5120, 36, 40, 20_480, 32)
GPT_NEOX_20B = GPTNeoXConfig(50_432, 6144, 44, 64, 24_576, 24)
PRESETS = {
    "pythia-70m": PYTHIA_70M,
    "pythia-6.9b": PYTHIA_6_9B,
    "pythia-12b": PYTHIA_12B,
    "gpt-neox-20b": GPT_NEOX_20B,
}
