"""NormAxes: change one number of a table, and see which numbers of the normalised table move."""

from collections.abc import Mapping
from typing import Any

from pieces.checks import require
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Matrix, Numbers, Real, Result, Words

KINDS = ("batch", "layer", "rms", "text")
CALLED = {"batch": "BatchNorm", "layer": "LayerNorm", "rms": "RMSNorm"}
CALLED["text"] = "a norm over the whole text"
X = ((2, -1, 4, 3), (1, 0, -2, 5), (6, 2, 3, 1), (-3, 1, 0, 2), (4, -2, 1, 1), (0, 3, 5, -4))
TOKENS = ("Lily", "found", "it", "Tom", "ran", "home")


MOST = 6  # rows, and columns


class NumberTable(Matrix):
    """A matrix of numbers within ±20, with 1 to 6 rows and columns; `empty` allows none at all."""

    def __init__(self, default: Any = (), empty: bool = False):
        self.empty = empty
        super().__init__(default, bound=20)

    def limits(self) -> dict[str, Any]:
        """Return what a matrix tells, its longest side and default, and whether it may be empty."""
        told = {"most": MOST, "empty": self.empty, "default": self.default_value}
        return super().limits() | told

    def validate(self, obj: Any, value: Any) -> list[list[float]]:
        """Return `value` as nested lists of floats, or raise `ValueError`."""
        if self.empty and isinstance(value, (list, tuple)) and not value:
            return []
        table = super().validate(obj, value)
        fits = 1 <= len(table) <= MOST and 1 <= len(table[0]) <= MOST
        require(fits, self.name, value, f"1 to {MOST} rows and columns", "take fewer numbers")
        return table


class NormAxes(PieceWidget):
    """Two texts as a table of tokens and features, and the same table after a norm.

    A number is chosen, moved, and what it moves in the result is ringed. What stood before the
    change stays in `before`, so that another norm shows what it makes of the same change.

    Args:
        kind: "batch", "layer", "rms", or "text", which takes one mean for a whole text.
        X: the numbers, one row a token, within ±20; at most 6 × 6.
        before: the numbers before the last change, of the same shape; empty for none.
        words: one for each row; none for numbers.
        texts: 1 or 2; the rows are cut into texts of one length.
        row, column: the chosen number, from 1.
        eps: ε, added below the root, 1e-12 to 1.
        gain, shift: γ and β, a number within ±5 for each feature; empty for 1 and 0.

    Read back:
        result: the table after the norm.
        mean, spread: of the numbers that are averaged with the chosen one; for RMSNorm the spread
            is the root of the mean square.
        moved: the cells [row, column], from 0, that differ from what `before` gives by over 0.001.

    Raises:
        ValueError: an unknown argument, a value out of range, lists that do not fit together.
    """

    title = "Who is averaged with whom?"

    kind = Choice("batch", KINDS)
    X = NumberTable(X)
    before = NumberTable(empty=True)
    words = Words(TOKENS, most=MOST)
    texts = Count(2, 1, 2)
    row = Count(1, 1, MOST)
    column = Count(1, 1, MOST)
    eps = Real(1e-5, 1e-12, 1.0)
    gain = Numbers(most=MOST, bound=5.0)
    shift = Numbers(most=MOST, bound=5.0)
    result = Result()
    mean = Result()
    spread = Result()
    moved = Result()

    def __init__(self, **kwargs):
        if "X" in kwargs:  # the words and the texts of the table on the page are not those of X
            kwargs = {"words": (), "texts": 1} | kwargs
        super().__init__(**kwargs)
        rows, columns = len(self.X), len(self.X[0])
        remedy = "see the rows and columns of X"
        for name, told, wanted, rule in (
            ("before", [len(row) for row in self.before], [columns] * rows, "as many as X"),
            ("words", len(self.words), rows, f"one for each of the {rows} rows"),
            ("gain", len(self.gain), columns, f"one for each of the {columns} columns"),
            ("shift", len(self.shift), columns, f"one for each of the {columns} columns"),
        ):
            fits = not getattr(self, name) or told == wanted
            require(fits, name, getattr(self, name), rule, remedy)
        require(rows % self.texts == 0, "texts", self.texts, f"a divisor of {rows} rows", remedy)
        require(self.row <= rows, "row", self.row, f"at most {rows}", remedy)
        require(self.column <= columns, "column", self.column, f"at most {columns}", remedy)

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return the rows of its table."""
        table = state.get("X")
        return len(table) if isinstance(table, list) and 1 <= len(table) <= MOST else None

    def describe(self) -> str:
        """Return the norm, the shape and the chosen number."""
        sizes = f"{len(self.X) // self.texts} × {len(self.X[0])} numbers"
        texts = f"{self.texts} texts of {sizes} each" if self.texts > 1 else sizes
        value = f"{self.X[self.row - 1][self.column - 1]:g}".replace("-", "−")
        at = f"row {self.row}, column {self.column}, which holds {value}"
        return f"{CALLED[self.kind]} over {texts}; the chosen cell is {at}"
