"""OPT: a GPT-2 with ReLU."""

from dataclasses import dataclass

from pieces.feedforward import Activation, relu
from pieces.models.config import builder
from pieces.models.decoder_only import DecoderOnly
from pieces.models.gpt2 import PlainConfig, plain_decoder
from pieces.positions import Learned


@dataclass(frozen=True)
class OPTConfig(PlainConfig):
    """Sizes of an OPT."""

    activation: Activation = relu


@builder
def opt(config: OPTConfig) -> DecoderOnly:
    """Build an OPT of random weights. (The 350M model, which is post-norm, is not of this shape.)

    Source: Zhang et al. 2022 (OPT), 2.1.
    """
    return plain_decoder(config, position=Learned(config.max_seq_len, config.d_model))


OPT_125M = OPTConfig(50_272, 768, 12, 12, 3072)
OPT_1_3B = OPTConfig(50_272, 2048, 24, 32, 8192)
OPT_6_7B = OPTConfig(50_272, 4096, 32, 32, 16_384)
PRESETS = {"opt-125m": OPT_125M, "opt-1.3b": OPT_1_3B, "opt-6.7b": OPT_6_7B}
