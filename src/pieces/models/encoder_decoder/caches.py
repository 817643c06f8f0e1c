"""What the decoder of an encoder-decoder remembers."""

from dataclasses import dataclass, field
from typing import Any

from jaxtyping import Int
from torch import Tensor

from pieces.cache import Cache, GrowingCache


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

    def mark(self) -> Any:
        """Where both stand, for ``rewind``."""
        return self.own.mark(), self.source.mark()

    def rewind(self, mark: Any) -> None:
        """Forget what came after ``mark``."""
        self.own.rewind(mark[0])
        self.source.rewind(mark[1])
