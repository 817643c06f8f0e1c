"""The decoder-only model: tokens in, a score for every possible next token out."""

from typing import Any

from jaxtyping import Float, Int
from torch import Tensor, nn

from pieces.blocks import Stack
from pieces.cache import Cache
from pieces.cache.fit import all_or_nothing
from pieces.cache.origin import note
from pieces.checks import checked
from pieces.embeddings import TokenEmbedding
from pieces.models.fit import cached_positions, fitted, require_one_encoding, require_texts
from pieces.positions import PositionalEncoding
from pieces.types import KeyMask, Positions


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
        self.embedding_norm = nn.Identity() if embedding_norm is None else embedding_norm
        self.stack, self.head = stack, head
        require_one_encoding(stack, self.position)

    def forward(
        self,
        input_ids: Int[Tensor, "B T"],
        *,
        mask: KeyMask = None,
        positions: Positions | None = None,
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
        mask: KeyMask = None,
        positions: Positions | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "B T D"]:
        """The stream behind the last norm. Shapes: [B, T] -> [B, T, D]. Errors: as ``forward``."""
        require_texts("input_ids", input_ids)
        mask, S = fitted(mask, cache, self.stack, input_ids)
        T, x = input_ids.shape[1], self.embedding(input_ids)
        if positions is None:
            positions = cached_positions(T, cache, x.device)
        x = self.embedding_norm(self.position.add(x, positions))
        shared = self.position.for_layers(positions, S, x.dtype)
        x = all_or_nothing(cache, self.stack, x, mask=mask, cache=cache, **shared)
        note(cache, self, input_ids)
        return x

    def logits(self, hidden: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]:
        """The head alone, for those who want the logits of some tokens only."""
        return self.embedding.logits(hidden) if self.head is None else self.head(hidden)
