"""PredictNumber: an exercise that is checked in the page, with no kernel."""

import math
from collections.abc import Mapping
from typing import Any

from traitlets import TraitType

from pieces.checks import require
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Real, Result, Text


class Slips(TraitType):
    """A list of [number, text]: typical wrong answers and what was probably thought."""

    def __init__(self, most: int = 8):
        self.most = most
        super().__init__(default_value=[])
        self.tag(sync=True)

    def validate(self, obj: Any, value: Any) -> list[list[float | str]]:
        """Return `value` as a list of pairs, or raise `ValueError`."""
        fits = isinstance(value, (list, tuple)) and len(value) <= self.most
        pairs = fits and all(
            isinstance(pair, (list, tuple))
            and len(pair) == 2
            and isinstance(pair[0], (int, float))
            and math.isfinite(pair[0])
            and isinstance(pair[1], str)
            for pair in value
        )
        rule = f"at most {self.most} pairs of a number and a text"
        require(pairs, self.name, value, rule, 'write [(0.5, "why not"), …]')
        return [[float(number), text] for number, text in value]


class PredictNumber(PieceWidget):
    """Ask for a number and check it in the browser. What was typed survives a reload.

    After two wrong answers the right one may be seen.

    Args:
        question: the question, plain text.
        answer: the number, computed by the cell that makes the widget.
        tolerance: how far off an answer may be, at least 0.
        hint: shown after a wrong answer.
        slips: typical wrong answers, each with what is said to it in place of the hint.
        why: shown after the right one.

    Read back:
        typed: the text in the field.
        correct: True, False, or None before the first answer.

    Raises:
        ValueError: an unknown argument, an empty question or a number that is not finite.
    """

    title = "Predict the number"
    fixed = True  # a question is its author's

    question = Text()
    answer = Real(0.0, -1e9, 1e9)
    tolerance = Real(0.005, 0.0, 1e9)
    hint = Text()
    slips = Slips()
    why = Text()
    typed = Result()
    correct = Result()

    def __init__(self, question: str, answer: Any, **kwargs):
        require(bool(str(question).strip()), "question", question, "must ask something", "write it")
        try:
            number = float(answer)
        except (TypeError, ValueError, RuntimeError):
            number = math.nan
        rule, remedy = "must be a finite number", "compute it again"
        require(math.isfinite(number), "answer", answer, rule, remedy)
        super().__init__(question=question, answer=number, **kwargs)

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return the lines that the question has, 40 characters in each."""
        question = state.get("question")
        return math.ceil(len(question) / 40) if isinstance(question, str) else None

    def describe(self) -> str:
        """Return the question."""
        return self.question
