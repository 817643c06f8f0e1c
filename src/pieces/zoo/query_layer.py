"""PanGu-α's last layer: its queries are not the tokens', but a trained vector for each position."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pieces.attention import CachedAttention, CausalCore, merge_heads, split_heads
from pieces.attention.cached import visible
from pieces.blocks import Block
from pieces.cache.none import NO_CACHE
from pieces.cache.protocol import LayerCache
from pieces.checks import checked
from pieces.positions import Learned
from pieces.types import Mask, Positions


@checked
class LearnedTwice(Learned):
    """``Learned`` with a second table, which the query layer asks for.

    Attention layers built with it are told their positions, and do nothing else with it.
    Source: Zeng et al. 2021 (PanGu-α), 2. Shapes: weight, asked.weight [max_seq_len, d_model].
    """

    def __init__(self, max_seq_len: int, d_model: int) -> None:
        super().__init__(max_seq_len, d_model)
        self.asked = Learned(max_seq_len, d_model)

    def for_layers(self, positions: Positions, S: int, dtype: torch.dtype) -> dict[str, Positions]:
        """The positions themselves."""
        return {"positions": positions}


@checked
class QueryAttention(CachedAttention):
    """Causal attention whose query at position n is p_n W_Q, whatever token stands there.

    Source: Zeng et al. 2021 (PanGu-α), 2, and its published code.
    """

    def __init__(
        self, d_model: int, n_heads: int, *, position: LearnedTwice, bias: bool = True
    ) -> None:
        super().__init__(d_model, n_heads, bias=bias, position=position, core=CausalCore())

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: Mask = None,
        positions: Positions | None = None,
        cache: LayerCache = NO_CACHE,
    ) -> Float[Tensor, "B T D"]:
        """Shapes: x [B, T, D] -> [B, T, D]. Options and errors: as ``CachedAttention``."""
        places = self._places(x, mask, None, positions, cache)
        asked = self.position.asked(places).to(x.dtype)
        q, k, v = self.query(asked.expand_as(x)), self.key(x), self.value(x)
        q, k, v = (split_heads(y, self.head_dim) for y in (q, k, v))
        k, v = cache.update(k, v)
        heads, _ = self.core(q, k, v, mask=visible(cache.padding(), mask))
        return self.output(merge_heads(heads))


@checked
class ClosingBlock(Block):
    """A block with one norm more, before everything: that which closes the blocks below.

    x' = Norm(x),  then as ``Block``

    """

    def __init__(self, norm: nn.Module, *parts: nn.Module, **residuals: nn.Module) -> None:
        super().__init__(*parts, **residuals)
        self.norm = norm

    def forward(self, x: Float[Tensor, "B T D"], **options: Any) -> Float[Tensor, "B T D"]:
        """Shapes: x [B, T, D] -> [B, T, D]. Errors: as ``Block``."""
        return super().forward(self.norm(x), **options)
