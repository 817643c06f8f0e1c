"""Beam search: several candidates side by side, and the best of them in the end."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from pieces.checks import Number, require_int, require_number
from pieces.generate import Ids, Padding, begin, require_request, require_tokens

Candidates = Int[Tensor, "N T"]  # n_beams of each row, one row after another
Target = Int[Tensor, "B longest"]


@torch.inference_mode()
def beam_search(
    model: nn.Module,
    input_ids: Ids,
    max_new_tokens: int,
    *,
    start_id: int,
    eos_id: int,
    n_beams: int = 4,
    length_penalty: Number = 1.0,
    mask: Padding = None,
    pad_id: int = 0,
) -> tuple[Target, Float[Tensor, "B"]]:
    """The best target found by keeping ``n_beams`` candidates, and its score.

    score = (sum of log-probabilities) / (number of new tokens)^length_penalty

    A candidate that brings ``eos_id`` is finished and set aside. The search of a row ends when it
    has n_beams finished ones and no open candidate could still be better.

    Source: Sutskever et al. 2014, 3.2; Wu et al. 2016 (GNMT), 7, for the idea of a penalty.
    Shapes: input_ids [B, T] -> targets [B, at most 1 + new], padded with pad_id, scores [B].
    Raises: TypeError, ValueError as ``generate``, and if n_beams is not an int of at least 1.
    """
    require_request(model, input_ids, max_new_tokens, mask, start_id)
    require_int("n_beams", n_beams)
    require_number("length_penalty", length_penalty)
    require_tokens(eos_id=eos_id, pad_id=pad_id)
    rows = torch.arange(len(input_ids), device=input_ids.device).repeat_interleave(n_beams)
    padding = None if mask is None else mask[rows]
    state = begin(model, input_ids[rows], padding, start_id, model.new_cache())
    beams = _Beams(len(input_ids), n_beams, length_penalty, eos_id, input_ids.device)
    for _ in range(max_new_tokens):
        if beams.closed.all():
            break
        kept, tokens = beams.step(state.logits().log_softmax(dim=-1), state.ids)
        state.select(kept)
        state.append(tokens)
    return beams.best(state.ids, pad_id)


class _Beams:
    """Open candidates with their scores, and the finished ones of each row."""

    def __init__(self, B: int, n: int, penalty: Number, eos_id: int, device: Any) -> None:
        self.B, self.n, self.penalty, self.eos_id = B, n, penalty, eos_id
        self.total = torch.full((B, n), -torch.inf, device=device)
        self.total[:, 0] = 0.0  # all beams begin equal: only one of them may branch
        self.finished: list[list[tuple[float, Tensor]]] = [[] for _ in range(B)]
        self.closed = torch.zeros(B, dtype=torch.bool)

    def step(self, log_p: Float[Tensor, "N V"], ids: Candidates) -> tuple[Tensor, Tensor]:
        """Extend every candidate; returns which rows go on, and with which token."""
        V, length = log_p.shape[-1], ids.shape[1]  # new tokens, this one among them
        scores = (self.total[..., None] + log_p.view(self.B, self.n, V)).flatten(1)
        best, at = scores.topk(2 * self.n, dim=-1)  # enough, even if n of them finish
        rows, tokens = torch.zeros_like(at[:, : self.n]), torch.zeros_like(at[:, : self.n])
        for b in range(self.B):
            ended = at[b] % V == self.eos_id
            self._finish(b, best[b], at[b] // V, ended, ids, length)
            going = (~ended).nonzero().flatten()[: self.n]
            self.total[b] = best[b][going]
            rows[b], tokens[b] = b * self.n + at[b][going] // V, at[b][going] % V
            self._close(b, length)
        return rows.flatten(), tokens.flatten()

    def _finish(
        self, b: int, best: Tensor, beam: Tensor, ended: Tensor, ids: Candidates, length: int
    ) -> None:
        """Set aside what ended among the n best."""
        for place in ended[: self.n].nonzero().flatten().tolist():
            if self.closed[b] or best[place] == -torch.inf:
                continue
            text = ids[b * self.n + beam[place]]
            text = torch.cat((text, text.new_tensor([self.eos_id])))
            self.finished[b].append((float(best[place]) / length**self.penalty, text))
        self.finished[b] = sorted(self.finished[b], key=lambda one: -one[0])[: self.n]

    def _close(self, b: int, length: int) -> None:
        """End a row whose finished candidates cannot be beaten by the best open one."""
        if len(self.finished[b]) == self.n:
            reach = float(self.total[b].max()) / length**self.penalty
            self.closed[b] |= self.finished[b][-1][0] >= reach

    def best(self, ids: Candidates, pad_id: int) -> tuple[Target, Float[Tensor, "B"]]:
        """The best candidate of each row, open ones among them if the row was not closed."""
        texts, scores = [], []
        for b in range(self.B):
            found = list(self.finished[b])
            if not self.closed[b]:
                length = ids.shape[1] - 1
                open_ones = (self.total[b] / max(1, length) ** self.penalty).tolist()
                found += [(s, ids[b * self.n + i]) for i, s in enumerate(open_ones)]
            score, text = max(found, key=lambda one: one[0])
            texts.append(text)
            scores.append(score)
        padded = nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=pad_id)
        return padded, self.total.new_tensor(scores)
