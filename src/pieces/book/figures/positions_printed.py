"""Chapter 12: a source text's positional encoding as it is printed, and what it does."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from pieces.book.tables import Table, table
from pieces.positions import Sinusoidal


class PositionalEncodingS1(nn.Module):
    """S1's class as printed, its argument ``vocab`` and its import left out as they are there."""

    def __init__(self, d_model: int, dropout: float, max_len: int = 5000) -> None:
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0.0, max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0.0, d_model, 2) * -(math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x: Tensor) -> Tensor:
        """Add the table to x [B, T, D]."""
        x = x + Variable(self.pe[:, : x.size(1)], requires_grad=False)
        return self.dropout(x)


class Supplied(PositionalEncodingS1):
    """The same, with what ``Variable`` has been for years: nothing but the tensor itself."""

    def forward(self, x: Tensor) -> Tensor:
        """Add the table to x [B, T, D]."""
        return self.dropout(x + self.pe[:, : x.size(1)])


def ours(d_model: int, dropout: float) -> Callable[[Tensor], Tensor]:
    """The package's codes, added to x [B, T, D]."""
    return lambda x: Sinusoidal(d_model).add(x, torch.arange(x.shape[1]))


def outcome(make: Callable[..., Callable[[Tensor], Tensor]], d_model: int, tokens: int) -> str:
    """Return what a class makes of a text: "runs", or the name of its error."""
    try:
        make(d_model, 0.0)(torch.zeros(1, tokens, d_model))
    except (NameError, RuntimeError) as error:
        return type(error).__name__
    return "runs"


def outcomes(sizes: tuple[tuple[int, int], ...] = ((16, 4), (15, 4), (16, 5001))) -> Table:
    """Show what becomes of a few sizes: as printed, with ``Variable`` supplied, in the package."""
    makes = {"as printed": PositionalEncodingS1, "Variable supplied": Supplied, "ours": ours}
    rows = [
        [
            f"{d_model} features, {tokens:,} tokens",
            *(outcome(m, d_model, tokens) for m in makes.values()),
        ]
        for d_model, tokens in sizes
    ]
    return table(rows, ["text", *makes])
