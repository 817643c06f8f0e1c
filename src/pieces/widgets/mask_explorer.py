"""MaskExplorer: who may see whom, under every mask of the book."""

from collections.abc import Mapping
from typing import Any

import torch

from pieces import masks
from pieces.checks import require
from pieces.widgets.base import PieceWidget
from pieces.widgets.stills import grid
from pieces.widgets.traits import Cells, Choice, Count, Result, Words

VIEWS = ("mask", "weights", "layers", "reach")
KINDS = ("causal", "full", "prefix", "sliding_window", "dilated", "global_window", "padding")
CALLED = {kind: kind for kind in KINDS} | {
    "sliding_window": "sliding-window",
    "global_window": "global and window",
}
OWN = {
    "prefix": ("prefix_len",),
    "sliding_window": ("window",),
    "dilated": ("window", "dilation"),
    "global_window": ("window", "n_global"),
    "padding": ("length", "side"),
}


class MaskExplorer(PieceWidget):
    """Choose a mask, flip its cells, and see the weights, the reach and the leaks.

    Args:
        kind: one of "causal", "full", "prefix", "sliding_window", "dilated",
            "global_window", "padding".
        also: a second kind that has to allow a look as well, or "none".
        T: the number of tokens, 2 to 24.
        window: how many keys a window holds, itself included, 1 to 24.
        dilation: the step between two keys of a dilated window, 1 to 8.
        n_global: the first tokens that everyone sees under "global_window", 0 to 8.
        prefix_len: the tokens of the prefix, which see each other, 0 to 24.
        length: the real tokens of a padded sequence, 0 to 24.
        side: where the padding stands, "right" or "left".
        layers: for the reach, 0 to 24.
        view: what stands beside the mask: "weights" (as with "mask"), "layers" or "reach"; on a
            phone it is the one grid that is shown.
        token: the word whose looks are shown, from 1; 0 for none.
        source: the word that is followed through the layers, from 1; 0 for the one that leaks, or
            the first.
        flips: cells [query, key] changed by hand.
        tokens: the words; T is their number, or fewer.

    Read back:
        allowed: how many cells of the mask are open.
        leaks: cells [query, key] opened by hand in which a query sees a later key that is a word,
            not padding.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Mask explorer"

    kind = Choice("causal", KINDS)
    also = Choice("none", ("none", *KINDS))
    T = Count(8, 2, 24)
    window = Count(3, 1, 24)
    dilation = Count(2, 1, 8)
    n_global = Count(1, 0, 8)
    prefix_len = Count(3, 0, 24)
    length = Count(5, 0, 24)
    side = Choice("right", ("right", "left"))
    layers = Count(1, 0, 24)
    view = Choice("mask", VIEWS)
    token = Count(0, 0, 24)
    source = Count(0, 0, 24)
    tokens = Words()
    flips = Cells()
    allowed = Result()
    leaks = Result()

    def __init__(self, **kwargs):
        tokens = kwargs.get("tokens")
        if tokens:
            listed = isinstance(tokens, (list, tuple)) and 2 <= len(tokens) <= 24
            require(listed, "tokens", tokens, "must be a list of 2 to 24 texts", "shorten it")
            given = kwargs.get("T", len(tokens))
            kwargs["T"] = min(given, len(tokens)) if isinstance(given, int) else given
        super().__init__(**kwargs)

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return how many rows of two controls a phone shows: a kind brings its own."""
        kinds = (state.get("kind"), state.get("also"))
        own = {name for kind in kinds for name in OWN.get(str(kind), ())}
        return (4 + len(own)) // 2

    def unflipped(self) -> torch.Tensor:
        """Return the mask before any cell is flipped, bool [T, T]."""
        T = self.T
        kinds = {
            "none": lambda: masks.full(T),
            "full": lambda: masks.full(T),
            "causal": lambda: masks.causal(T),
            "prefix": lambda: masks.prefix(T, min(self.prefix_len, T)),
            "sliding_window": lambda: masks.sliding_window(T, self.window),
            "dilated": lambda: masks.dilated(T, self.window, self.dilation),
            "global_window": lambda: masks.global_window(T, self.window, self.n_global),
            "padding": lambda: masks.padding([min(self.length, T)], T, self.side)[0, 0],
        }
        return masks.full(T) & kinds[self.kind]() & kinds[self.also]()

    def mask(self) -> torch.Tensor:
        """Return the mask that the controls stand for, bool [T, T], True = may attend."""
        mask = self.unflipped()
        for i, j in self.flips:
            if i < self.T and j < self.T:
                mask[i, j] = ~mask[i, j]
        return mask

    def describe(self) -> str:
        """Return the mask in words."""
        mask, kind = self.mask(), CALLED[self.kind]
        both = kind if self.also in ("none", self.kind) else f"{kind} and {CALLED[self.also]}"
        plural = "masks together" if both != kind else "mask"
        count = int(mask.sum())
        cells = f"{count} of {mask.numel()} cells {'is' if count == 1 else 'are'} open"
        return f"{both} {plural} over {self.T} tokens; {cells}"

    def still(self) -> str:
        """Return the mask and its reach, as they stand before anything is moved."""
        mask = self.mask()
        reach = masks.reach(mask, self.layers)
        names = {"rows": self.tokens, "columns": self.tokens}
        layers = f"Reach after {self.layers} layer{'s' * (self.layers != 1)}"
        return grid(mask.double(), "query", "Mask", mask=mask, **names) + grid(
            reach.double(), "output", layers, mask=reach, **names
        )
