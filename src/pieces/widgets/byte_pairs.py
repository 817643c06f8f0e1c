"""BytePairs: learn merges from a text, one after another, and cut words into what was learned."""

from pieces.byte_pairs import characters, cut_into_pieces, learn_merges, utf8_bytes
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Result, Text

TEXT = (
    "she sells sea shells by the sea shore . the shells she sells are sea shells , "
    "and she sees the shore by the sea ."
)
MOST = 40
UNITS = {"characters": characters, "bytes": utf8_bytes}


class BytePairs(PieceWidget):
    """A text in pieces, after as many merges as a reader wants; and another word, cut by them.

    Args:
        text: what the merges are learned from, at most 600 characters.
        merges: how many of them are done, 0 to 40; a text may have fewer.
        unit: what is there before the first merge, "characters" or "bytes".
        word: another word, which is cut.

    Read back:
        learnt: the merges that are done, each [left, right, count]; a byte is two hex digits.
        pieces: the words of the text, each a list of pieces; a space ends each word.
        cut: the pieces of the other word.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Pieces of words, learned from a text"

    text = Text(TEXT, longest=600)
    merges = Count(0, 0, MOST)
    unit = Choice("characters", tuple(UNITS))
    word = Text("seashells", longest=40)
    learnt = Result()
    pieces = Result()
    cut = Result()

    def describe(self) -> str:
        """Return the unit, the merges that are done, and how the other word is cut."""
        symbols = UNITS[self.unit]
        learnt = learn_merges(self.text, self.merges, symbols=symbols)
        n = sum(map(len, cut_into_pieces(self.text, learnt, symbols=symbols)))
        cut = [p for word in cut_into_pieces(self.word, learnt, symbols=symbols) for p in word]
        told = " | ".join(p.replace(" ", "·") if isinstance(p, str) else p.hex() for p in cut)
        return f"{len(learnt)} merges of {self.unit}, the text in {n} pieces; {self.word}: {told}"
