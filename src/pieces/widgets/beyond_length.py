"""BeyondLength: a text grows beyond the length of training, scheme by scheme."""

from typing import Any

from traitlets import default

from pieces.book.measured import record_of
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Result, Words

STRETCH, TRAINED = 16, 32  # words
SCHEMES = ("none", "sinusoidal", "learned", "untrained_rows", "last_row", "t5", "alibi", "rotary")
SCALINGS = ("unscaled", "linear", "ntk", "dynamic", "yarn", "llama3")
FORGETFUL = "window"
CALLED = {  # in a sentence
    "sinusoidal": "sinusoids",
    "learned": "a learned table",
    "untrained_rows": "a learned table with untrained rows",
    "last_row": "a learned table with its last row again",
    "t5": "T5",
    "alibi": "ALiBi",
    "rotary": "RoPE",
    "unscaled": "RoPE as trained",
    "linear": "linear scaling",
    "ntk": "NTK-aware scaling",
    "dynamic": "dynamic scaling",
    "yarn": "YaRN",
    "llama3": "LLaMA 3’s scaling",
    "window": "RoPE with the last 32 words",
}


class BeyondLength(PieceWidget):
    """Measured runs, replayed: small models trained on 32 words and read up to 256.

    Args:
        what: "positions" (six schemes, and ways around the end of a learned table) or "scalings"
            (one rotary model, its clocks slowed in different ways).
        shown: the schemes that are drawn: "none", "sinusoidal", "learned", "untrained_rows",
            "last_row", "t5", "alibi", "rotary"; "unscaled", "linear", "ntk", "dynamic", "yarn",
            "llama3"; "window" for the rotary model that reads the last 32 words only.
        stretch: how far the text goes, in stretches of 16 words, from 0.
        factor: of the scalings, "2", "4" or "8".

    Read back:
        excess: distance to the floor of each scheme that is drawn, in nats a word, by seed.
        measured: the runs that it plays, of each scheme a curve for each seed.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Beyond the length of training"

    what = Choice("positions", ("positions", "scalings")).tag(
        told={"schemes": {"positions": SCHEMES, "scalings": SCALINGS}}
    )
    shown = Words(("sinusoidal", "alibi", "rotary", "unscaled", "dynamic", "yarn"), most=15)
    stretch = Count(1, 0, 15).tag(told={"words": STRETCH, "trained": TRAINED})
    factor = Choice("8", ("2", "4", "8"))
    excess = Result()
    measured = Result()

    @default("measured")
    def _read_measured(self) -> dict[str, Any]:
        """The numbers of the records."""
        return record_of("positions")

    def describe(self) -> str:
        """Return what is drawn, and how long the text is."""
        known = (*(SCHEMES if self.what == "positions" else SCALINGS), FORGETFUL)
        drawn = ", ".join(CALLED.get(name, name) for name in known if name in self.shown)
        what = "ways to tell positions" if self.what == "positions" else "slower clocks"
        factor = f", by the factor {self.factor}" if self.what == "scalings" else ""
        words = f"over a text of {STRETCH * (self.stretch + 1)} words"
        return f"{what}{factor}: {drawn or 'nothing'}, {words}"
