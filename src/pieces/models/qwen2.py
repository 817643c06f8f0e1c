"""Qwen2: a LLaMA with biases on queries, keys and values; upper layers may have a window."""

from dataclasses import dataclass

from pieces.attention import CausalCore
from pieces.checks import Natural, Size
from pieces.models.config import builder
from pieces.models.decoder_only import DecoderOnly
from pieces.models.llama import LlamaConfig, dense, gated_decoder


@dataclass(frozen=True)
class Qwen2Config(LlamaConfig):
    """Sizes of a Qwen2. Layers from ``first_window_layer`` on see ``window`` keys; None is all."""

    window: Size | None = None
    first_window_layer: Natural = 0
    bias: bool = True


@builder
def qwen2(config: Qwen2Config) -> DecoderOnly:
    """Build a Qwen2 of random weights.

    Source: Yang et al. 2024 (Qwen2), 2.2.
    """

    def core(layer: int) -> CausalCore:
        return CausalCore(config.window if layer >= config.first_window_layer else None)

    return gated_decoder(config, lambda: dense(config), core=core, out_bias=False)


QWEN2_0_5B = Qwen2Config(
    151_936, 896, 24, 14, 4864, 2, max_seq_len=131_072, rope_base=1_000_000.0, tied=True
)
QWEN2_7B = Qwen2Config(152_064, 3584, 28, 28, 18_944, 4, max_seq_len=131_072, rope_base=1_000_000.0)
PRESETS = {"qwen2-0.5b": QWEN2_0_5B, "qwen2-7b": QWEN2_7B}
