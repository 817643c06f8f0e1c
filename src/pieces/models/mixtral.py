"""Mixtral: a Mistral whose feed-forward networks are mixtures of experts."""

from dataclasses import dataclass

from pieces.attention import CausalCore
from pieces.checks import Size, require
from pieces.models.config import builder
from pieces.models.decoder_only import DecoderOnly
from pieces.models.llama import gated_decoder
from pieces.models.mistral import MistralConfig
from pieces.moe import GatedExperts, MixtureOfExperts, Router


@dataclass(frozen=True)
class MixtralConfig(MistralConfig):
    """Sizes of a Mixtral: each token visits ``k`` of ``n_experts``, each of width d_ff."""

    n_experts: Size = 8
    k: Size = 2


@builder
def mixtral(config: MixtralConfig) -> DecoderOnly:
    """Build a Mixtral of random weights.

    Source: Jiang et al. 2024 (Mixtral), 2.
    """
    require(not config.ff_bias, "ff_bias", config.ff_bias, "experts have no biases", "leave it out")

    def experts() -> MixtureOfExperts:
        router = Router(config.d_model, config.n_experts, config.k)
        return MixtureOfExperts(router, GatedExperts(config.n_experts, config.d_model, config.d_ff))

    return gated_decoder(config, experts, core=lambda layer: CausalCore(config.window))


MIXTRAL_8X7B = MixtralConfig(
    32_000, 4096, 32, 32, 14_336, 8, max_seq_len=32_768, norm_eps=1e-5, rope_base=1_000_000.0
)
PRESETS = {"mixtral-8x7b": MIXTRAL_8X7B}
