"""Rotations of queries and keys, so that their product knows only how far they stand apart."""

from typing import Annotated, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pieces.checks import Compared, EvenSize, LeftOut, Positive, Size, checked
from pieces.positions.encoding import PositionalEncoding, with_batch
from pieces.positions.scaling import Unscaled
from pieces.precision import working_dtype
from pieces.types import Positions


class Rotation(NamedTuple):
    """The rotation of given positions, ready for every layer: x -> x cos + partner(x) sin."""

    cos: Float[Tensor, "#B 1 T R"]
    sin: Float[Tensor, "#B 1 T R"]


class Halves:
    """Dimension i is turned with i + R/2, as in GPT-NeoX and in transformers, for LLaMA too."""

    def pair(self, first: Tensor, second: Tensor) -> Tensor:
        """Lay two halves side by side: [..., R/2] twice -> [..., R]."""
        return torch.cat((first, second), dim=-1)

    def partner(self, x: Tensor) -> Tensor:
        """Put the partner of each dimension in its place."""
        return x.roll(x.shape[-1] // 2, dims=-1)


class Interleaved:
    """Dimension 2i is turned with 2i + 1, as in the paper, GPT-J and Meta's own LLaMA code.

    The same encoding as ``Halves`` up to the order of dimensions: a weight trained for one layout
    serves the other after its rows are reordered, and gives nonsense if they are not.
    """

    def pair(self, first: Tensor, second: Tensor) -> Tensor:
        """Lay two halves like a zip: [..., R/2] twice -> [..., R]."""
        return torch.stack((first, second), dim=-1).flatten(-2)

    def partner(self, x: Tensor) -> Tensor:
        """Put the partner of each dimension in its place."""
        return x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


RotaryDim = Annotated[EvenSize | None, Compared("at most", "head_dim"), LeftOut("head_dim")]


@checked
class Rotary(PositionalEncoding):
    """RoPE: each pair of dimensions is turned by an angle that grows with the position.

    (x_a, x_b) -> (x_a cos pθ_i - x_b sin pθ_i,  x_b cos pθ_i + x_a sin pθ_i) at position p
    R(i) q · R(j) k = q · R(j - i) k: the score depends on the distance only.

    ``rotary_dim`` turns the first dimensions only (GPT-NeoX); ``layout`` says which two are a
    pair; ``scaling`` gives the θ_i (``pieces.positions.scaling``). Nothing is trained or stored.

    Source: Su et al. 2021 (RoFormer), 3.2; source text, RoPE.
    Sizes left out: rotary_dim is head_dim.
    """

    def __init__(
        self,
        head_dim: Size,
        *,
        rotary_dim: RotaryDim = None,
        base: Positive = 10000.0,
        layout: Halves | Interleaved | None = None,
        scaling: Unscaled | None = None,
    ) -> None:
        super().__init__()
        rotary_dim = rotary_dim or head_dim
        self.head_dim, self.rotary_dim, self.base = head_dim, rotary_dim, base
        self.layout = Halves() if layout is None else layout
        self.scaling = Unscaled() if scaling is None else scaling

    def forward(self, positions: Positions, dtype: torch.dtype = torch.float32) -> Rotation:
        """The rotation of these positions, to be computed once and used in every layer.

        Angles are computed in float32 at least, then cast: pass the dtype of the model.
        Shapes: positions [T] or [B, T] -> cos, sin [1, 1, T, R] or [B, 1, T, R], R = rotary_dim.
        """
        working = working_dtype(dtype)
        frequencies = self.scaling(self.rotary_dim, self.base, positions, working)
        angles = positions.to(working)[..., None] * frequencies
        angles = with_batch(angles, 3)[:, None]
        cos, sin = (f * self.scaling.attention_factor for f in (angles.cos(), angles.sin()))
        return Rotation(self.layout.pair(cos, cos).to(dtype), self.layout.pair(-sin, sin).to(dtype))

    def rotate(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B G T K"],
        positions: Positions | Rotation,
    ) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B G T K"]]:
        """Turn q and k, of the same tokens. ``positions`` may be the rotation itself.

        Shapes: q [B, H, T, K], k [B, G, T, K] -> the same.
        """
        if not isinstance(positions, Rotation):
            positions = self(positions, q.dtype)
        if q.shape[2] > 1 or q.shape[0] != k.shape[0] or q.dtype != k.dtype:
            return self.turn(q, positions), self.turn(k, positions)
        turned = self.turn(torch.cat((q, k), dim=1), positions)  # one token: one call, not two
        return turned[:, : q.shape[1]], turned[:, q.shape[1] :]

    def for_layers(self, positions: Positions, S: int, dtype: torch.dtype) -> dict[str, Rotation]:
        """The rotation."""
        return {"positions": self(positions, dtype)}

    def turn(self, x: Float[Tensor, "B H T K"], rotation: Rotation) -> Float[Tensor, "B H T K"]:
        """The first R = rotary_dim dimensions turned, the others as they are.

        x -> x cos + partner(x) sin
        """
        x, rest = x[..., : self.rotary_dim], x[..., self.rotary_dim :]
        turned = x * rotation.cos + self.layout.partner(x) * rotation.sin
        return torch.cat((turned, rest), dim=-1) if rest.numel() else turned

    def extra_repr(self) -> str:
        """Sizes, for ``print(model)``."""
        sizes = f"head_dim={self.head_dim}, rotary_dim={self.rotary_dim}, base={self.base}"
        return f"{sizes}, {type(self.layout).__name__}, {type(self.scaling).__name__}"
