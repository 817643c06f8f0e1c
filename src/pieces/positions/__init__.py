"""Where a token stands: every positional encoding, behind one protocol with three places.

added to the embeddings        Sinusoidal, Learned
rotating queries and keys      Rotary
biasing the scores             TransformerXLRelative, T5Buckets, ALiBi
"""

from pieces.positions.alibi import ALiBi, alibi_slopes
from pieces.positions.encoding import PositionalEncoding, key_positions
from pieces.positions.learned import Learned
from pieces.positions.rotary import Halves, Interleaved, Rotary, Rotation
from pieces.positions.scaling import DynamicNTK, Linear, Llama3, NTKAware, Unscaled, YaRN
from pieces.positions.sinusoidal import Sinusoidal
from pieces.positions.t5 import T5Buckets, t5_bucket
from pieces.positions.transformer_xl import TransformerXLRelative, relative_shift

__all__ = [
    "ALiBi",
    "DynamicNTK",
    "Halves",
    "Interleaved",
    "Learned",
    "Linear",
    "Llama3",
    "NTKAware",
    "PositionalEncoding",
    "Rotary",
    "Rotation",
    "Sinusoidal",
    "T5Buckets",
    "TransformerXLRelative",
    "Unscaled",
    "YaRN",
    "alibi_slopes",
    "key_positions",
    "relative_shift",
    "t5_bucket",
]
