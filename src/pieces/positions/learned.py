"""One trained vector for each position, added to the embeddings."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pieces.checks import Size, checked, look_up
from pieces.positions.encoding import PositionalEncoding
from pieces.types import Positions

BEYOND = "shorten the input, train a longer table, or use Sinusoidal or Rotary"


@checked
class Learned(PositionalEncoding):
    """A table with a row for each position up to ``max_seq_len``, and none beyond.

    x_t = v_t + p_t

    Source: Gehring et al. 2017, 3.1; Devlin et al. 2019 (BERT), 3; source text (5.1), (5.25).
    Shapes: weight [max_seq_len, d_model], started as N(0, 0.02²) as in BERT and GPT-2.
    """

    def __init__(self, max_seq_len: Size, d_model: Size) -> None:
        super().__init__()
        self.d_model = d_model
        self.weight = nn.Parameter(torch.empty(max_seq_len, d_model))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, positions: Positions) -> Float[Tensor, "*batch T D"]:
        """The rows. Shapes: positions [T] or [B, T] -> [T, D] or [B, T, D]."""
        return look_up("positions", positions.long(), self.weight, BEYOND)

    def add(
        self, embeddings: Float[Tensor, "B T D"], positions: Positions
    ) -> Float[Tensor, "B T D"]:
        """x_t = v_t + p_t."""
        return embeddings + self(positions).to(embeddings.dtype)

    def extra_repr(self) -> str:
        """Sizes, for ``print(model)``."""
        return f"max_seq_len={self.weight.shape[0]}, d_model={self.weight.shape[1]}"
