"""The decoder-only model: tokens in, a score for every possible next token out."""

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pieces.blocks import Stack
from pieces.cache import Cache
from pieces.cache.fit import all_or_nothing, require_fit
from pieces.checks import (
    checked,
    require,
    require_ids,
    require_mask,
    require_module,
)
from pieces.embeddings import TokenEmbedding
from pieces.positions import PositionalEncoding, TransformerXLRelative

Mask = Bool[Tensor, "T S"] | Bool[Tensor, "#B #H #T S"] | None
Positions = Int[Tensor, "T"] | Int[Tensor, "#B T"] | None


@checked
class DecoderOnly(nn.Module):
    """Embed, run the stack, compare with every token of the vocabulary.

    logits = head(stack(norm(add(E[u], positions))))

    The attention layers look at the past only by themselves: build them with ``CausalCore``.
    ``position`` acts in its one place: what is added is added here, once; a rotation or a bias is
    computed here, once, and handed to all layers (a rotating layer is built with the same
    ``position``, a biased one with none). ``embedding_norm`` is BLOOM's. Without a ``head`` the
    logits are read from the embedding's own table (tied weights). ``config`` is kept, not used.

    Source: Radford et al. 2018 (GPT), 3.1, eq. (2); source text, decoder-only models.
    """

    def __init__(
        self,
        embedding: TokenEmbedding,
        stack: Stack,
        *,
        position: PositionalEncoding | None = None,
        embedding_norm: nn.Module | None = None,
        head: nn.Module | None = None,
        config: Any = None,
    ) -> None:
        super().__init__()
        self.config, self.embedding = config, embedding
        self.position = PositionalEncoding() if position is None else position
        require_module("position", self.position)
        self.embedding_norm = nn.Identity() if embedding_norm is None else embedding_norm
        require_module("embedding_norm", self.embedding_norm)
        require_one_encoding(stack, self.position)
        self.stack, self.head = stack, head
        if head is not None:
            require_module("head", head)

    def forward(
        self,
        input_ids: Int[Tensor, "B T"],
        *,
        mask: Mask = None,
        positions: Positions = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "B T V"]:
        """Shapes: input_ids [B, T] -> logits [B, T, V]; those at t are for the token after t.

        ``mask`` (True = may attend) says which of all S keys so far are real, [B, 1, 1, S], beside
        the causal rule; [T, S] is taken as well, unless B = T, where it might be padding. With a
        ``cache`` (``pieces.cache``) input_ids are the next T tokens; a call that fails leaves it as
        it was. ``positions`` [T] or [B, T] of input_ids go on from the cache if left out; padding
        on the left shifts them.
        """
        return self.logits(self.hidden(input_ids, mask=mask, positions=positions, cache=cache))

    def hidden(
        self,
        input_ids: Int[Tensor, "B T"],
        *,
        mask: Mask = None,
        positions: Positions = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "B T D"]:
        """The stream behind the last norm. Shapes: [B, T] -> [B, T, D]. Errors: as ``forward``."""
        require_texts("input_ids", input_ids)
        (B, T), S = input_ids.shape, input_ids.shape[1]
        if mask is not None:
            require_model_mask("mask", mask, B, T, T if cache is None else keys_so_far(cache, T))
        if cache is not None:
            require_fit(cache, self.stack, mask, T)
            S = cache.reach(T)
            mask = None if mask is None else mask[..., -S:]  # a rolling cache has dropped the rest
        x = self.embedding(input_ids)
        if positions is None:
            positions = cached_positions(T, cache, x.device)
        x = self.embedding_norm(self.position.add(x, positions))
        shared = self.position.for_layers(positions, S, x.dtype)
        return all_or_nothing(cache, self.stack, x, mask=mask, cache=cache, **shared)

    def logits(self, hidden: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]:
        """The head alone, for those who want the logits of some tokens only."""
        return self.embedding.logits(hidden) if self.head is None else self.head(hidden)


@checked
def cached_positions(T: int, cache: Cache | None, device: torch.device) -> Tensor:
    """Where T new tokens stand: at the beginning, or behind what the cache has."""
    if cache is None:
        return torch.arange(T, device=device)
    return cache.positions(T, device=device)


def require_texts(argument: str, ids: Tensor) -> None:
    """Refuse what is no batch of token ids [B, T], or is empty."""
    require_ids(argument, ids)
    rule, remedy = "must hold at least one text of at least one token", "leave the call out"
    require(ids.numel() > 0, f"{argument}.shape", tuple(ids.shape), rule, remedy)


@checked
def keys_so_far(cache: Cache, T: int) -> int:
    """Those of all tokens seen, the next T among them, kept or not."""
    return cache.length() + T


def require_model_mask(argument: str, mask: Tensor, B: int, T: int, S: int) -> None:
    """Refuse a mask that is not [T, S] or 4-D, each axis full or 1, or that could be padding.

    Where B = T, a mask [T, S] looks like padding [B, S]: then it must have its four axes.
    """
    require_mask(mask, argument)
    shape = tuple(mask.shape)
    fits = len(shape) in (2, 4) and shape[-2] in (1, T) and shape[-1] in (1, S)
    fits = fits and (len(shape) == 2 or shape[0] in (1, B))
    remedy = (
        f"write {argument}[:, None, None] for padding [B, S], {argument}[None, None] for [T, S]"
    )
    rule = f"must be [T, S] = {(T, S)} or stretch to [B, H, T, S], with B = {B}; S: all keys so far"
    require(fits, f"{argument}.shape", shape, rule, remedy)
    clear = len(shape) == 4 or shape[0] == 1 or B != T
    rule = "where B = T, a mask [T, S] and padding [B, S] look alike"
    require(clear, f"{argument}.shape", shape, rule, remedy)


def require_one_encoding(stack: nn.Module, position: PositionalEncoding) -> None:
    """Refuse layers that rotate by another encoding than the one computed for them.

    Transformer-XL's is each layer's own, with weights of its own, and asks for distances only.
    """
    for name, layer in stack.named_modules():
        own = getattr(layer, "position", position)
        fits = own is position or not own.acts() or isinstance(own, TransformerXLRelative)
        rule, remedy = "must be the model's own encoding", "pass one object to both"
        require(fits, f"stack.{name}.position", own, rule, remedy)
