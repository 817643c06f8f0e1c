"""Fixed sines and cosines of the position, added to the embeddings."""

import torch
from jaxtyping import Float
from torch import Tensor

from pieces.checks import Positive, Size, checked
from pieces.positions.encoding import PositionalEncoding
from pieces.types import Positions


@checked
class Sinusoidal(PositionalEncoding):
    """A clock with many hands: pair i of the columns turns once in 2π base^(2i/D) positions.

    PE[p, 2i] = sin(p / base^(2i/D)),  PE[p, 2i+1] = cos(p / base^(2i/D))

    i numbers the pair, so column 2i is a sine and column 2i+1 the cosine of the same angle.
    It is defined at every position, and has nothing to train and nothing to store.

    Source: Vaswani et al. 2017, 3.5; source text (5.1), (5.25).
    """

    def __init__(self, d_model: Size, *, base: Positive = 10000.0) -> None:
        super().__init__()
        self.d_model, self.base = d_model, base

    def forward(
        self, positions: Positions, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "*batch T D"]:
        """The codes. Shapes: positions [T] or [B, T] -> [..., T, D]; an odd D ends in sin."""
        # In float32 the angle itself is off by about 0.006 at position 100,000.
        column = torch.arange(0, self.d_model, 2, device=positions.device, dtype=torch.float64)
        angles = positions.long()[..., None] / self.base ** (column / self.d_model)
        pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)
        return pairs.flatten(-2)[..., : self.d_model].to(dtype)

    def add(
        self, embeddings: Float[Tensor, "B T D"], positions: Positions
    ) -> Float[Tensor, "B T D"]:
        """x_t = v_t + PE[t]."""
        return embeddings + self(positions, embeddings.dtype)

    def extra_repr(self) -> str:
        """Sizes, for ``print(model)``."""
        return f"d_model={self.d_model}, base={self.base}"
