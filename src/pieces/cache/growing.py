"""One strip of memory for each layer: everything in it, or only a window of the latest."""

import copy
from contextlib import AbstractContextManager, nullcontext

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pieces.cache.protocol import Cache, KeysValues, require_stored
from pieces.checks import Natural, Size, checked, refuse, require


class _Strip:
    """Keys and values of one layer, with free room behind them.

    When the room is used up, what is still wanted moves to a strip of twice its size: a token is
    copied about once in all, where joining tensors would copy every token at every step. Where
    gradients are wanted they are joined all the same: a graph does not survive writing in place.
    """

    def __init__(self, k: Tensor, v: Tensor) -> None:
        self.k, self.v = k[:, :, :0].detach(), v[:, :, :0].detach()
        self.start = self.end = self.seen = 0
        self.lent = False

    def append(self, k: Tensor, v: Tensor, keep: int | None) -> None:
        """Put T tokens behind the last one; of the older ones, ``keep`` are still wanted."""
        T = k.shape[2]
        if keep is not None:
            self.start = max(self.start, self.end - keep)
        learns = torch.is_grad_enabled()
        self.lent |= learns
        if learns and any(x.requires_grad for x in (k, v, self.k, self.v)):
            old_k, old_v = self.read()
            self.k, self.v = torch.cat((old_k, k), dim=2), torch.cat((old_v, v), dim=2)
            self.start, self.end = 0, self.end - self.start
        else:
            self._write(k, v, T)
        self.end, self.seen = self.end + T, self.seen + T

    def _write(self, k: Tensor, v: Tensor, T: int) -> None:
        if self.end + T > self.k.shape[2]:
            room = 2 * (self.end - self.start + T)
            self.k, self.v = self._moved(self.k, room), self._moved(self.v, room)
            self.start, self.end = 0, self.end - self.start
            self.lent = torch.is_grad_enabled()
        # Autograd may have kept the older keys: to write behind them must not count as a change.
        strips = (self.k.data, self.v.data) if self.lent else (self.k, self.v)
        strips[0][:, :, self.end : self.end + T] = k
        strips[1][:, :, self.end : self.end + T] = v

    def _moved(self, old: Tensor, room: int) -> Tensor:
        with _lasting():
            new = old.new_empty(*old.shape[:2], room, old.shape[3])
        new[:, :, : self.end - self.start] = old[:, :, self.start : self.end]
        return new

    def __deepcopy__(self, memo: dict) -> "_Strip":
        """A strip of its own; gradients go through the copy to where the keys came from."""
        new = copy.copy(self)
        with _lasting(), torch.set_grad_enabled(torch.is_grad_enabled()):
            new.k, new.v = self.k.clone(), self.v.clone()
        return new

    def select(self, rows: Tensor) -> None:
        """Keep these rows, in this order."""
        learns = torch.is_grad_enabled()
        with _lasting(), torch.set_grad_enabled(learns):
            self.k, self.v = (x.index_select(0, rows.to(x.device)) for x in (self.k, self.v))
        self.lent = learns

    def rewind(self, seen: int) -> None:
        """Forget all but the first ``seen`` tokens."""
        self.end, self.seen = self.end - (self.seen - seen), seen

    def read(self) -> KeysValues:
        """Views, never written again: later tokens go behind them, or to another strip."""
        return self.k[:, :, self.start : self.end], self.v[:, :, self.start : self.end]


def _lasting() -> AbstractContextManager:
    """What is made under ``inference_mode`` cannot be written outside it; a cache lives on."""
    inside = not torch.compiler.is_compiling() and torch.is_inference_mode_enabled()
    return torch.inference_mode(False) if inside else nullcontext()


@checked
class GrowingCache(Cache):
    """Keeps all keys and values, of any number of layers.

    Memory: 2 S G K numbers for each layer and sequence, and up to as many again in reserve.
    """

    _keep: int | None = None

    def __init__(self) -> None:
        self._strips: dict[int, _Strip] = {}

    def update(
        self, layer: Natural, k: Float[Tensor, "B G T K"], v: Float[Tensor, "B G T Kv"]
    ) -> KeysValues:
        """See ``Cache.update``."""
        strip = self._strips.get(layer) or _Strip(k, v)
        require_stored(k, v, strip, strip.k.shape[0])
        self._strips[layer] = strip
        strip.append(k, v, self._keep)
        return strip.read()

    def read(self, layer: int) -> KeysValues:
        """See ``Cache.read``."""
        require(layer in self._strips, "layer", layer, "has no keys yet", "call update first")
        return self._strips[layer].read()

    def length(self, layer: int = 0) -> int:
        """See ``Cache.length``."""
        return self._strips[layer].seen if layer in self._strips else 0

    def select(self, rows: Int[Tensor, "N"]) -> None:
        """See ``Cache.select``."""
        self.origin = None  # the rows are others
        for strip in self._strips.values():
            try:
                strip.select(rows)
            except IndexError:
                there = f"must be in 0 .. {strip.k.shape[0] - 1}"
                refuse("rows", rows.tolist(), there, "name rows of the last batch")

    def mark(self) -> dict[int, int]:
        """See ``Cache.mark``: the tokens that each layer has seen."""
        return {layer: strip.seen for layer, strip in self._strips.items()}

    def rewind(self, mark: dict[int, int]) -> None:
        """See ``Cache.rewind``."""
        for layer, strip in list(self._strips.items()):
            if layer in mark:
                strip.rewind(mark[layer])
            else:
                del self._strips[layer]

    def n_bytes(self) -> int:
        """Memory of all strips, the reserve included."""
        tensors = [x for strip in self._strips.values() for x in (strip.k, strip.v)]
        return sum(x.numel() * x.element_size() for x in tensors)


@checked
class RollingCache(GrowingCache):
    """Keeps what a sliding window can still reach: the last ``window`` keys, the new ones first.

    An update of T tokens returns them behind at most window - 1 older ones, just what
    ``masks.sliding_window(T, window, S)`` asks for; of a mask for the whole text, pass the last S
    columns. Positions go on counting from the beginning of the text.

    Source: Jiang et al. 2023 (Mistral), 2 (rolling buffer cache).
    """

    def __init__(self, window: Size) -> None:
        super().__init__()
        self.window, self._keep = window, window - 1
        self.widest: float | None = None  # window of the layers it serves, once they are known

    def reach(self, T: int, layer: int = 0) -> int:
        """See ``Cache.reach``."""
        return min(self.length(layer), self._keep) + T
