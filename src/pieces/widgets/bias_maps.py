"""BiasMaps: what ALiBi and T5 add to the scores, by distance alone."""

from collections.abc import Mapping
from typing import Any

import torch

from pieces.positions import ALiBi, t5_bucket
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Result, Switch

KINDS = ("alibi", "t5")


class BiasMaps(PieceWidget):
    """The bias of every query and key: ALiBi's penalty, or the bucket in which T5 looks its up.

    Queries and keys count from 1. T5's numbers are trained, one for each bucket and head, so the
    bucket is what can be drawn.

    Args:
        kind: "alibi" or "t5".
        T: tokens, 4 to 64.
        heads: of ALiBi, 1 to 16.
        head: the one that is shown, from 1.
        num_buckets: of T5, 4 to 32.
        max_distance: of T5, 20 to 256: what is further shares the last bucket.
        bidirectional: keys on both sides, as in an encoder; else those up to the query.
        query, key: the pair that is followed.

    Read back:
        distance: query minus key.
        value: the bias of ALiBi, the bucket of T5.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Biases by distance"

    kind = Choice("alibi", KINDS)
    T = Count(24, 4, 64)
    heads = Count(8, 1, 16)
    head = Count(1, 1, 16)
    num_buckets = Count(32, 4, 32)
    max_distance = Count(128, 20, 256)
    bidirectional = Switch(False)
    query = Count(20, 1, 64)
    key = Count(6, 1, 64)
    distance = Result()
    value = Result()

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return the rows beside its map: a bar for each head, or as high, the second chart."""
        heads = state.get("heads")
        known = isinstance(heads, int) and 1 <= heads <= 16
        return 9 if state.get("kind") == "t5" else heads if known else None

    def values(self) -> torch.Tensor:
        """Return what is drawn, [T, T], before anything is hatched."""
        positions = torch.arange(self.T)
        if self.kind == "alibi":
            return ALiBi(self.heads)(positions)[0, min(self.head, self.heads) - 1]
        relative = positions - positions[:, None]
        sizes = (self.num_buckets, self.max_distance)
        return t5_bucket(relative, *sizes, bidirectional=self.bidirectional)

    def describe(self) -> str:
        """Return the kind and its sizes."""
        sides = "to both sides" if self.bidirectional else "to the past"
        text = f"{self.T} tokens that attend {sides}"
        if self.kind == "alibi":
            return f"ALiBi, head {self.head} of {self.heads}, over {text}"
        sizes = f"{self.num_buckets} buckets up to a distance of {self.max_distance}"
        return f"T5, with {sizes}, over {text}"
