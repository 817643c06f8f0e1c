"""Multi-head attention that knows where its tokens stand, and remembers those before."""

from jaxtyping import Bool, Float
from torch import Tensor

from pieces.attention.multi_head import MultiHeadAttention, merge_heads
from pieces.cache.fit import require_layer_fit
from pieces.cache.none import NO_CACHE
from pieces.cache.protocol import LayerCache
from pieces.checks import agreed, checked, refuse
from pieces.positions import PositionalEncoding, Rotation
from pieces.types import Bias, Mask, Positions, Weights


@checked
class CachedAttention(MultiHeadAttention):
    """``MultiHeadAttention`` to oneself, with positions and a cache: project, rotate, remember.

    ``position`` is an encoding that rotates queries and keys or biases the scores
    (``pieces.positions``); the other options are those of ``MultiHeadAttention``.
    Source: Su et al. 2021 (RoPE), 3.4, for where the rotation stands; Shazeer 2019, 2.4, for
    decoding one token after another.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        position: PositionalEncoding | None = None,
        **options: object,
    ) -> None:
        super().__init__(d_model, n_heads, **options)
        self.position = position or PositionalEncoding()
        for size in ("n_heads", "head_dim"):  # an encoding that knows none serves any
            agreed(size, attention=self, position=self.position)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        *,
        mask: Mask = None,
        bias: Bias = None,
        positions: Positions | Rotation | None = None,
        cache: LayerCache = NO_CACHE,
        return_weights: bool = False,
    ) -> Float[Tensor, "B T D"] | tuple[Float[Tensor, "B T D"], Weights]:
        """Shapes: x [B, T, D] -> [B, T, D], weights [B, H, T, S].

        Mask and bias as in ``MultiHeadAttention``. With a ``cache`` (``pieces.cache``) x are the
        next T tokens and the S keys are all so far. ``positions`` [T] or [B, T] of x go on from the
        cache if left out; padding on the left shifts them. They may be a ``Rotation``, computed
        once for several layers.
        """
        positions = self._places(x, mask, bias, positions, cache)
        q, k, v = self.project(x, x)
        q, k = self.position.rotate(q, k, positions)
        k, v = cache.update(k, v)
        mask = visible(cache.padding(), mask)
        bias = added(self.position.bias(q, k, positions), bias)
        heads, weights = self.core(q, k, v, mask=mask, bias=bias, return_weights=return_weights)
        output = self.output(merge_heads(heads))
        return (output, weights) if return_weights else output

    def _places(
        self,
        x: Tensor,
        mask: Mask,
        bias: Bias,
        positions: Positions | Rotation | None,
        cache: LayerCache,
    ) -> Positions | Rotation | None:
        """Where the tokens of x stand: as told, or next; nowhere if no encoding asks.

        What does not fit is refused here, before the cache is written.
        """
        require_layer_fit(cache, self.core, x.shape[1], mask=mask, bias=bias)
        placed = self.position.acts()
        if positions is not None and not placed:
            refuse("positions", "given", "there is no encoding", "build with position=")
        if placed and positions is None:
            return cache.positions(x.shape[1], device=x.device)
        return positions


def visible(padding: Mask, mask: Mask) -> Mask:
    """What both let a query see; None sees all."""
    if padding is None or mask is None:
        return mask if padding is None else padding
    return _visible_to_both(padding, mask)


def added(distance: Bias, bias: Bias) -> Bias:
    """Both biases in one; None adds nothing."""
    if distance is None or bias is None:
        return bias if distance is None else distance
    return _added_to_it(distance, bias)


@checked(always=True)
def _visible_to_both(padding: Bool[Tensor, "B 1 1 S"], mask: Mask) -> Mask:
    return padding & mask


@checked(always=True)
def _added_to_it(distance: Float[Tensor, "#B #H T S"], bias: Bias) -> Bias:
    return distance + bias
