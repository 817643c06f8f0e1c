"""Blocks: attention and feed-forward, each in its residual connection; and a stack of blocks.

The sublayers and residual connections are passed in, so one class serves many models. ``Block``
with no mask is the encoder's, with a causal mask that of a decoder-only model.
What a block is given for its attention (a mask, a bias, positions, a cache) passes through it; what
it is not given does not, so an attention layer without a cache need not know of one.
"""

from collections.abc import Iterable
from typing import Any

from torch import nn

from pieces.cache import Cache, LayerCache
from pieces.checks import checked, filled
from pieces.positions import Rotation
from pieces.residual import branch
from pieces.types import Bias, Mask, Memory, MemoryMask, Positions, Stream


def given(**options: Any) -> dict[str, Any]:
    """The options that are there."""
    return {name: value for name, value in options.items() if value is not None}


@checked(shields=False)
class Block(nn.Module):
    """Attention, then feed-forward.

    x' = residual(x, attention),  y = residual'(x', feed_forward)

    Source: Vaswani et al. 2017, 3.1; source text (5.9), where both residuals are ``PostNorm``.
    """

    def __init__(
        self,
        attention: nn.Module,
        feed_forward: nn.Module,
        *,
        attention_residual: nn.Module,
        feed_forward_residual: nn.Module,
    ) -> None:
        super().__init__()
        self.attention, self.attention_residual = attention, attention_residual
        self.feed_forward, self.feed_forward_residual = feed_forward, feed_forward_residual

    def forward(
        self,
        x: Stream,
        *,
        mask: Mask = None,
        bias: Bias = None,
        positions: Positions | Rotation | None = None,
        cache: LayerCache | None = None,
    ) -> Stream:
        """Shapes: x [B, T, D] -> [B, T, D]. The options go to the attention."""
        options = given(mask=mask, bias=bias, positions=positions, cache=cache)
        x = self.attention_residual(x, self.attention, **options)
        return self.feed_forward_residual(x, self.feed_forward)


@checked(shields=False)
class CrossBlock(nn.Module):
    """Attention, then attention to a context, then feed-forward: the decoder that has an encoder.

    y' = residual(y, attention),  y'' = residual'(y', cross_attention to the context),
    z = residual''(y'', feed_forward)

    Source: Vaswani et al. 2017, 3.1; source text (5.10), where all residuals are ``PostNorm``.
    """

    def __init__(
        self,
        attention: nn.Module,
        cross_attention: nn.Module,
        feed_forward: nn.Module,
        *,
        attention_residual: nn.Module,
        cross_residual: nn.Module,
        feed_forward_residual: nn.Module,
    ) -> None:
        super().__init__()
        self.attention, self.attention_residual = attention, attention_residual
        self.cross_attention, self.cross_residual = cross_attention, cross_residual
        self.feed_forward, self.feed_forward_residual = feed_forward, feed_forward_residual

    def forward(
        self,
        x: Stream,
        context: Memory,
        *,
        mask: Mask = None,
        bias: Bias = None,
        positions: Positions | Rotation | None = None,
        cache: LayerCache | None = None,
        context_mask: MemoryMask = None,
        context_cache: LayerCache | None = None,
    ) -> Stream:
        """Shapes: x [B, T, D], context [B, N, C] -> [B, T, D].

        context_mask and context_cache are the mask and the cache of the cross-attention, the other
        options those of the self-attention.
        """
        own = given(mask=mask, bias=bias, positions=positions, cache=cache)
        cross = given(context=context, mask=context_mask, cache=context_cache)
        x = self.attention_residual(x, self.attention, **own)
        x = self.cross_residual(x, self.cross_attention, **cross)
        return self.feed_forward_residual(x, self.feed_forward)


@checked(shields=False)
class ParallelBlock(nn.Module):
    """Attention and feed-forward side by side: both read the same x, and both add to it.

    y = x + attention(Norm(x)) + feed_forward(Norm'(x))

    Without ``feed_forward_norm`` both read one Norm(x), as in GPT-J, PaLM and Falcon 7B; with it
    each has its own, as in GPT-NeoX (Pythia) and Falcon 40B. ``dropout`` is a module on either.
    The stream is not normalised: end the stack with a norm.
    Source: Chowdhery et al. 2022 (PaLM), 2; it is a variant, the 2017 block runs one after the
    other.
    """

    def __init__(
        self,
        attention: nn.Module,
        feed_forward: nn.Module,
        norm: nn.Module,
        feed_forward_norm: nn.Module | None = None,
        *,
        dropout: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.attention, self.feed_forward = attention, feed_forward
        self.norm, self.feed_forward_norm = norm, feed_forward_norm
        self.dropout = nn.Identity() if dropout is None else dropout

    def forward(
        self,
        x: Stream,
        *,
        mask: Mask = None,
        bias: Bias = None,
        positions: Positions | Rotation | None = None,
        cache: LayerCache | None = None,
    ) -> Stream:
        """Shapes: x [B, T, D] -> [B, T, D]. The options go to the attention."""
        options = given(mask=mask, bias=bias, positions=positions, cache=cache)
        normed = self.norm(x)
        attended = branch(normed, self.attention, options)
        if self.feed_forward_norm is not None:
            normed = self.feed_forward_norm(x)
        fed = branch(normed, self.feed_forward, {})
        return x + self.dropout(attended) + self.dropout(fed)


@checked(shields=False)
class Stack(nn.Module):
    """Blocks one after another, and what closes them.

    y = Norm(block_L(... block_1(x)))

    ``final_norm`` is needed wherever no block ends in a norm: after ``PreNorm``, ``SandwichNorm``
    and ``ParallelBlock`` the stream has grown with depth. After ``PostNorm`` it is left out.
    Source: Vaswani et al. 2017, 3.1; source text after (5.18) for the final norm.
    """

    def __init__(self, blocks: Iterable[nn.Module], final_norm: nn.Module | None = None) -> None:
        super().__init__()
        self.blocks = filled("blocks", blocks)
        self.final_norm = nn.Identity() if final_norm is None else final_norm

    def forward(
        self,
        x: Stream,
        context: Memory | None = None,
        *,
        cache: Cache | None = None,
        context_cache: Cache | None = None,
        mask: Mask = None,
        bias: Bias = None,
        positions: Positions | Rotation | None = None,
        context_mask: MemoryMask = None,
    ) -> Stream:
        """Shapes: x [B, T, D], context [B, N, C] -> [B, T, D].

        Block l gets ``cache[l]`` and ``context_cache[l]``, and everything else as it is.
        """
        options = given(
            context=context, context_mask=context_mask, mask=mask, bias=bias, positions=positions
        )
        for layer, block in enumerate(self.blocks):
            own = None if cache is None else cache[layer]
            crossed = None if context_cache is None else context_cache[layer]
            x = block(x, **options, **given(cache=own, context_cache=crossed))
        return self.final_norm(x)
