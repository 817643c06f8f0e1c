"""BERT: an encoder alone, every token sees every other; and the head that guesses hidden words."""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from pieces.attention import MultiHeadAttention
from pieces.blocks import Block, Stack
from pieces.checks import Positive, Share, Size, checked, refuse
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import Activation, FeedForward, gelu
from pieces.models.config import Config, builder
from pieces.models.fit import require_model_mask, require_texts
from pieces.norms import LayerNorm
from pieces.positions import Learned
from pieces.residual import PostNorm
from pieces.types import Ids, Mask


@dataclass(frozen=True)
class BertConfig(Config):
    """Sizes of a BERT. ``n_segments``: sentence A, sentence B.

    ``pooler``: the layer behind ``pooled``; many sentence encoders have none.
    """

    vocab_size: Size
    d_model: Size
    n_layers: Size
    n_heads: Size
    d_ff: Size
    max_seq_len: Size = 512
    n_segments: Size = 2
    norm_eps: Positive = 1e-12
    activation: Activation = gelu
    dropout: Share = 0.1
    pooler: bool = True


@dataclass(frozen=True)
class BertMaskedLMConfig(BertConfig):
    """The same, for ``bert_masked_lm``, whose head needs no pooler."""

    pooler: bool = False


@checked
class Bert(nn.Module):
    """Tokens to vectors that know their context on both sides.

    y = Stack(Norm(E[u] + p + s))

    s is the segment's vector. The ``pooler``, a linear layer, serves ``pooled``.
    Source: Devlin et al. 2019 (BERT), 3.
    """

    def __init__(
        self,
        embedding: nn.Module,
        stack: nn.Module,
        *,
        position: nn.Module,
        segment: nn.Module,
        embedding_norm: nn.Module,
        pooler: nn.Module | None = None,
        dropout: nn.Module | None = None,
        config: Any = None,
    ) -> None:
        super().__init__()
        self.embedding, self.position, self.segment = embedding, position, segment
        self.embedding_norm, self.dropout = embedding_norm, dropout or nn.Identity()
        self.stack, self.pooler, self.config = stack, pooler, config

    def forward(
        self, input_ids: Ids, *, mask: Mask = None, segments: Ids | None = None
    ) -> Float[Tensor, "B T D"]:
        """Shapes: input_ids, segments [B, T] -> [B, T, D]. ``mask`` hides padding, [B, 1, 1, T].

        Segments left out are all 0.
        """
        require_texts("input_ids", input_ids)
        if mask is not None:
            require_model_mask("mask", mask, *input_ids.shape, input_ids.shape[1])
        segments = torch.zeros_like(input_ids) if segments is None else segments
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)
        x = self.embedding(input_ids) + self.segment(segments)
        x = self.embedding_norm(self.position.add(x, positions))
        return self.stack(self.dropout(x), mask=mask)

    def pooled(self, hidden: Float[Tensor, "B T D"]) -> Float[Tensor, "B D"]:
        """One vector for a text: tanh(h_0 W + b), of the first token. Shapes: -> [B, D]."""
        if self.pooler is None:
            refuse("pooler", None, "this model has none", "build it with pooler=True")
        return torch.tanh(self.pooler(hidden[:, 0]))


@checked
class BertMaskedLM(nn.Module):
    """BERT with the head that guesses the hidden words, from both sides.

    logits = Norm(gelu(h W + c)) Eᵀ + b

    Source: Devlin et al. 2019 (BERT), 3.1, and its published code.
    """

    def __init__(
        self, bert: Bert, transform: nn.Module, norm: nn.Module, activation: Activation = gelu
    ) -> None:
        super().__init__()
        self.bert, self.transform, self.norm = bert, transform, norm
        self.activation, self.config = activation, bert.config
        self.bias = nn.Parameter(torch.zeros(bert.embedding.weight.shape[0]))

    def forward(
        self, input_ids: Ids, *, mask: Mask = None, segments: Ids | None = None
    ) -> Float[Tensor, "B T V"]:
        """Shapes: input_ids, segments [B, T] -> logits [B, T, V]. Errors: as ``Bert``."""
        hidden = self.bert(input_ids, mask=mask, segments=segments)
        hidden = self.norm(self.activation(self.transform(hidden)))
        return F.linear(hidden, self.bert.embedding.weight, self.bias)


@builder
def bert(config: BertConfig) -> Bert:
    """Build a BERT of random weights.

    Source: Devlin et al. 2019 (BERT), 3.
    """
    return _bert(config)


@builder
def bert_masked_lm(config: BertMaskedLMConfig) -> BertMaskedLM:
    """Build a BERT with its masked-language head. Source and errors: as ``bert``."""
    D = config.d_model
    parts = (_bert(config), nn.Linear(D, D), LayerNorm(D, eps=config.norm_eps))
    return BertMaskedLM(*parts, config.activation)


def _bert(config: BertConfig) -> Bert:
    """The parts that both have."""
    D = config.d_model

    def residual() -> PostNorm:
        return PostNorm(LayerNorm(D, eps=config.norm_eps), nn.Dropout(config.dropout))

    def block() -> Block:
        return Block(
            MultiHeadAttention(D, config.n_heads, bias=True),
            FeedForward(D, config.d_ff, config.activation),
            attention_residual=residual(),
            feed_forward_residual=residual(),
        )

    return Bert(
        TokenEmbedding(config.vocab_size, D, std=0.02),
        Stack(block() for _ in range(config.n_layers)),
        position=Learned(config.max_seq_len, D),
        segment=TokenEmbedding(config.n_segments, D, std=0.02),
        embedding_norm=LayerNorm(D, eps=config.norm_eps),
        pooler=nn.Linear(D, D) if config.pooler else None,
        dropout=nn.Dropout(config.dropout),
        config=config,
    )


BERT_BASE = BertConfig(30_522, 768, 12, 12, 3072)
BERT_LARGE = BertConfig(30_522, 1024, 24, 16, 4096)
PRESETS = {"bert-base-uncased": BERT_BASE, "bert-large-uncased": BERT_LARGE}
