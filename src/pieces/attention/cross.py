"""Cross-attention that reads its context once."""

from jaxtyping import Float
from torch import Tensor

from pieces.attention.multi_head import MultiHeadAttention, merge_heads, split_heads
from pieces.cache.none import NO_CACHE
from pieces.cache.protocol import LayerCache
from pieces.checks import checked
from pieces.types import Mask, Weights


@checked
class CrossAttention(MultiHeadAttention):
    """``MultiHeadAttention`` to a context whose keys and values are computed once.

    Source: Vaswani et al. 2017, 3.2.3 (encoder-decoder attention); source text (5.10).
    """

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        context: Float[Tensor, "B S C"],
        mask: Mask = None,
        cache: LayerCache = NO_CACHE,
        return_weights: bool = False,
    ) -> Float[Tensor, "B T D"] | tuple[Float[Tensor, "B T D"], Weights]:
        """Shapes: x [B, T, D], context [B, S, d_context] -> [B, T, D], weights [B, H, T, S].

        A ``cache`` keeps the keys and values of the first call; later calls reuse them.
        """
        if cache.length() == 0:
            q, k, v = self.project(x, context)
            k, v = cache.update(k, v)
        else:
            q = split_heads(self.query(x), self.head_dim)
            k, v = cache.read()
        heads, weights = self.core(q, k, v, mask=mask, return_weights=return_weights)
        output = self.output(merge_heads(heads))
        return (output, weights) if return_weights else output
