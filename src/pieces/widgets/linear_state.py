"""LinearState: pairs go into a growing cache, and into one square that stays as small as it is."""

from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Count, Result, Text

MOST = 24  # pairs
PAIRS = (
    "Tom red, Anna blue, Lily drum, Ben boat, Mia green, Max kite, Ella cake, Leo yellow, "
    "Zoe lamp, Sam hat, Nora stone, Finn silver, Ruth book, Otto pink, Ida bell, Paul rope"
)


class LinearState(PieceWidget):
    """Who has what, read pair by pair into the memory of attention and that of linear attention.

    Each word has a direction of its own, drawn from the word: the name is a key, what belongs to it
    a value. The cache keeps both; the square adds k vᵀ. Asked for a name, attention weighs its
    columns by a softmax of 8 times the cosine, and linear attention reads kᵀ S. Each says the word,
    among those read, whose value its answer matches best.

    Args:
        text: pairs of a name and a word, with commas between; at most 24 of them.
        size: numbers in a key and in a value, 2 to 16.
        step: how many pairs have been read, 0 to 24.
        asked: whose word is asked for, counted from 1.

    Read back:
        numbers: how many numbers are kept, [cache, square].
        answers: what is said of the name, [attention, linear attention].
        known: how many of the pairs read are answered right, [attention, linear attention].
        state: the square, size × size.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "A cache that grows, a square that does not"

    text = Text(PAIRS, longest=400)
    size = Count(8, 2, 16)
    step = Count(3, 0, MOST)
    asked = Count(1, 1, MOST)
    numbers = Result()
    answers = Result()
    known = Result()
    state = Result()

    def describe(self) -> str:
        """Return what is read, and how large the memory is."""
        read = f"{self.step} pairs of a name and a word are read"
        return f"{read} into a cache and into a square of {self.size} × {self.size} numbers"
