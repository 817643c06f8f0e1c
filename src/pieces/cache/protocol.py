"""What a cache is to a model: it stores new keys and values, and gives back all it has."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pieces.checks import Natural, checked, refuse, require
from pieces.types import Device

KeysValues = tuple[Float[Tensor, "B G S K"], Float[Tensor, "B G S Kv"]]


class Cache:
    """The protocol. The new keys come last, so ``masks.causal(T, S)`` and its kin fit.

    ``window`` is how many of the latest keys a query is sure to find; None: all of them.
    ``n_layers`` is how many layers there is room for; None: any number.
    What ``update`` and ``read`` give may be a view of what is stored: read it, never write to it.
    """

    window: int | None = None
    n_layers: int | None = None
    origin: Any = None  # whose keys these are, where a model has taken note of it

    def update(
        self, layer: int, k: Float[Tensor, "B G T K"], v: Float[Tensor, "B G T Kv"]
    ) -> KeysValues:
        """Store k and v, of T new tokens; return those of all S tokens, oldest first.

        Shapes: k [B, G, T, K], v [B, G, T, Kv] -> [B, G, S, K], [B, G, S, Kv].
        """
        raise NotImplementedError

    def read(self, layer: int) -> KeysValues:
        """What the last update returned."""
        raise NotImplementedError

    def length(self, layer: int = 0) -> int:
        """How many tokens the layer has seen (the longest of the batch)."""
        raise NotImplementedError

    def reach(self, T: int, layer: int = 0) -> int:
        """How many keys the next update, of T tokens, will return: S."""
        return self.length(layer) + T

    def positions(self, T: int, layer: int = 0, *, device: Device = None) -> Tensor:
        """Positions of the next T tokens: [T], or [B, T] where sequences differ in length."""
        start = self.length(layer)
        return torch.arange(start, start + T, device=device)

    def padding(self, layer: int = 0) -> Bool[Tensor, "B 1 1 S"] | None:
        """Which keys of the last update are real, True = may attend; None if all are."""
        return None

    def select(self, rows: Int[Tensor, "N"]) -> None:
        """Keep these rows of the batch, in this order, repeated or left out (beam search)."""
        raise NotImplementedError

    def mark(self) -> Any:
        """Where the cache stands, for ``rewind``."""
        return None

    def rewind(self, mark: Any) -> None:
        """Forget what came after ``mark``: a call that is refused half-way leaves no trace."""

    @checked
    def __getitem__(self, layer: Natural) -> "LayerCache":
        """The part of one attention layer."""
        return LayerCache(self, layer)


@dataclass(frozen=True)
class LayerCache:
    """One layer's part of a cache: what ``MultiHeadAttention`` takes as ``cache=``."""

    cache: Cache
    layer: int

    @property
    def window(self) -> int | None:
        """See ``Cache``."""
        return self.cache.window

    def update(self, k: Float[Tensor, "B G T K"], v: Float[Tensor, "B G T Kv"]) -> KeysValues:
        """See ``Cache.update``."""
        return self.cache.update(self.layer, k, v)

    def read(self) -> KeysValues:
        """See ``Cache.read``."""
        return self.cache.read(self.layer)

    def length(self) -> int:
        """See ``Cache.length``."""
        return self.cache.length(self.layer)

    def reach(self, T: int) -> int:
        """See ``Cache.reach``."""
        return self.cache.reach(T, self.layer)

    def positions(self, T: int, *, device: Device = None) -> Tensor:
        """See ``Cache.positions``."""
        return self.cache.positions(T, self.layer, device=device)

    def padding(self) -> Bool[Tensor, "B 1 1 S"] | None:
        """See ``Cache.padding``."""
        return self.cache.padding(self.layer)


def require_stored(k: Tensor, v: Tensor, stored: Any, B: int) -> None:
    """Refuse keys or values of another batch, heads, size, dtype or device than those stored.

    ``stored.k`` and ``stored.v`` end in [G, *, K]; their other axes are free. Each layer asks at
    each token, so the question is short, and only what does not fit is looked at for its reason.
    """
    fits = _as_stored(k, stored.k, B) and _as_stored(v, stored.v, B)
    if not (fits and k.shape[:3] == v.shape[:3]):
        _refuse_unlike(k, v, stored, B)


def _as_stored(x: Tensor, old: Tensor, B: int) -> bool:
    if not isinstance(x, Tensor) or x.ndim != 4 or not x.is_floating_point():
        return False
    (batch, G, T, K), known = x.shape, old.shape
    same = x.dtype == old.dtype and x.device == old.device
    return same and batch == B and G == known[-3] and T > 0 and K == known[-1]


@checked(always=True)
def _refuse_unlike(
    k: Float[Tensor, "B G T K"], v: Float[Tensor, "B G T Kv"], stored: Any, B: int
) -> None:
    require(k.shape[2] > 0, "k.shape", tuple(k.shape), "must bring tokens", "leave the call out")
    for name, x, old in (("k", k, stored.k), ("v", v, stored.v)):
        sizes = (B, old.shape[-3], old.shape[-1])
        same = (x.dtype, x.device) == (old.dtype, old.device)
        if (x.shape[0], x.shape[1], x.shape[3]) != sizes or not same:
            rule = f"the cache holds [B, G, S, K], B, G, K = {sizes}, {old.dtype}, {old.device}"
            seen, remedy = (tuple(x.shape), x.dtype), "start a new cache for another batch or layer"
            refuse(name, seen, rule, remedy)
