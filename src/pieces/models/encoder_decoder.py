"""The 2017 model: an encoder reads the source, a decoder writes the target and looks at both."""

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pieces.attention import CachedAttention, CausalCore, CrossAttention, MultiHeadAttention
from pieces.blocks import Block, CrossBlock, Stack
from pieces.cache import Cache, GrowingCache
from pieces.checks import require_ids, require_mask, require_module, require_positive, require_share
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import FeedForward
from pieces.models.config import Config
from pieces.models.decoder_only import cached_positions
from pieces.norms import LayerNorm
from pieces.positions import PositionalEncoding, Sinusoidal
from pieces.residual import PostNorm

Mask = Bool[Tensor, "#T #S"] | Bool[Tensor, "#B #H #T #S"] | None
Ids = Int[Tensor, "B T"]


@dataclass
class Caches:
    """What a decoder remembers: its own keys and values, and those of the source."""

    own: Cache = field(default_factory=GrowingCache)
    source: Cache = field(default_factory=GrowingCache)

    def length(self) -> int:
        """Target tokens seen."""
        return self.own.length()

    def select(self, rows: Int[Tensor, "N"]) -> None:
        """Keep these rows of the batch, in this order (beam search)."""
        self.own.select(rows)
        self.source.select(rows)


class EncoderDecoder(nn.Module):
    """Source and target tokens to the logits of the next target token.

    memory = Encoder(E[source] + p),  logits = Head(Decoder(E'[target] + p, memory))

    ``target_embedding`` left out is the source's; ``head`` left out is the target embedding read
    backwards, its logits multiplied by ``logit_scale``. ``dropout`` acts on the embeddings.
    Source: Vaswani et al. 2017, 3. Raises: TypeError if a part is not a module, ValueError if
    logit_scale is not above 0.
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
        logit_scale: float = 1.0,
        dropout: nn.Module | None = None,
        config: Any = None,
    ) -> None:
        super().__init__()
        require_positive("logit_scale", logit_scale)
        parts = {
            "embedding": embedding,
            "encoder": encoder,
            "decoder": decoder,
            "encoder_position": encoder_position or PositionalEncoding(),
            "decoder_position": decoder_position or PositionalEncoding(),
            "dropout": dropout or nn.Identity(),
        }
        optional = {"target_embedding": target_embedding, "head": head}
        for name, part in parts.items() | {p for p in optional.items() if p[1] is not None}:
            require_module(name, part)
        for name, part in (parts | optional).items():
            setattr(self, name, part)
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
        Raises: TypeError, ValueError as the parts.
        """
        if source_mask is not None:
            require_mask(source_mask, "source_mask")
        memory = self.encode(source_ids, mask=source_mask)
        return self.decode(target_ids, memory, source_mask=source_mask, mask=mask, cache=cache)

    def encode(self, source_ids: Ids, *, mask: Mask = None) -> Float[Tensor, "B S D"]:
        """What the decoder looks at. Shapes: [B, S] -> [B, S, D]. Errors: as ``forward``."""
        require_ids("source_ids", source_ids)
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
        require_ids("target_ids", target_ids)
        own, source = (None, None) if cache is None else (cache.own, cache.source)
        x = (self.target_embedding or self.embedding)(target_ids)
        T = x.shape[1]
        positions = cached_positions(T, own, x.device)
        x = self.dropout(self.decoder_position.add(x, positions))
        S = T if own is None else own.reach(T)
        placed = self.decoder_position.for_layers(positions, S, x.dtype)
        caches = {"cache": own, "context_cache": source}
        return self.decoder(x, memory, mask=mask, context_mask=source_mask, **caches, **placed)

    def logits(self, hidden: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]:
        """The head alone."""
        if self.head is not None:
            return self.head(hidden)
        return (self.target_embedding or self.embedding).logits(hidden * self.logit_scale)

    def new_cache(self) -> Caches:
        """An empty cache for one batch."""
        return Caches()


@dataclass(frozen=True)
class EncoderDecoderConfig(Config):
    """Sizes of the 2017 model; ``n_layers`` of each part."""

    vocab_size: int
    d_model: int = 512
    n_layers: int = 6
    n_heads: int = 8
    d_ff: int = 2048
    dropout: float = field(default=0.1, metadata={"own_check": True})
    norm_eps: float = 1e-5
    bias: bool = True

    def __post_init__(self) -> None:
        """Check the fields. A share of dropout may be 0."""
        super().__post_init__()
        require_share("dropout", self.dropout)


def encoder_decoder(config: EncoderDecoderConfig) -> EncoderDecoder:
    """Build the 2017 model: post-norm, sinusoidal code, one table for source, target and head.

    Source: Vaswani et al. 2017, 3 and 5.4; source text (5.1) to (5.11).
    Raises: TypeError, ValueError if a size is not an int of at least 1 or does not divide.
    """
    D = config.d_model

    def attention(kind: type[MultiHeadAttention], **options: Any) -> MultiHeadAttention:
        return kind(D, config.n_heads, bias=config.bias, **options)

    def residual() -> PostNorm:
        return PostNorm(LayerNorm(D, eps=config.norm_eps), nn.Dropout(config.dropout))

    def encoder_block() -> Block:
        residuals = {"attention_residual": residual(), "feed_forward_residual": residual()}
        return Block(attention(MultiHeadAttention), FeedForward(D, config.d_ff), **residuals)

    def decoder_block() -> CrossBlock:
        kinds = ("attention_residual", "cross_residual", "feed_forward_residual")
        residuals = {kind: residual() for kind in kinds}
        own, cross = attention(CachedAttention, core=CausalCore()), attention(CrossAttention)
        return CrossBlock(own, cross, FeedForward(D, config.d_ff), **residuals)

    return EncoderDecoder(
        TokenEmbedding(config.vocab_size, D, scale=math.sqrt(D)),
        Stack(encoder_block() for _ in range(config.n_layers)),
        Stack(decoder_block() for _ in range(config.n_layers)),
        encoder_position=Sinusoidal(D),
        decoder_position=Sinusoidal(D),
        dropout=nn.Dropout(config.dropout),
        config=config,
    )


BASE = EncoderDecoderConfig(37_000)
BIG = EncoderDecoderConfig(37_000, 1024, 6, 16, 4096, 0.3)
PRESETS = {"base": BASE, "big": BIG}
