"""Gemma: a LLaMA with GeGLU, norms of gain 1 + w, wide heads and scaled, tied embeddings."""

import math
from dataclasses import dataclass

from pieces.checks import Size
from pieces.feedforward import GatedFeedForward, gelu_tanh
from pieces.models.config import builder
from pieces.models.decoder_only import DecoderOnly
from pieces.models.llama import LlamaConfig, gated_decoder
from pieces.norms import GemmaRMSNorm


@dataclass(frozen=True)
class GemmaConfig(LlamaConfig):
    """Sizes of a Gemma."""

    max_seq_len: Size = 8192
    tied: bool = True


@builder
def gemma(config: GemmaConfig) -> DecoderOnly:
    """Build a Gemma of random weights.

    Source: Gemma Team 2024 (Gemma), 2, and its published code.
    """

    def geglu() -> GatedFeedForward:
        return GatedFeedForward(config.d_model, config.d_ff, gelu_tanh, bias=config.ff_bias)

    return gated_decoder(config, geglu, norm=GemmaRMSNorm, scale=math.sqrt(config.d_model))


GEMMA_2B = GemmaConfig(256_000, 2048, 18, 8, 16_384, 1, 256)
GEMMA_7B = GemmaConfig(256_000, 3072, 28, 16, 24_576, 16, 256)
PRESETS = {"gemma-2b": GEMMA_2B, "gemma-7b": GEMMA_7B}
