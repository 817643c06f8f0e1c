"""Rotations of queries and keys, so that their product knows only how far they stand apart."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from pieces.checks import (
    Positive,
    Size,
    checked,
    default_int,
    refuse,
    require,
    require_instance,
)
from pieces.positions.encoding import (
    PositionalEncoding,
    Positions,
    require_positions,
    with_batch,
)
from pieces.positions.scaling import Unscaled


class Rotation(NamedTuple):
    """The rotation of given positions, ready for every layer: x -> x cos + partner(x) sin."""

    cos: Float[Tensor, "#B 1 T R"]
    sin: Float[Tensor, "#B 1 T R"]


@checked
class Halves:
    """Dimension i is turned with i + R/2, as in GPT-NeoX, LLaMA and transformers' rotate_half."""

    def pair(self, first: Tensor, second: Tensor) -> Tensor:
        """Lay two halves side by side: [..., R/2] twice -> [..., R]."""
        return torch.cat((first, second), dim=-1)

    def partner(self, x: Tensor) -> Tensor:
        """Put the partner of each dimension in its place."""
        return x.roll(x.shape[-1] // 2, dims=-1)


@checked
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
        rotary_dim: int | None = None,
        base: Positive = 10000.0,
        layout: Halves | Interleaved | None = None,
        scaling: Unscaled | None = None,
    ) -> None:
        super().__init__()
        rotary_dim = default_int("rotary_dim", rotary_dim, head_dim)
        fits = rotary_dim % 2 == 0 and rotary_dim <= head_dim
        rule = f"must be even and at most head_dim = {head_dim}"
        require(fits, "rotary_dim", rotary_dim, rule, "pass rotary_dim=, an even number")
        self.head_dim, self.rotary_dim, self.base = head_dim, rotary_dim, base
        self.layout = Halves() if layout is None else layout
        self.scaling = Unscaled() if scaling is None else scaling
        kinds = (Halves, Interleaved)
        rule, remedy = "must be Halves() or Interleaved()", "pass an object, not its class"
        require(isinstance(self.layout, kinds), "layout", layout, rule, remedy, TypeError)
        require_instance("scaling", self.scaling, Unscaled, "pass Linear(2.0), say")

    def forward(self, positions: Positions, dtype: torch.dtype = torch.float32) -> Rotation:
        """The rotation of these positions, to be computed once and used in every layer.

        Angles are computed in float32 at least, then cast: pass the dtype of the model.
        Shapes: positions [T] or [B, T] -> cos, sin [1, 1, T, R] or [B, 1, T, R], R = rotary_dim.
        """
        working = torch.promote_types(dtype, torch.float32)
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
            require_positions("positions", positions, (q.shape[0], q.shape[2]))
            positions = self(positions, q.dtype)
        for name, x in (("q", q), ("k", k)):
            B, T = positions.cos.shape[0], positions.cos.shape[2]
            if x.shape[2:] != (T, self.head_dim) or B not in (1, x.shape[0]):
                rule = (
                    f"must end in {(T, self.head_dim)}, [T, head_dim], and begin with {B} if not 1"
                )
                refuse(f"{name}.shape", tuple(x.shape), rule, "build Rotary(head_dim) to fit")
        if q.shape[2] > 1 or q.shape[0] != k.shape[0] or q.dtype != k.dtype:
            return self._turn(q, positions), self._turn(k, positions)
        turned = self._turn(torch.cat((q, k), dim=1), positions)  # one token: one call, not two
        return turned[:, : q.shape[1]], turned[:, q.shape[1] :]

    def for_layers(self, positions: Positions, S: int, dtype: torch.dtype) -> dict[str, Rotation]:
        """The rotation."""
        return {"positions": self(positions, dtype)}

    def _turn(self, x: Tensor, rotation: Rotation) -> Tensor:
        """The first rotary_dim dimensions turned, the others as they are."""
        turned = x[..., : self.rotary_dim]
        partner = self.layout.partner(turned)
        turned = torch.addcmul(turned * rotation.cos, partner, rotation.sin)
        if self.rotary_dim == self.head_dim:
            return turned
        return torch.cat((turned, x[..., self.rotary_dim :]), dim=-1)

    def extra_repr(self) -> str:
        """Sizes, for ``print(model)``."""
        sizes = f"head_dim={self.head_dim}, rotary_dim={self.rotary_dim}, base={self.base}"
        return f"{sizes}, {type(self.layout).__name__}, {type(self.scaling).__name__}"
