"""Generation: one token after another, greedy or sampled, with or without a cache.

``pieces.sampling`` says how a token is chosen, ``pieces.beam_search`` keeps several candidates.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from pieces.cache import Cache, GrowingCache
from pieces.cache.origin import require_same_origin
from pieces.checks import (
    Natural,
    NotNegative,
    Probability,
    Size,
    checked,
    require,
    require_instance,
)
from pieces.models.fit import require_texts
from pieces.sampling import choose
from pieces.types import Ids, Padding

Target = Int[Tensor, "B N"]  # N target tokens so far


class _Continued:
    """A decoder-only model in the middle of a text: what to feed it, and the logits of the next.

    Padding on the left is hidden from all, and positions count real tokens only.
    """

    def __init__(self, model: nn.Module, ids: Ids, padding: Padding, cache: Any) -> None:
        self.model, self.ids, self.cache = model, ids, cache
        self.real = padding
        self.start = 0 if cache is None else cache.length()

    def logits(self) -> Float[Tensor, "B V"]:
        """The logits behind the last token."""
        new = self.ids if self.cache is None else self.ids[:, self.start :]
        hidden = self.model.hidden(new, cache=self.cache, **self._padded(new.shape[1]))
        self.start = self.ids.shape[1]
        return self.model.logits(hidden[:, -1:]).squeeze(1)

    def _padded(self, T: int) -> dict[str, Tensor]:
        """Mask and positions, where there is padding."""
        if self.real is None:
            return {}
        positions = (self.real.long().cumsum(dim=1) - 1).clamp(min=0)[:, -T:]
        return {"mask": self.real[:, None, None, :], "positions": positions}

    def append(self, token: Int[Tensor, "B"]) -> None:
        """One more token in each row."""
        self.ids = torch.cat((self.ids, token[:, None]), dim=1)
        if self.real is not None:
            self.real = torch.cat((self.real, self.real.new_ones(len(token), 1)), dim=1)


class _Translated(_Continued):
    """An encoder-decoder: the source is read once, the target grows."""

    def __init__(
        self, model: nn.Module, source: Ids, padding: Padding, target: Target, cache: Any
    ) -> None:
        super().__init__(model, target, None, cache)
        self.mask = None if padding is None else padding[:, None, None, :]
        self.memory = model.encode(source, mask=self.mask)

    def logits(self) -> Float[Tensor, "B V"]:
        """The logits behind the last token of the target."""
        new = self.ids if self.cache is None else self.ids[:, self.start :]
        options = {"source_mask": self.mask, "cache": self.cache}
        hidden = self.model.decode_hidden(new, self.memory, **options)
        self.start = self.ids.shape[1]
        return self.model.logits(hidden[:, -1:]).squeeze(1)

    def select(self, rows: Int[Tensor, "N"]) -> None:
        """Keep these rows, in this order."""
        self.ids, self.memory = self.ids[rows], self.memory[rows]
        self.mask = None if self.mask is None else self.mask[rows]
        if self.cache is not None:
            self.cache.select(rows)


@checked
@torch.no_grad()
def generate(
    model: nn.Module,
    input_ids: Ids,
    max_new_tokens: Natural,
    *,
    mask: Padding = None,
    temperature: NotNegative = 0.0,
    top_k: Size | None = None,
    top_p: Probability | None = None,
    use_cache: bool = True,
    cache: Any = None,
    start_id: Natural | None = None,
    eos_id: Natural | None = None,
    pad_id: Natural = 0,
    generator: torch.Generator | None = None,
) -> Target:
    """Continue each row of input_ids; of an encoder-decoder, translate it.

    ``mask`` [B, T] is True at real tokens: texts of unequal length are padded on the left, those
    an encoder reads on either side. ``cache`` may be another than ``GrowingCache``, such as a
    ``RollingCache``. An encoder-decoder begins its target with ``start_id``. A row that has
    brought ``eos_id`` goes on with ``pad_id``; when all have, generation ends.
    What is found can be trained on, and a cache that was passed can be continued; one that holds
    another text, or keys of another model, is refused.

    Shapes: input_ids [B, T] -> [B, T + new], or [B, 1 + new] of an encoder-decoder.
    """
    require_request(model, input_ids, mask, start_id)
    if cache is not None:
        kind = Cache if start_id is None else type(model.new_cache())
        require_instance("cache", cache, kind, "pass GrowingCache(), or model.new_cache()")
    quick = torch.inference_mode() if cache is None else torch.no_grad()  # a given cache lives on
    if use_cache and cache is None:
        cache = model.new_cache() if start_id is not None else GrowingCache()
    with quick:
        state = begin(model, input_ids, mask, start_id, cache if use_cache else None)
        news, rule = state.start < state.ids.shape[1], f"already holds {state.start} tokens"
        require(news, "cache", "given", rule, "pass the text behind them too")
        require_same_origin(state.cache, model, state.ids)
        settings = {"temperature": temperature, "k": top_k, "p": top_p, "generator": generator}
        done = torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)
        for _ in range(max_new_tokens):
            token = choose(state.logits(), **settings)
            if eos_id is not None:
                token = token.masked_fill(done, pad_id)
                done |= token == eos_id
            state.append(token)
            if eos_id is not None and bool(done.all()):
                break
    return state.ids.clone()


@checked
def begin(
    model: nn.Module, ids: Ids, mask: Padding, start_id: int | None, cache: Any
) -> _Continued:
    """The state before the first new token."""
    if start_id is None:
        return _Continued(model, ids, mask, cache)
    target = torch.full((len(ids), 1), start_id, dtype=ids.dtype, device=ids.device)
    return _Translated(model, ids, mask, target, cache)


def require_request(model: nn.Module, ids: Tensor, mask: Padding, start_id: int | None) -> None:
    """Refuse what cannot be continued."""
    require_texts("input_ids", ids)
    translates = hasattr(model, "encode")
    rule, fits = "an encoder-decoder needs it, no other model", translates == (start_id is not None)
    remedy = "pass its first target token" if translates else "leave it out"
    require(fits, "start_id", start_id, rule, remedy)
    left = translates or mask is None or bool(mask[:, -1].all())
    require(left, "mask[:, -1]", "False", "a text is padded on the left", "move its padding")
