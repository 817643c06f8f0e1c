"""Blocks: attention and feed-forward, each in its residual connection; and a stack of blocks.

The sublayers and residual connections are passed in, so one class serves many models. ``Block``
with no mask is the encoder's, with a causal mask that of a decoder-only model.
"""

from collections.abc import Iterable
from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from pieces.checks import require, require_instance, require_mask, require_module
from pieces.residual import branch

Stream = Float[Tensor, "B T D"]
Context = Float[Tensor, "B S C"]
Mask = Bool[Tensor, "..."] | None


class Block(nn.Module):
    """Attention, then feed-forward.

    x' = residual(x, attention),  y = residual'(x', feed_forward)

    Source: Vaswani et al. 2017, 3.1; source text (5.9), where both residuals are ``PostNorm``.
    Raises: TypeError if a part is not a module.
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
        require_module("attention", attention)
        require_module("feed_forward", feed_forward)
        require_module("attention_residual", attention_residual)
        require_module("feed_forward_residual", feed_forward_residual)
        self.attention, self.attention_residual = attention, attention_residual
        self.feed_forward, self.feed_forward_residual = feed_forward, feed_forward_residual

    def forward(self, x: Stream, **options: Any) -> Stream:
        """Shapes: x [B, T, D] -> [B, T, D]. ``options``, such as ``mask``, go to the attention.

        Raises: what the parts raise.
        """
        x = self.attention_residual(x, self.attention, **options)
        return self.feed_forward_residual(x, self.feed_forward)


class CrossBlock(nn.Module):
    """Attention, then attention to a context, then feed-forward: the decoder that has an encoder.

    y' = residual(y, attention),  y'' = residual'(y', cross_attention to the context),
    z = residual''(y'', feed_forward)

    Source: Vaswani et al. 2017, 3.1; source text (5.10), where all residuals are ``PostNorm``.
    Raises: TypeError if a part is not a module.
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
        require_module("attention", attention)
        require_module("cross_attention", cross_attention)
        require_module("feed_forward", feed_forward)
        require_module("attention_residual", attention_residual)
        require_module("cross_residual", cross_residual)
        require_module("feed_forward_residual", feed_forward_residual)
        self.attention, self.attention_residual = attention, attention_residual
        self.cross_attention, self.cross_residual = cross_attention, cross_residual
        self.feed_forward, self.feed_forward_residual = feed_forward, feed_forward_residual

    def forward(
        self,
        x: Stream,
        context: Context,
        *,
        context_mask: Mask = None,
        context_cache: Any = None,
        **options: Any,
    ) -> Stream:
        """Shapes: x [B, T, D], context [B, S, C] -> [B, T, D].

        ``options`` go to the self-attention; context_mask and context_cache are the mask and the
        cache of the cross-attention. Raises: what the parts raise.
        """
        if context_mask is not None:
            require_mask(context_mask, "context_mask")
        cross: dict[str, Any] = {"context": context, "mask": context_mask}
        if context_cache is not None:
            cross["cache"] = context_cache
        x = self.attention_residual(x, self.attention, **options)
        x = self.cross_residual(x, self.cross_attention, **cross)
        return self.feed_forward_residual(x, self.feed_forward)


class ParallelBlock(nn.Module):
    """Attention and feed-forward side by side: both read the same x, and both add to it.

    y = x + attention(Norm(x)) + feed_forward(Norm'(x))

    Without ``feed_forward_norm`` both read one Norm(x), as in GPT-J, PaLM and Falcon 7B; with it
    each has its own, as in GPT-NeoX (Pythia) and Falcon 40B. ``dropout`` is a module on either.
    The stream is not normalised: end the stack with a norm.
    Source: Chowdhery et al. 2022 (PaLM), 2; it is a variant, the 2017 block runs one after the
    other. Raises: TypeError if a part is not a module.
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
        require_module("attention", attention)
        require_module("feed_forward", feed_forward)
        require_module("norm", norm)
        self.attention, self.feed_forward = attention, feed_forward
        self.norm = norm
        self.feed_forward_norm = feed_forward_norm
        if feed_forward_norm is not None:
            require_module("feed_forward_norm", feed_forward_norm)
        self.dropout = nn.Identity() if dropout is None else dropout
        require_module("dropout", self.dropout)

    def forward(self, x: Stream, **options: Any) -> Stream:
        """Shapes: x [B, T, D] -> [B, T, D]. ``options``, such as ``mask``, go to the attention.

        Raises: TypeError, ValueError as ``residual.branch``, and what the parts raise.
        """
        normed = self.norm(x)
        attended = branch(normed, self.attention, options)
        if self.feed_forward_norm is not None:
            normed = self.feed_forward_norm(x)
        fed = branch(normed, self.feed_forward, {})
        return x + self.dropout(attended) + self.dropout(fed)


class Stack(nn.Module):
    """Blocks one after another, and what closes them.

    y = Norm(block_L(... block_1(x)))

    ``final_norm`` is needed wherever no block ends in a norm: after ``PreNorm``, ``SandwichNorm``
    and ``ParallelBlock`` the stream has grown with depth. After ``PostNorm`` it is left out.
    Source: Vaswani et al. 2017, 3.1; source text after (5.18) for the final norm.
    Raises: TypeError if a part is not a module, ValueError if there is no block.
    """

    def __init__(self, blocks: Iterable[nn.Module], final_norm: nn.Module | None = None) -> None:
        super().__init__()
        require_instance("blocks", blocks, Iterable, "pass a list of modules")
        blocks = list(blocks)
        require(len(blocks) > 0, "blocks", blocks, "must not be empty", "pass at least one block")
        for index, block in enumerate(blocks):
            require_module(f"blocks[{index}]", block)
        self.blocks = nn.ModuleList(blocks)
        self.final_norm = nn.Identity() if final_norm is None else final_norm
        require_module("final_norm", self.final_norm)

    def forward(
        self,
        x: Stream,
        context: Context | None = None,
        *,
        cache: Any = None,
        context_cache: Any = None,
        **options: Any,
    ) -> Stream:
        """Shapes: x [B, T, D], context [B, S, C] -> [B, T, D].

        Block l gets ``cache[l]``, and everything else unchanged. Raises: what the blocks raise.
        """
        if context is not None:
            options["context"] = context
        caches = {"cache": cache, "context_cache": context_cache}
        caches = {name: layers for name, layers in caches.items() if layers is not None}
        for layer, block in enumerate(self.blocks):
            own = {name: layers[layer] for name, layers in caches.items()}
            x = block(x, **options, **own)
        return self.final_norm(x)
