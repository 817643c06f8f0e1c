"""Beam search: several candidates side by side, and the best of them in the end."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from pieces.checks import Natural, Number, Size, checked, require
from pieces.generate import begin, require_request
from pieces.precision import in_float32
from pieces.types import Ids, Padding

Candidates = Int[Tensor, "N T"]  # n_beams of each row, one row after another


@checked
@torch.no_grad()
def beam_search(
    model: nn.Module,
    input_ids: Ids,
    max_new_tokens: Natural,
    *,
    start_id: Natural,
    eos_id: Natural,
    n_beams: Size = 4,
    length_penalty: Number = 1.0,
    patient: bool = False,
    mask: Padding = None,
    pad_id: Natural = 0,
) -> tuple[Int[Tensor, "B longest"], Float[Tensor, "B"]]:
    """The best target found by keeping ``n_beams`` candidates, and its score.

    score = (sum of log-probabilities) / (number of new tokens)^length_penalty

    A candidate that brings ``eos_id`` is finished and set aside. The search of a row ends when it
    has n_beams finished ones, and no open candidate, were it to end where it stands, would be
    better than the worst of them. With a length_penalty above 0 one might still become better: more
    tokens divide its sum by more. ``patient`` waits until none can, not even if all tokens to come
    were certain. (``transformers`` calls the two early_stopping=False and "never".)

    Sums are float32 at least. A penalty so large that a score has no number gives -0.0 or -inf, and
    the order is right all the same.

    Source: Sutskever et al. 2014, 3.2; Wu et al. 2016 (GNMT), 7, for the idea of a penalty.
    Shapes: input_ids [B, T] -> targets [B, at most 1 + new], padded with pad_id, scores [B].
    """
    require_request(model, input_ids, mask, start_id)
    rows = torch.arange(len(input_ids), device=input_ids.device).repeat_interleave(n_beams)
    padding = None if mask is None else mask[rows]
    state = begin(model, input_ids[rows], padding, start_id, model.new_cache())
    longest = max_new_tokens if patient else None
    beams = _Beams(input_ids, n_beams, length_penalty, eos_id, longest)
    for _ in range(max_new_tokens):
        if beams.closed.all():
            break
        logits = state.logits()
        log_p = in_float32(logits).log_softmax(dim=-1)
        kept, tokens = beams.step(log_p, state.ids)
        state.select(kept)
        state.append(tokens)
    texts, scores = beams.best(state.ids, pad_id)
    return texts, scores.to(beams.total)


class _Beams:
    """Open candidates with their sums of log-probabilities, and the finished ones of each row.

    Candidates are compared by the rank of their score, log(length^penalty / -sum): it stands in
    the order of the scores, and does not overflow where they would.
    """

    def __init__(
        self, texts: Ids, n: int, penalty: Number, eos_id: int, longest: int | None
    ) -> None:
        self.B, self.n, self.penalty = len(texts), n, penalty
        self.eos_id, self.longest = eos_id, longest
        self.total = torch.full((self.B, n), -torch.inf, dtype=torch.float32, device=texts.device)
        self.total[:, 0] = 0.0  # all beams begin equal: only one of them may branch
        self.finished: list[list[tuple[float, Tensor]]] = [[] for _ in range(self.B)]
        self.closed = torch.zeros(self.B, dtype=torch.bool)

    def step(self, log_p: Float[Tensor, "N V"], ids: Candidates) -> tuple[Tensor, Tensor]:
        """Extend every candidate; returns which rows go on, and with which token."""
        V, length = log_p.shape[-1], ids.shape[1]  # new tokens, this one among them
        require(V > 1, "vocab_size", V, "there must be another token than eos_id", "add one")
        self.total = self.total.to(log_p)
        scores = (self.total[..., None] + log_p.view(self.B, self.n, V)).flatten(1)
        best, at = scores.topk(2 * self.n, dim=-1)  # enough, even if n of them finish
        ranks = self._ranks(best, length)
        rows, tokens = torch.zeros_like(at[:, : self.n]), torch.zeros_like(at[:, : self.n])
        for b in range(self.B):
            ended = at[b] % V == self.eos_id
            self._finish(b, ranks[b], at[b] // V, ended, ids)
            going = (~ended).nonzero().flatten()[: self.n]
            self.total[b] = best[b][going]
            rows[b], tokens[b] = b * self.n + at[b][going] // V, at[b][going] % V
            self._close(b, length)
        return rows.flatten(), tokens.flatten()

    def _ranks(self, total: Tensor, length: int) -> Tensor:
        """Numbers in the order of total / length^penalty, which is minus exp(-rank)."""
        return self.penalty * math.log(length) - (-total.double()).log()

    def _finish(self, b: int, ranks: Tensor, beam: Tensor, ended: Tensor, ids: Candidates) -> None:
        """Set aside what ended among the n best."""
        for place in ended[: self.n].nonzero().flatten().tolist():
            if self.closed[b] or ranks[place] == -torch.inf:
                continue
            text = ids[b * self.n + beam[place]]
            text = torch.cat((text, text.new_tensor([self.eos_id])))
            self.finished[b].append((float(ranks[place]), text))
        self.finished[b] = sorted(self.finished[b], key=lambda one: -one[0])[: self.n]

    def _close(self, b: int, length: int) -> None:
        """End a row whose finished candidates the best open one cannot beat, or not yet."""
        if len(self.finished[b]) == self.n:
            end = length if self.longest is None or self.penalty <= 0 else self.longest
            reach = self._ranks(self.total[b].max(), end)
            self.closed[b] |= self.finished[b][-1][0] >= float(reach)

    def best(
        self, ids: Candidates, pad_id: int
    ) -> tuple[Int[Tensor, "B longest"], Float[Tensor, "B"]]:
        """The best candidate of each row, open ones among them if the row was not closed."""
        texts, found_ranks = [], []
        for b in range(self.B):
            found = list(self.finished[b])
            if not self.closed[b]:
                ranks = self._ranks(self.total[b], max(1, ids.shape[1] - 1)).tolist()
                found += [(rank, ids[b * self.n + i]) for i, rank in enumerate(ranks)]
            rank, text = max(found, key=lambda one: one[0])
            texts.append(text)
            found_ranks.append(rank)
        padded = nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=pad_id)
        return padded, -(-torch.tensor(found_ranks, dtype=torch.float64)).exp()
