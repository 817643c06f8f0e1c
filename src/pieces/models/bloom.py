"""BLOOM: a GPT-2 with ALiBi, and one more norm on the embeddings."""

from dataclasses import dataclass

from pieces.models.config import builder
from pieces.models.decoder_only import DecoderOnly
from pieces.models.gpt2 import PlainConfig, plain_decoder
from pieces.norms import LayerNorm
from pieces.positions import ALiBi


@dataclass(frozen=True)
class BloomConfig(PlainConfig):
    """Sizes of a BLOOM. No position is beyond reach, so max_seq_len only says what it saw."""


@builder
def bloom(config: BloomConfig) -> DecoderOnly:
    """Build a BLOOM of random weights.

    Source: Le Scao et al. 2022 (BLOOM), 3.2.
    """
    alibi = ALiBi(config.n_heads)
    norm = LayerNorm(config.d_model, eps=config.norm_eps, bias=config.bias)
    return plain_decoder(config, position=alibi, embedding_norm=norm)


BLOOM_560M = BloomConfig(250_880, 1024, 24, 16, 4096)
BLOOM_7B1 = BloomConfig(250_880, 4096, 30, 32, 16_384)
BLOOM_176B = BloomConfig(250_880, 14_336, 70, 112, 57_344)
PRESETS = {"bloom-560m": BLOOM_560M, "bloom-7b1": BLOOM_7B1, "bloom": BLOOM_176B}
