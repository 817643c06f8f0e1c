"""RotaryClock: two words turn two hands, and the angle between them knows only their distance."""

from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Result, Words

HEAD_DIM = 16
SENTENCE = ["the", "red", "fox", "saw", "a", "big", "dog", "by", "the", "old", "oak"]
BASES = ("10000", "100", "1000", "500000", "1000000")
SCALINGS = ("none", "linear", "dynamic", "yarn", "llama3")
CALLED = {  # in a sentence
    "linear": "linear scaling",
    "dynamic": "dynamic scaling",
    "yarn": "YaRN",
    "llama3": "LLaMA 3’s scaling",
}


class RotaryClock(PieceWidget):
    """Rotary positions as clocks: one for each of the 8 pairs of coordinates, fast to slow.

    Args:
        tokens: the words of the sentence, 2 to 16.
        i: place of the query's word, from 0.
        j: place of the key's word, at most i.
        pair: the clock that is shown large, 0 to 7.
        base: of the frequencies, "100" to "1000000"; "10000" is the usual one.
        skip: words between the two halves of the sentence, 0 to 960; they are not drawn.
        view: what is open below the clocks, "angles", "score", "pairs" or "scaling".
        peak: distance at which the constructed query is largest, 0 to 60.
        pairing: which coordinates make a pair, "halves", "interleaved" or "mixed", a real bug.
        scaling: "none", "linear", "dynamic", "yarn" or "llama3".
        factor: of the scaling, 1 to 16.
        max_seq_len: the length of the texts in training, 16 to 1024.

    Read back:
        positions: of query and key.
        frequencies: angle a word, in radians, of each pair.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Two hands on every clock"

    tokens = Words(SENTENCE, most=16)
    i = Count(6, 0, 15)
    j = Count(2, 0, 15)
    pair = Count(1, 0, HEAD_DIM // 2 - 1)
    base = Choice("10000", BASES)
    skip = Count(0, 0, 960, step=10)
    view = Choice("angles", ("angles", "score", "pairs", "scaling"))
    peak = Count(7, 0, 60)
    pairing = Choice("halves", ("halves", "interleaved", "mixed"))
    scaling = Choice("none", SCALINGS)
    factor = Count(8, 1, 16)
    max_seq_len = Count(32, 16, 1024)
    positions = Result()
    frequencies = Result()

    def describe(self) -> str:
        """Return the two words, their distance, and what slows the clocks."""
        words = dict(enumerate(self.tokens))
        query, key = (f"“{words.get(at, at + 1)}”" for at in (self.i, self.j))
        clock = f"clock {self.pair}, base {int(self.base):,}"
        if self.scaling != "none":
            clock += f", slowed by {CALLED[self.scaling]}, factor {self.factor}"
        return f"the query {query} and the key {key} on {clock}"
