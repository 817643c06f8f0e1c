"""Encoder and decoder: one reads the source, the other writes the target and looks at both.

model       EncoderDecoder, whatever it is built from
caches      what its decoder remembers
original    the 2017 model: config, builder, presets
"""

from pieces.models.encoder_decoder.caches import Caches
from pieces.models.encoder_decoder.model import EncoderDecoder
from pieces.models.encoder_decoder.original import (
    BASE,
    BIG,
    PRESETS,
    EncoderDecoderConfig,
    encoder_decoder,
)

__all__ = [
    "BASE",
    "BIG",
    "PRESETS",
    "Caches",
    "EncoderDecoder",
    "EncoderDecoderConfig",
    "encoder_decoder",
]
