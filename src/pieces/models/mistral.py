"""Mistral: a LLaMA whose layers look back over a window."""

from dataclasses import dataclass

from pieces.attention import CausalCore
from pieces.checks import Size
from pieces.models.config import builder
from pieces.models.decoder_only import DecoderOnly
from pieces.models.llama import LlamaConfig, dense, gated_decoder


@dataclass(frozen=True)
class MistralConfig(LlamaConfig):
    """Sizes of a Mistral. ``window``: keys a query sees, itself among them; None is all."""

    window: Size | None = None


@builder
def mistral(config: MistralConfig) -> DecoderOnly:
    """Build a Mistral of random weights.

    Source: Jiang et al. 2023 (Mistral), 2.
    """
    return gated_decoder(
        config, lambda: dense(config), core=lambda layer: CausalCore(config.window)
    )


MISTRAL_7B = MistralConfig(
    32_000, 4096, 32, 32, 14_336, 8, max_seq_len=32_768, norm_eps=1e-5, window=4096
)
PRESETS = {"mistral-7b-v0.1": MISTRAL_7B}
