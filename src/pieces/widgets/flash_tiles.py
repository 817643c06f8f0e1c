"""FlashTiles: attention tile by tile, with a softmax that never sees a whole row."""

from collections.abc import Sequence
from typing import Any

from pieces.checks import require
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Matrix, Result, Switch, Words

MOST, WIDEST = 12, 6  # rows, and columns, of a table
REMEDY = "pass Q [T, K], K [S, K] and V [S, K], as of one head"
WORDS = ("Lily", "found", "the", "red", "ball", "and", "ran", "home")
# 1.2 torch.randn(3, 8, 4, generator=torch.Generator().manual_seed(7)), to one decimal.
Q = (
    (-1.0, 0.5, 1.1, -1.7), (-0.2, 0.3, -0.8, -1.1),
    (1.1, -0.6, -1.4, -0.6), (0.9, 1.2, 0.3, 1.3),
    (-1.9, -0.4, 2.3, -0.4), (0.2, 0.9, 1.2, -0.9),
    (-0.3, -0.3, -2.2, -0.4), (-2.5, 0.8, -1.6, -1.6),
)  # fmt: skip
K = (
    (-0.1, 0.0, 0.2, 2.8), (1.1, -0.8, -1.0, -0.7),
    (-1.7, 1.6, 2.0, -1.3), (-0.3, -0.3, 0.6, 0.3),
    (-0.2, -0.3, 0.0, -0.5), (-3.6, -1.3, -0.4, 1.1),
    (1.9, 0.0, -0.5, -2.5), (1.4, -0.5, -0.4, 0.9),
)  # fmt: skip
V = (
    (0.2, 0.2, -0.6, 1.0), (-1.5, -2.1, -0.7, -0.7),
    (-1.1, 1.4, 0.6, -0.2), (-1.0, -0.5, -1.2, 0.7),
    (-2.7, 0.5, 0.7, 0.4), (-0.2, -1.1, 2.1, 1.2),
    (-0.5, -0.2, 0.9, 1.2), (-1.0, 0.2, 0.6, 1.7),
)  # fmt: skip


class TileMatrix(Matrix):
    """A table of one head: a row a token, within ±20."""

    def __init__(self, default: Sequence[Sequence[float]]):
        super().__init__(default, bound=20)

    def limits(self) -> dict[str, Any]:
        """Return what a matrix tells, and its longest sides."""
        return super().limits() | {"most": MOST, "widest": WIDEST}

    def validate(self, obj: Any, value: Any) -> list[list[float]]:
        """Return `value` as nested lists of floats, or raise `ValueError`."""
        table = super().validate(obj, value)
        fits = 1 <= len(table) <= MOST and 1 <= len(table[0]) <= WIDEST
        rule = f"1 to {MOST} rows and 1 to {WIDEST} columns"
        require(fits, self.name, f"{len(table)} rows", rule, REMEDY)
        return table


class FlashTiles(PieceWidget):
    """Scores in tiles; of each row a largest score, a sum and a partial output are carried along.

    Args:
        Q, K, V: queries, keys and values, one row a token, within ±20; at most 12 × 6. As many
            keys as values, and all of one width. By default numbers drawn at random.
        words: one for each query, and for each key if there are as many.
        rows: queries in a block, 1 to 12.
        columns: keys in a block, 1 to 12.
        mask: "none" or "causal", for which whole tiles are left out.
        late: whether the last key is three times as long, so that the largest score may come last.
        step: tiles that are done; one more than there are: each finished row is divided.
        row: the query that is worked out, from 1; 0 is the first of the block in memory.

    Read back:
        tiles: how many there are to do.
        kept: of each query of the block [largest score, sum, partial output ...].
        output: the rows that are finished.
        moved: numbers read and written so far, and by way of the whole matrix.
        held: scores in memory at once, and those of the whole matrix.

    Raises:
        ValueError: an unknown argument, a value out of range, matrices that do not fit together.
    """

    title = "A softmax that never sees the whole row"

    Q = TileMatrix(Q)
    K = TileMatrix(K)
    V = TileMatrix(V)
    words = Words(WORDS, most=MOST)
    rows = Count(2, 1, MOST)
    columns = Count(2, 1, MOST)
    mask = Choice("none", ("none", "causal"))
    late = Switch(False)
    step = Count(1, 0, MOST * MOST + 1)
    row = Count(0, 0, MOST)
    tiles = Result()
    kept = Result()
    output = Result()
    moved = Result()
    held = Result()

    def __init__(self, **kwargs):
        if "Q" in kwargs:  # the words of the page are not those of other queries
            kwargs = {"words": ()} | kwargs
        super().__init__(**kwargs)
        width, keys = len(self.Q[0]), len(self.K)
        require(len(self.K[0]) == width, "K", len(self.K[0]), f"{width} columns, as Q", REMEDY)
        require(len(self.V[0]) == width, "V", len(self.V[0]), f"{width} columns, as Q", REMEDY)
        require(len(self.V) == keys, "V", len(self.V), f"{keys} rows, as K", REMEDY)

    def describe(self) -> str:
        """Return the sizes, the mask and how far it is."""
        cut = f"{len(self.Q)} × {len(self.K)} scores in tiles of {self.rows} × {self.columns}"
        mask = "no mask" if self.mask == "none" else f"{self.mask} mask"
        return f"{cut}, {mask}, {self.step} done"
