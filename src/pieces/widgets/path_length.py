"""PathLength: how far it is from one word to another, in three kinds of network."""

from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Count, Result, Switch, Words

# fmt: off
TOKENS = ("The", "cat", ",", "which", "ate", "the", "fish", "on", "the", "table", ",", "was",
          "happy", "all", "day", ".")
# fmt: on


class PathLength(PieceWidget):
    """Two words of a text, and the way between them: recurrent, by convolutions, by attention.

    Beside the way stands what it costs to let every word of a text of `length` words reach every
    other: the steps that must follow one another, and the multiplications, with vectors of 512
    numbers. Of a long text the first words are drawn.

    Args:
        tokens: the words that are drawn, 2 to 16.
        first, second: the two words, from 1.
        length: words of the whole text, 4 to 4,096.
        reach: words that a convolution sees on each side, 1 to 3; its kernel is 2 · reach + 1 wide.
        dilated: each layer of the convolution sees twice as far as the one below it.
        layers: of the convolution that is drawn, 1 to 15.
        step: how many steps the light has gone; the longest way ends it.

    Read back:
        steps: from the one word to the other: recurrent, convolution (None where its layers do
            not suffice), attention.
        needed: layers with which the convolution connects the two.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "From one word to another"

    tokens = Words(TOKENS, most=16)
    first = Count(2, 1, 16)
    second = Count(12, 1, 16)
    length = Count(16, 4, 4096)
    reach = Count(1, 1, 3)
    dilated = Switch(False)
    layers = Count(10, 1, 15)
    step = Count(15, 0, 15)
    steps = Result()
    needed = Result()

    def describe(self) -> str:
        """Return the two words and the convolution."""
        drawn = min(len(self.tokens), self.length)
        pair = sorted((min(self.first, drawn), min(self.second, drawn)))
        names = [self.tokens[n - 1] if self.tokens else f"word {n}" for n in pair]
        kind = "dilated convolutions" if self.dilated else "convolutions"
        return (
            f"from “{names[0]}” to “{names[1]}”, {pair[1] - pair[0]} words apart, through "
            f"a recurrent network, {self.layers} {kind} {2 * self.reach + 1} words wide, "
            "and attention"
        )
