"""The encoder-decoder: source and target tokens in, a score for every next target token out."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from pieces.blocks import Stack
from pieces.cache import Cache
from pieces.cache.fit import all_or_nothing
from pieces.checks import Positive, checked, refuse
from pieces.embeddings import TokenEmbedding
from pieces.models.encoder_decoder.caches import Caches
from pieces.models.fit import cached_positions, fitted, require_model_mask, require_texts
from pieces.positions import PositionalEncoding
from pieces.types import Ids, Mask


@checked
class EncoderDecoder(nn.Module):
    """Source and target tokens to the logits of the next target token.

    memory = Encoder(E[source] + p),  logits = Head(Decoder(E'[target] + p, memory))

    ``target_embedding`` left out is the source's; ``head`` left out is the target embedding read
    backwards, its logits multiplied by ``logit_scale``. ``dropout`` acts on the embeddings.
    Source: Vaswani et al. 2017, 3.
    """

    def __init__(
        self,
        embedding: TokenEmbedding,
        encoder: Stack,
        decoder: Stack,
        *,
        target_embedding: TokenEmbedding | None = None,
        encoder_position: PositionalEncoding | None = None,
        decoder_position: PositionalEncoding | None = None,
        head: nn.Module | None = None,
        logit_scale: Positive = 1.0,
        dropout: nn.Module | None = None,
        config: Any = None,
    ) -> None:
        super().__init__()
        self.embedding, self.target_embedding, self.head = embedding, target_embedding, head
        self.encoder, self.decoder = encoder, decoder
        self.encoder_position = encoder_position or PositionalEncoding()
        self.decoder_position = decoder_position or PositionalEncoding()
        self.dropout = dropout or nn.Identity()
        self.logit_scale, self.config = logit_scale, config

    def forward(
        self,
        source_ids: Int[Tensor, "B S"],
        target_ids: Int[Tensor, "B T"],
        *,
        source_mask: Mask = None,
        mask: Mask = None,
        cache: Caches | None = None,
    ) -> Float[Tensor, "B T V"]:
        """Shapes: source_ids [B, S], target_ids [B, T] -> logits [B, T, V].

        ``source_mask`` [B, 1, 1, S] hides padding of the source from all, ``mask`` that of the
        target. With a ``cache`` (``new_cache``) target_ids are the next T tokens; ``encode`` once,
        and call ``decode``, to save the encoder too.
        """
        require_texts("target_ids", target_ids)
        require_texts("source_ids", source_ids)
        if source_mask is not None:
            require_model_mask("source_mask", source_mask, *source_ids.shape, source_ids.shape[1])
        memory = self.encode(source_ids, mask=source_mask)
        return self.decode(target_ids, memory, source_mask=source_mask, mask=mask, cache=cache)

    def encode(self, source_ids: Ids, *, mask: Mask = None) -> Float[Tensor, "B S D"]:
        """What the decoder looks at. Shapes: [B, S] -> [B, S, D]. Errors: as ``forward``."""
        require_texts("source_ids", source_ids)
        if mask is not None:
            require_model_mask("mask", mask, *source_ids.shape, source_ids.shape[1])
        x = self.embedding(source_ids)
        positions = torch.arange(x.shape[1], device=x.device)
        x = self.dropout(self.encoder_position.add(x, positions))
        placed = self.encoder_position.for_layers(positions, x.shape[1], x.dtype)
        return self.encoder(x, mask=mask, **placed)

    def decode(
        self,
        target_ids: Ids,
        memory: Float[Tensor, "B S D"],
        *,
        source_mask: Mask = None,
        mask: Mask = None,
        cache: Caches | None = None,
    ) -> Float[Tensor, "B T V"]:
        """Shapes: target_ids [B, T], memory [B, S, D] -> logits [B, T, V]. As ``forward``."""
        options = {"source_mask": source_mask, "mask": mask, "cache": cache}
        return self.logits(self.decode_hidden(target_ids, memory, **options))

    def decode_hidden(
        self,
        target_ids: Ids,
        memory: Float[Tensor, "B S D"],
        *,
        source_mask: Mask = None,
        mask: Mask = None,
        cache: Caches | None = None,
    ) -> Float[Tensor, "B T D"]:
        """The decoder's stream behind its last norm. Shapes: -> [B, T, D]. As ``forward``."""
        require_texts("target_ids", target_ids)
        (B, T), (own, source) = target_ids.shape, caches_for(cache, memory)
        if source_mask is not None:
            require_model_mask("source_mask", source_mask, B, T, memory.shape[1])
        mask, S = fitted(mask, own, self.decoder, target_ids)
        x = (self.target_embedding or self.embedding)(target_ids)
        positions = cached_positions(T, own, x.device)
        x = self.dropout(self.decoder_position.add(x, positions))
        placed = self.decoder_position.for_layers(positions, S, x.dtype)
        options = {"mask": mask, "context_mask": source_mask, "cache": own} | placed
        return all_or_nothing(cache, self.decoder, x, memory, context_cache=source, **options)

    def logits(self, hidden: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]:
        """The head alone."""
        if self.head is not None:
            return self.head(hidden)
        return (self.target_embedding or self.embedding).logits(hidden * self.logit_scale)

    def new_cache(self) -> Caches:
        """An empty cache for one batch."""
        return Caches()


def caches_for(cache: Caches | None, memory: Tensor) -> tuple[Cache | None, Cache | None]:
    """Its two parts; refuse what was begun with a source of another length."""
    if cache is None:
        return None, None
    seen, S = cache.source.length(), memory.shape[1]
    if seen not in (0, S):
        rule = f"it holds a source of {seen} tokens, and memory has {S}"
        refuse("cache", "given", rule, "start a new cache for another source")
    return cache.own, cache.source
