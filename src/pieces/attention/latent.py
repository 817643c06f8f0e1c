"""Latent attention: all heads' keys and values come from one small vector, which is cached."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pieces.attention.core import AttentionCore
from pieces.attention.multi_head import merge_heads, split_heads
from pieces.cache.fit import require_layer_fit
from pieces.cache.none import NO_CACHE
from pieces.cache.protocol import LayerCache
from pieces.checks import Size, checked
from pieces.positions import Rotary
from pieces.types import Mask, Positions


@checked
class LatentAttention(nn.Module):
    """Attention whose cache holds one latent vector a token, whatever the number of heads.

    c = x W_D,  k_h = [c W_K^h; r],  v_h = c W_V^h,  r = rotated(x W_R), shared by all heads

    Since q · (c W_K) = (q W_Kᵀ) · c, the queries can be moved to where the latents are: ``forward``
    never writes a key or a value out, ``expanded`` does and gives the same. A position cannot turn
    c, for then the two products would not meet; so a few numbers r beside it carry it.

    Source: DeepSeek-AI 2024 (DeepSeek-V2), 2.1.2, 2.1.3 and appendix C; there the queries are
    compressed as well, and latents are normalised.
    ``latent`` is the size C of c; ``rotary`` rotates r and the part of the queries that meets it,
    and its head_dim is their size; without it nothing knows where a token stands.
    """

    def __init__(
        self,
        d_model: Size,
        n_heads: Size,
        latent: Size,
        *,
        head_dim: Size,
        rotary: Rotary | None = None,
        core: AttentionCore | None = None,
    ) -> None:
        super().__init__()
        self.d_model, self.n_heads, self.head_dim = d_model, n_heads, head_dim
        self.latent, self.rotary = latent, rotary
        turned = rotary.head_dim if rotary else 0
        self.query = nn.Linear(d_model, n_heads * (head_dim + turned), bias=False)
        self.down = nn.Linear(d_model, latent + turned, bias=False)
        self.key = nn.Linear(latent, n_heads * head_dim, bias=False)
        self.value = nn.Linear(latent, n_heads * head_dim, bias=False)
        self.output = nn.Linear(n_heads * head_dim, d_model, bias=False)
        self.core = core or AttentionCore()

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: Mask = None,
        positions: Positions | None = None,
        cache: LayerCache = NO_CACHE,
    ) -> Float[Tensor, "B T D"]:
        """Shapes: x [B, T, D] -> [B, T, D]. Every head reads the same keys, the latents.

        With a ``cache`` (a growing or rolling one) x are the next T tokens. Positions as in
        ``CachedAttention``.
        """
        q, kept = self.project(x, mask, positions, cache)
        kept, _ = cache.update(kept, kept[..., :0])  # the values are a part of the keys
        plain, turned = q.split((self.head_dim, q.shape[-1] - self.head_dim), dim=-1)
        plain = plain @ self.key.weight.view(self.n_heads, self.head_dim, -1)
        q = torch.cat((plain, turned), dim=-1) * self._scale(kept)
        heads, _ = self.core(q, kept, kept[..., : self.latent], mask=mask)
        heads = heads @ self.value.weight.view(self.n_heads, self.head_dim, -1).mT
        return self.output(merge_heads(heads))

    def expanded(
        self, x: Float[Tensor, "B T D"], *, mask: Mask = None, positions: Positions | None = None
    ) -> Float[Tensor, "B T D"]:
        """The same with each head's keys and values written out, as training does it."""
        q, kept = self.project(x, mask, positions, NO_CACHE)
        c, r = kept.squeeze(1).split((self.latent, kept.shape[-1] - self.latent), dim=-1)
        k, v = (split_heads(up(c), self.head_dim) for up in (self.key, self.value))
        k = torch.cat((k, r.unsqueeze(1).expand(-1, self.n_heads, -1, -1)), dim=-1)
        heads, _ = self.core(q, k, v, mask=mask)
        return self.output(merge_heads(heads))

    def project(
        self, x: Tensor, mask: Mask, positions: Tensor | None, cache: LayerCache
    ) -> tuple[Float[Tensor, "B H T KR"], Float[Tensor, "B 1 T CR"]]:
        """Queries, and what is kept of each token: [c; r] as the key of one head."""
        require_layer_fit(cache, self.core, x.shape[1], mask=mask)
        q, kept = split_heads(self.query(x), self.query.out_features // self.n_heads), self.down(x)
        kept = kept.unsqueeze(1)
        if self.rotary is None:
            return q, kept
        if positions is None:
            positions = cache.positions(x.shape[1], device=x.device)
        plain, turned = q.split((self.head_dim, self.rotary.head_dim), dim=-1)
        c, r = kept.split((self.latent, self.rotary.head_dim), dim=-1)
        turned, r = self.rotary.rotate(turned, r, positions)
        return torch.cat((plain, turned), dim=-1), torch.cat((c, r), dim=-1)

    def _scale(self, kept: Tensor) -> float:
        """The core divides by the root of the width it sees; the score wants that of a head."""
        return math.sqrt(kept.shape[-1] / (self.query.out_features // self.n_heads))
