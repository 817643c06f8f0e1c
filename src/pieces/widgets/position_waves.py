"""PositionWaves: a position as sines and cosines, two positions compared, a step as a turn."""

from pieces.positions import Sinusoidal
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Even, Real, Result

VIEWS = ("wave", "similarity", "shift")


class PositionWaves(PieceWidget):
    """The sinusoidal code of every position: its waves, its likeness, its turns.

    Positions and columns count from 0, as they stand in the formula.

    Args:
        d: columns of the code, even, 2 to 64.
        base: of the wavelengths, 10 to 1,000,000.
        length: how many positions are shown, 8 to 128.
        column: the column that is followed, 0 to 63.
        position: the position p that is followed, 0 to 127.
        k: the step from p to p + k, 0 to 127.
        view: "wave", "similarity" or "shift".

    Read back:
        wavelength: positions in which the followed column's pair turns once.
        similarity: the dot product of the codes of p and p + k, divided by that of p with itself.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Positions as waves"

    d = Even(32, 2, 64, step=2)
    base = Real(10000.0, 10.0, 1e6)
    length = Count(64, 8, 128)
    column = Count(6, 0, 63)
    position = Count(10, 0, 127)
    k = Count(4, 0, 127)
    view = Choice("wave", VIEWS)
    wavelength = Result()
    similarity = Result()

    def describe(self) -> str:
        """Return the sizes and what is followed."""
        sizes = f"{self.length} positions in {self.d} columns, with base {self.base:,g}"
        k = min(self.k, self.length - 1)
        position = min(self.position, self.length - 1 - k)
        pair = f"positions {position} and {position + k}"
        return f"{sizes}; column {min(self.column, self.d - 1)}, and {pair}"

    def encoding(self) -> Sinusoidal:
        """Return the package's encoding with these sizes."""
        return Sinusoidal(self.d, base=self.base)
