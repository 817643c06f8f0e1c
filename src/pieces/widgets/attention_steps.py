"""AttentionSteps: self-attention on a 6 × 3 table, one step at a time, one row written out."""

import torch

from pieces import masks
from pieces.attention import masked_softmax
from pieces.scores import dot, scaled_dot
from pieces.widgets.base import PieceWidget
from pieces.widgets.six_tokens import TABLE, TOKENS, WEIGHTS
from pieces.widgets.stills import grid
from pieces.widgets.traits import Choice, Count, Matrix, Result, Words

SHOWN = (
    ("X", "Wq", "Q"),
    ("X", "Wk", "K"),
    ("X", "Wv", "V"),
    ("Q", "Kt", "scores"),
    ("scores", "scaled"),
    ("scaled", "weights"),
    ("weights", "V", "output"),
)
STEPS = ("query", "key", "value", "score", "scale", "softmax", "mix")


class AttentionSteps(PieceWidget):
    """Edit six tokens and three weight matrices, and follow one row through self-attention.

    Args:
        X: the tokens, a 6 × 3 matrix within ±100; by default the table of the source text.
        Wq, Wk, Wv: the weight matrices, 3 × 3 within ±100; by default drawn with seed 168.
        tokens: six words beside the rows; none for numbers.
        step: 0 query, 1 key, 2 value, 3 score, 4 scale, 5 softmax, 6 mix.
        row: the token whose arithmetic is written out, 1 to 6.
        column: the cell of that row whose line is lit, from 1; 0 is none.
        mask: "none" or "causal".

    Read back:
        query: the query vector of the row, 3 numbers.
        weights: the attention weights, 6 × 6.
        output: the output O = A V, 6 × 3.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Self-attention, step by step"

    X = Matrix(TABLE, 6, 3, bound=100)
    Wq = Matrix(WEIGHTS[0], 3, 3, bound=100)
    Wk = Matrix(WEIGHTS[1], 3, 3, bound=100)
    Wv = Matrix(WEIGHTS[2], 3, 3, bound=100)
    tokens = Words(TOKENS, most=6)
    step = Count(0, 0, len(STEPS) - 1)
    row = Count(2, 1, 6)
    column = Count(1, 0, 6)
    mask = Choice("none", ("none", "causal"))
    query = Result()
    weights = Result()
    output = Result()

    def still(self) -> str:
        """Return the matrices of the step."""
        X, *W = (torch.tensor(m, dtype=torch.float64) for m in (self.X, self.Wq, self.Wk, self.Wv))
        q, k, v = (X @ w for w in W)
        mask = masks.causal(6) if self.mask == "causal" else None
        scores, scaled = dot(q, k), scaled_dot(q, k)
        weights = masked_softmax(scaled, mask)
        maps = {
            "X": (X, "residual", "input X"),
            "Wq": (W[0], "query", "weights Wq"),
            "Wk": (W[1], "key", "weights Wk"),
            "Wv": (W[2], "value", "weights Wv"),
            "Kt": (k.T, "key", "keys Kᵀ"),
            "Q": (q, "query", "queries Q"),
            "K": (k, "key", "keys K"),
            "V": (v, "value", "values V"),
            "scores": (scores, "score", "scores Q Kᵀ"),
            "scaled": (scaled, "score", "scaled scores"),
            "weights": (weights, "weight", "weights A"),
            "output": (weights @ v, "output", "output O"),
        }
        return "".join(
            grid(
                *maps[name],
                mask=mask if name == "weights" else None,
                rows=() if name in ("Wq", "Wk", "Wv", "Kt") else self.tokens,
                columns=self.tokens if name == "Kt" else (),
                digits=2,
            )
            for name in SHOWN[self.step]
        )

    def describe(self) -> str:
        """Return the step, and the query of the chosen row."""
        x = torch.tensor(self.X[self.row - 1], dtype=torch.float64)
        query = x @ torch.tensor(self.Wq, dtype=torch.float64)
        numbers = ", ".join(f"{number:z.4f}" for number in query.tolist())
        mask = "under a causal mask" if self.mask == "causal" else "without a mask"
        numbers = numbers.replace("-", "−")
        return f"the step “{STEPS[self.step]}”, {mask}; query {self.row} is [{numbers}]"
