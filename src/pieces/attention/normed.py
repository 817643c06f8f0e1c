"""Attention that normalises its queries and keys: no score can outgrow the gains of two norms."""

from jaxtyping import Float
from torch import Tensor, nn

from pieces.attention.cached import CachedAttention
from pieces.checks import checked
from pieces.norms import RMSNorm
from pieces.types import Keys, Queries, Values


@checked
class NormedAttention(CachedAttention):
    """``CachedAttention`` with a norm on each head's queries and one on its keys.

    q_i = Norm(x_i W_Q^h),  k_j = Norm'(x_j W_K^g),  before positions rotate them

    Source: Henry et al. 2020 (query-key normalisation), with a length of 1; with a norm that has
    gains, Yang et al. 2025 (Qwen3), 2. Left out, both norms are an ``RMSNorm`` of the head's size.
    The other options are those of ``CachedAttention``.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        query_norm: nn.Module | None = None,
        key_norm: nn.Module | None = None,
        **options: object,
    ) -> None:
        super().__init__(d_model, n_heads, **options)
        self.query_norm = query_norm or RMSNorm(self.head_dim)
        self.key_norm = key_norm or RMSNorm(self.head_dim)

    def project(
        self, x: Float[Tensor, "B T D"], context: Float[Tensor, "B S C"]
    ) -> tuple[Queries, Keys, Values]:
        """Queries, keys and values as they were, the first two normalised."""
        q, k, v = super().project(x, context)
        return self.query_norm(q), self.key_norm(k), v
