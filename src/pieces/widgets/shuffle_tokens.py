"""ShuffleTokens: shuffle the rows of a table and see whether the outputs move along."""

from pieces.widgets.base import PieceWidget
from pieces.widgets.six_tokens import TABLE, TOKENS, WEIGHTS
from pieces.widgets.traits import Choice, Count, Matrix, Result, Words


class ShuffleTokens(PieceWidget):
    """Six tokens with their inputs and their outputs, in any order, without or with a causal mask.

    Args:
        X: the tokens, a 6 × 3 matrix within ±100; by default those of ``AttentionSteps``.
        Wq, Wk, Wv: the weight matrices, 3 × 3 within ±100; by default those of ``AttentionSteps``.
        tokens: six words, one for each row of X.
        shuffle: which order; 0 is that of X, each other number one that its random draws give.
        mask: "none" or "causal".

    Read back:
        order: the tokens from top to bottom, from 1.
        output: their outputs in that order, 6 × 3.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Shuffle the tokens"

    X = Matrix(TABLE, 6, 3, bound=100)
    Wq = Matrix(WEIGHTS[0], 3, 3, bound=100)
    Wk = Matrix(WEIGHTS[1], 3, 3, bound=100)
    Wv = Matrix(WEIGHTS[2], 3, 3, bound=100)
    tokens = Words(TOKENS, most=6)
    shuffle = Count(0, 0, 9999)
    mask = Choice("none", ("none", "causal"))
    order = Result()
    output = Result()

    def describe(self) -> str:
        """Return which order is shown, and the mask."""
        which = f"in the order of shuffle {self.shuffle}" if self.shuffle else "in their own order"
        mask = "without a mask" if self.mask == "none" else f"under a {self.mask} mask"
        return f"{', '.join(self.tokens)}, {which}, {mask}"
