"""MaskExplorer: who may see whom, under every mask of the book."""

from collections.abc import Mapping
from typing import Any

import torch

from pieces import masks
from pieces.checks import require
from pieces.widgets.base import PieceWidget
from pieces.widgets.stills import grid
from pieces.widgets.traits import Cells, Choice, Count, Result, Words

KINDS = ("causal", "full", "prefix", "sliding_window", "dilated", "global_window", "padding")


class MaskExplorer(PieceWidget):
    """Choose a mask, flip its cells, and see the weights, the reach and the leaks.

    Args:
        kind: one of "causal", "full", "prefix", "sliding_window", "dilated",
            "global_window", "padding".
        T: the number of tokens, 2 to 24.
        window: how many keys a window holds, itself included, 1 to 24.
        dilation: the step between two keys of a dilated window, 1 to 8.
        n_global: the first tokens that everyone sees under "global_window", 0 to 8.
        prefix_len: the tokens of the prefix, which see each other, 0 to 24.
        length: the real tokens of a padded sequence, 0 to 24.
        layers: for the reach, 1 to 24.
        flips: cells [query, key] changed by hand.
        tokens: names of the tokens; their number replaces T.

    Read back:
        allowed: how many cells of the mask are open.
        leaks: cells [query, key] where a query sees a later key.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Mask explorer"

    kind = Choice("causal", KINDS)
    T = Count(8, 2, 24)
    window = Count(3, 1, 24)
    dilation = Count(2, 1, 8)
    n_global = Count(1, 0, 8)
    prefix_len = Count(3, 0, 24)
    length = Count(5, 0, 24)
    layers = Count(1, 1, 24)
    tokens = Words()
    flips = Cells()
    allowed = Result()
    leaks = Result()

    def __init__(self, **kwargs):
        tokens = kwargs.get("tokens")
        if tokens:
            listed = isinstance(tokens, (list, tuple)) and 2 <= len(tokens) <= 24
            require(listed, "tokens", tokens, "must be a list of 2 to 24 texts", "shorten it")
            kwargs["T"] = len(tokens)
        super().__init__(**kwargs)

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return 1 where the kind of mask has controls of its own: on a phone they are a row."""
        return int(state.get("kind") not in ("causal", "full"))

    def mask(self) -> torch.Tensor:
        """Return the mask that the controls stand for, bool [T, T], True = may attend."""
        T = self.T
        kinds = {
            "full": lambda: masks.full(T),
            "causal": lambda: masks.causal(T),
            "prefix": lambda: masks.prefix(T, min(self.prefix_len, T)),
            "sliding_window": lambda: masks.sliding_window(T, self.window),
            "dilated": lambda: masks.dilated(T, self.window, self.dilation),
            "global_window": lambda: masks.global_window(T, self.window, self.n_global),
            "padding": lambda: (
                masks.full(T) & masks.padding(torch.tensor([min(self.length, T)]), T)[0, 0]
            ),
        }
        mask = kinds[self.kind]().clone()
        for i, j in self.flips:
            if i < T and j < T:
                mask[i, j] = ~mask[i, j]
        return mask

    def describe(self) -> str:
        """Return the mask in words."""
        mask = self.mask()
        return f"{self.kind} mask, {self.T} tokens, {int(mask.sum())} of {mask.numel()} cells open"

    def still(self) -> str:
        """Return the mask and its reach, as they stand before anything is moved."""
        mask = self.mask()
        reach = masks.reach(mask, self.layers)
        names = {"rows": self.tokens, "columns": self.tokens}
        layers = f"Reach after {self.layers} layer{'s' if self.layers > 1 else ''}"
        return grid(mask.double(), "query", "Mask", mask=mask, **names) + grid(
            reach.double(), "output", layers, mask=reach, **names
        )
