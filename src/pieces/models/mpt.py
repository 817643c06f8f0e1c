"""MPT: a GPT-2 with ALiBi and no biases, the norms' included."""

from dataclasses import dataclass

from pieces.checks import Positive
from pieces.feedforward import Activation, gelu
from pieces.models.config import builder
from pieces.models.decoder_only import DecoderOnly
from pieces.models.gpt2 import PlainConfig, plain_decoder
from pieces.positions import ALiBi


@dataclass(frozen=True)
class MPTConfig(PlainConfig):
    """Sizes of an MPT. ``steepest`` is its alibi_bias_max."""

    activation: Activation = gelu
    bias: bool = False
    steepest: Positive = 8.0


@builder
def mpt(config: MPTConfig) -> DecoderOnly:
    """Build an MPT of random weights.

    Source: MosaicML 2023 (MPT), its published code.
    """
    alibi = ALiBi(config.n_heads, steepest=config.steepest)
    return plain_decoder(config, position=alibi)


MPT_7B = MPTConfig(50_432, 4096, 32, 32, 16_384)
MPT_30B = MPTConfig(50_432, 7168, 48, 64, 28_672, max_seq_len=8192)
PRESETS = {"mpt-7b": MPT_7B, "mpt-30b": MPT_30B}
