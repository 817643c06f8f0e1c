"""Whose keys a cache holds: of which model, and of which text."""

import weakref
from typing import Any

import torch
from torch import Tensor, nn

from pieces.cache.protocol import Cache
from pieces.checks import refuse


class Origin:
    """The model that wrote a cache, and the tokens it was given, as long as both are known."""

    def __init__(self, model: nn.Module) -> None:
        self.model: Any = weakref.ref(model)
        self.parts: list[Tensor] = []
        self.length = 0

    def __deepcopy__(self, memo: dict) -> "Origin":
        """Of the same model, and going its own way from here."""
        new = object.__new__(Origin)
        new.model, new.parts, new.length = self.model, list(self.parts), self.length
        return new

    def __reduce__(self) -> tuple:
        """In a file nothing is known: the model would have to go with it."""
        return _unknown, ()


def _unknown() -> None:
    return None


def note(cache: Cache | None, model: nn.Module, ids: Tensor) -> None:
    """Remember that ``model`` has just written these tokens to the cache.

    Where tokens came or went another way (a layer alone, other rows, a step back), nothing is known
    from then on. Compiled code takes no notes.
    """
    if cache is None or torch.compiler.is_compiling():
        return
    before, known = cache.length() - ids.shape[1], cache.origin
    if before == 0:
        known = cache.origin = Origin(model)
    if known is None or known.length != before or known.model() is not model:
        cache.origin = None
        return
    known.parts.append(ids)
    known.length = cache.length()


def require_same_origin(cache: Any, model: nn.Module, ids: Tensor) -> None:
    """Refuse a cache that is known to hold the keys of another model, or of another text."""
    known = getattr(cache, "origin", None)
    if known is None or known.length == 0 or known.length != cache.length():
        return
    if known.model() is not model:
        rule = "holds keys and values of another model"
        refuse("cache", "given", rule, "start a new one, as GrowingCache()")
    begun, given = torch.cat(known.parts, dim=1), ids[:, : known.length]
    if begun.shape != given.shape or not torch.equal(begun, given.to(begun)):
        rule = f"holds {known.length} tokens, and input_ids do not begin with these"
        refuse("cache", "given", rule, "pass the text it holds and what follows, or a new cache")
