"""The protocol of all positional encodings: three places, of which each encoding takes one.

Positions are whole numbers, [T] for a batch that is aligned, or [B, T] where sequences differ
(left padding). Calling an encoding gives its raw numbers; the methods put them in their place.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from pieces.checks import Size, checked
from pieces.types import KeyPositions, Positions


@checked
class PositionalEncoding(nn.Module):
    """What positions do to a model: as it stands, nothing."""

    def acts(self) -> bool:
        """Whether positions mean anything to it."""
        return type(self) is not PositionalEncoding

    def add(self, embeddings: Float[Tensor, "B T D"], positions: Positions) -> Tensor:
        """Place 1, once below the first layer: embeddings [B, T, D] -> [B, T, D]."""
        return embeddings

    def rotate(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B G T K"], positions: Any
    ) -> tuple[Tensor, Tensor]:
        """Place 2, in each attention layer: the new q [B, H, T, K], k [B, G, T, K] -> the same."""
        return q, k

    def bias(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B G S K"], positions: Any
    ) -> Tensor | None:
        """Place 3, in each attention layer: what is added to the scores [B, H, T, S], or None.

        ``positions`` are those of the queries, the last of the S keys; cached ones stand before.
        """
        return None

    def for_layers(self, positions: Positions, S: int, dtype: torch.dtype) -> dict[str, Any]:
        """What a model computes once and hands to every attention layer: options by name.

        A rotation is ``positions=`` of layers that hold this encoding; a bias is ``bias=`` of
        layers that hold none, for queries at ``positions``, the last of S keys.
        """
        return {}


@checked
def key_positions(positions: Positions, S: Size) -> KeyPositions:
    """Positions of the S keys that end with the queries' own tokens.

    Without a cache the keys are the same tokens. With one, older keys stand before the queries
    without a gap, so in a batch padded on the left the padding gets negative positions.
    Shapes: positions [T] or [B, T] -> [S] or [B, S].
    """
    positions = positions.long()  # a byte ends at 255, and not with an error
    if positions.shape[-1] == S:
        return positions
    return positions[..., -1:] + torch.arange(1 - S, 1, device=positions.device)


@checked
def relative_positions(queries: Positions, keys: KeyPositions) -> Int[Tensor, "*batch T S"]:
    """How many steps key j lies before (negative) or behind query i: j - i.

    Shapes: queries [T] or [B, T], keys [S] or [B, S] -> [T, S] or [B, T, S].
    """
    return keys.long()[..., None, :] - queries.long()[..., :, None]


@checked
def with_batch(x: Tensor, ndim: int) -> Tensor:
    """With a batch of one in front, if positions [T] left it out."""
    return x if x.ndim == ndim else x[None]
