"""LLaMA, and the shape that Mistral, Mixtral, Qwen2 and Gemma share with it.

Pre-norm with RMSNorm, rotary positions, grouped heads, SwiGLU, no biases.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from pieces.attention import CachedAttention, CausalCore
from pieces.blocks import Block, Stack
from pieces.checks import Positive, Size
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import GatedFeedForward
from pieces.models.config import Config, builder
from pieces.models.decoder_only import DecoderOnly
from pieces.norms import RMSNorm
from pieces.positions import Llama3, Rotary, Unscaled
from pieces.residual import PreNorm


@dataclass(frozen=True)
class LlamaConfig(Config):
    """Sizes of a LLaMA. Left out: n_kv_heads is n_heads, head_dim is d_model / n_heads.

    ``tied``: the head is the embedding (LLaMA 3.2 1B and 3B). ``bias`` and ``ff_bias`` are for
    checkpoints that have them; Meta's have none.
    """

    vocab_size: Size
    d_model: Size
    n_layers: Size
    n_heads: Size
    d_ff: Size
    n_kv_heads: Size | None = None
    head_dim: Size | None = None
    max_seq_len: Size = 2048
    norm_eps: Positive = 1e-6
    rope_base: Positive = 10_000.0
    rope_scaling: Unscaled | None = None
    tied: bool = False
    bias: bool = False
    ff_bias: bool = False


@builder
def llama(config: LlamaConfig) -> DecoderOnly:
    """Build a LLaMA of random weights.

    Source: Touvron et al. 2023 (LLaMA), 2.2; source text, chapter on LLaMA.
    """
    return gated_decoder(config, lambda: dense(config))


def dense(config: LlamaConfig) -> GatedFeedForward:
    """The feed-forward network of every block."""
    return GatedFeedForward(config.d_model, config.d_ff, bias=config.ff_bias)


def gated_decoder(
    config: LlamaConfig,
    feed_forward: Callable[[], nn.Module],
    *,
    norm: Callable[..., nn.Module] = RMSNorm,
    core: Callable[[int], CausalCore] = lambda layer: CausalCore(),
    out_bias: bool | None = None,
    scale: float = 1.0,
) -> DecoderOnly:
    """A LLaMA in which these parts may be others: its cousins differ from it in nothing else.

    ``core`` gives the attention core of a layer, ``scale`` multiplies the embeddings.
    """
    head_dim = config.head_dim or config.d_model // config.n_heads
    rotary = Rotary(head_dim, base=config.rope_base, scaling=config.rope_scaling)

    def block(layer: int) -> Block:
        attention = CachedAttention(
            config.d_model,
            config.n_heads,
            n_kv_heads=config.n_kv_heads,
            head_dim=config.head_dim,
            bias=config.bias,
            out_bias=out_bias,
            position=rotary,
            core=core(layer),
        )
        first, second = (norm(config.d_model, eps=config.norm_eps) for _ in range(2))
        residuals = {
            "attention_residual": PreNorm(first),
            "feed_forward_residual": PreNorm(second),
        }
        return Block(attention, feed_forward(), **residuals)

    embedding = TokenEmbedding(config.vocab_size, config.d_model, scale=scale, std=0.02)
    last = norm(config.d_model, eps=config.norm_eps)
    stack = Stack((block(layer) for layer in range(config.n_layers)), last)
    head = None if config.tied else nn.Linear(config.d_model, config.vocab_size, bias=False)
    return DecoderOnly(embedding, stack, position=rotary, head=head, config=config)


LLAMA_7B = LlamaConfig(32_000, 4096, 32, 32, 11_008)
LLAMA_13B = LlamaConfig(32_000, 5120, 40, 40, 13_824)
LLAMA_33B = LlamaConfig(32_000, 6656, 60, 52, 17_920)
LLAMA_65B = LlamaConfig(32_000, 8192, 80, 64, 22_016, norm_eps=1e-5)
LLAMA_2_7B = LlamaConfig(32_000, 4096, 32, 32, 11_008, max_seq_len=4096, norm_eps=1e-5)
LLAMA_2_13B = LlamaConfig(32_000, 5120, 40, 40, 13_824, max_seq_len=4096, norm_eps=1e-5)
LLAMA_2_70B = LlamaConfig(32_000, 8192, 80, 64, 28_672, 8, max_seq_len=4096, norm_eps=1e-5)
LLAMA_3_8B = LlamaConfig(
    128_256, 4096, 32, 32, 14_336, 8, max_seq_len=8192, norm_eps=1e-5, rope_base=500_000.0
)
LLAMA_3_70B = LlamaConfig(
    128_256, 8192, 80, 64, 28_672, 8, max_seq_len=8192, norm_eps=1e-5, rope_base=500_000.0
)
LLAMA_3_1_8B = LlamaConfig(
    128_256,
    4096,
    32,
    32,
    14_336,
    8,
    max_seq_len=131_072,
    norm_eps=1e-5,
    rope_base=500_000.0,
    rope_scaling=Llama3(8.0, 8192),
)
PRESETS = {
    "llama-7b": LLAMA_7B,
    "llama-13b": LLAMA_13B,
    "llama-33b": LLAMA_33B,
    "llama-65b": LLAMA_65B,
    "llama-2-7b": LLAMA_2_7B,
    "llama-2-13b": LLAMA_2_13B,
    "llama-2-70b": LLAMA_2_70B,
    "llama-3-8b": LLAMA_3_8B,
    "llama-3-70b": LLAMA_3_70B,
    "llama-3.1-8b": LLAMA_3_1_8B,
}
