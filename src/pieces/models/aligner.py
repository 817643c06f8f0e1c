"""The recurrent aligner: attention as it began, between a GRU that reads and a GRU that writes."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from pieces.attention import AttentionCore
from pieces.checks import Size, checked, require
from pieces.embeddings import TokenEmbedding
from pieces.models.config import Config
from pieces.scores import AdditiveScore
from pieces.types import Ids, PaddingMask


@dataclass(frozen=True)
class AlignerConfig(Config):
    """Sizes of an aligner. ``d_model``: of embeddings, annotations and the writer's state."""

    vocab_size: Size
    d_model: Size
    score_dim: Size


class Written:
    """What the writer remembers between calls: its state, and how much it has written."""

    def __init__(self) -> None:
        self.state: Tensor | None = None
        self.count = 0

    def length(self) -> int:
        """Target tokens seen."""
        return self.count

    def select(self, rows: Int[Tensor, "N"]) -> None:
        """Keep these rows of the batch, in this order (beam search)."""
        self.state = None if self.state is None else self.state[rows]


@checked(shields=False)
class Aligner(nn.Module):
    """A reader in both directions, and a writer that looks back at it before each word.

    h = BiGRU(E[source]),  s_0 = tanh(W h_1's backward half)
    c_i = sum over j of a_ij h_j,  a_ij = softmax over j of score(s_(i-1), h_j)
    s_i = GRU(s_(i-1), [E[y_(i-1)]; c_i]),  logits_i = V tanh(W' [s_i; c_i])

    The heart is ``core``, an ``AttentionCore`` with an ``AdditiveScore``: it is called once for
    each word, so that ``trace.calls("core")`` is the alignment, a row at a time.
    Source: Bahdanau et al. 2015, 3 and A.2; their output reads s_(i-1) through a maxout.
    """

    def __init__(self, config: AlignerConfig) -> None:
        super().__init__()
        D = config.d_model
        require(D % 2 == 0, "d_model", D, "must be even: a half each way", f"pass {D + 1}")
        self.d_model = D
        self.config, self.embedding = config, TokenEmbedding(config.vocab_size, D)
        self.reader = nn.GRU(D, D // 2, batch_first=True, bidirectional=True)
        self.start = nn.Linear(D // 2, D)
        self.core = AttentionCore(AdditiveScore(D, D, config.score_dim))
        self.writer = nn.GRUCell(2 * D, D)
        self.mix = nn.Linear(2 * D, D)
        self.head = nn.Linear(D, config.vocab_size)

    def forward(
        self,
        source_ids: Int[Tensor, "B S"],
        target_ids: Int[Tensor, "B T"],
        *,
        source_mask: PaddingMask = None,
    ) -> Float[Tensor, "B T V"]:
        """Shapes: source_ids [B, S], target_ids [B, T] -> logits [B, T, V].

        ``source_mask`` [B, 1, 1, S] is True at real tokens; padding stands on the right.
        """
        memory = self.encode(source_ids, mask=source_mask)
        return self.logits(self.decode_hidden(target_ids, memory, source_mask=source_mask))

    def encode(self, source_ids: Ids, *, mask: PaddingMask = None) -> Float[Tensor, "B S D"]:
        """The annotations h. Shapes: [B, S] -> [B, S, D]."""
        x = self.embedding(source_ids)
        if mask is None:
            return self.reader(x)[0]
        lengths = mask.expand(len(x), 1, 1, x.shape[1]).sum(dim=-1).flatten().cpu()
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, True, enforce_sorted=False)
        padded = nn.utils.rnn.pad_packed_sequence
        return padded(self.reader(packed)[0], True, total_length=x.shape[1])[0]

    def decode_hidden(
        self,
        target_ids: Ids,
        memory: Float[Tensor, "B S D"],
        *,
        source_mask: PaddingMask = None,
        cache: Written | None = None,
    ) -> Float[Tensor, "B T D"]:
        """What the head reads, for each target token. With a ``cache`` they are the next T tokens.

        Shapes: target_ids [B, T], memory [B, S, D] -> [B, T, D].
        """
        state = None if cache is None else cache.state
        if state is None:
            backward = memory[:, 0, self.config.d_model // 2 :]
            state = torch.tanh(self.start(backward))
        hidden, annotations = [], memory[:, None]
        for word in self.embedding(target_ids).unbind(dim=1):
            context, _ = self.core(state[:, None, None], annotations, annotations, mask=source_mask)
            context = context[:, 0, 0]
            state = self.writer(torch.cat((word, context), dim=-1), state)
            hidden.append(torch.tanh(self.mix(torch.cat((state, context), dim=-1))))
        if cache is not None:
            cache.state, cache.count = state, cache.count + target_ids.shape[1]
        return torch.stack(hidden, dim=1)

    def logits(self, hidden: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch V"]:
        """The head alone."""
        return self.head(hidden)

    def new_cache(self) -> Written:
        """An empty cache for one batch."""
        return Written()


def aligner(config: AlignerConfig) -> Aligner:
    """Build an aligner of random weights. Source: as ``Aligner``."""
    return Aligner(config)
