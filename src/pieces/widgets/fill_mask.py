"""FillMask: an exercise. Fill in the mask; wrong cells are counted, and shown only if asked for."""

from collections.abc import Mapping
from typing import Any

import torch
from traitlets import TraitType

from pieces.checks import require
from pieces.widgets.base import PieceWidget
from pieces.widgets.stills import grid
from pieces.widgets.traits import Matrix, Result, Text, Words


class MaskSlips(TraitType):
    """A list of [mask, text]: typical wrong masks and what is said to each."""

    def __init__(self, most: int = 8):
        self.most = most
        super().__init__(default_value=[])
        self.tag(sync=True)

    def validate(self, obj: Any, value: Any) -> list[list[Any]]:
        """Return `value` as pairs of nested lists and texts, or raise `ValueError`."""
        rule = f"at most {self.most} pairs of a bool mask and a text"
        remedy = 'write [(masks.causal(4), "why not"), …]'
        fits = isinstance(value, (list, tuple)) and len(value) <= self.most
        pairs = fits and all(
            isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[1], str)
            for pair in value
        )
        require(pairs, self.name, value, rule, remedy)
        try:
            grids = [torch.as_tensor(mask) for mask, _ in value]
        except (TypeError, ValueError, RuntimeError):
            require(False, self.name, value, rule, remedy)
        require(all(grid.ndim == 2 for grid in grids), self.name, value, rule, remedy)
        return [[grid.int().tolist(), text] for grid, (_, text) in zip(grids, value, strict=True)]


class FillMask(PieceWidget):
    """Ask for a mask, cell by cell, and check it in the browser.

    After two wrong answers the right one may be seen.

    Args:
        question: what the mask shall do, plain text.
        answer: bool [T, S], True = may attend: 1 to 12 rows, 2 to 12 columns.
        hint: shown after a wrong answer, before any wrong cell is.
        slips: typical wrong masks, each with what is said to it in place of the hint.
        why: shown after the right answer.
        rows, columns: names of the queries and keys, optional.
        marks: two words for what a pressed cell means and what another does, where this is no
            mask; optional.

    Read back:
        filled: the reader's mask as lists of bool.
        correct: True or False after a check, None before.

    Raises:
        ValueError: an unknown argument, an empty question, an answer that is not a mask.
    """

    title = "Fill in the mask"
    fixed = True  # a question is its author's

    question = Text()
    answer = Matrix()
    hint = Text()
    slips = MaskSlips()
    why = Text()
    rows = Words()
    columns = Words()
    marks = Words(most=2)
    filled = Result()
    correct = Result()

    def __init__(self, question: str, answer: torch.Tensor, **kwargs):
        require(bool(str(question).strip()), "question", question, "must ask something", "write it")
        rule = "must be a bool mask [T, S], 1 to 12 rows and 2 to 12 columns"
        remedy = "make it with pieces.masks"
        try:
            mask = torch.as_tensor(answer)
        except (TypeError, ValueError, RuntimeError):
            require(False, "answer", answer, rule, remedy)
        fits = mask.ndim == 2 and mask.dtype == torch.bool and min(mask.shape) >= 1
        fits = fits and mask.shape[1] >= 2
        given = f"{mask.dtype} {tuple(mask.shape)}"
        require(fits and max(mask.shape) <= 12, "answer", given, rule, remedy)
        super().__init__(question=question, answer=mask.double(), **kwargs)
        rule, remedy_of_marks = "must be two words or none", 'write ["stands here", "does not"]'
        require(len(self.marks) in (0, 2), "marks", self.marks, rule, remedy_of_marks)
        sizes = {(len(slip), len(slip[0])) for slip, _ in self.slips}
        same = sizes <= {tuple(mask.shape)}
        require(same, "slips", sizes, f"must have the answer's shape {tuple(mask.shape)}", remedy)

    @classmethod
    def revived(cls, state: Mapping[str, Any]) -> PieceWidget:
        """Return the exercise of a saved state, which keeps its mask as numbers."""
        return super().revived({**state, "answer": torch.tensor(state["answer"]).bool()})

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return the number of queries; None if the state is damaged."""
        answer = state.get("answer")
        return min(12, len(answer)) if isinstance(answer, list) else None

    def describe(self) -> str:
        """Return the question."""
        return self.question

    def still(self) -> str:
        """Return the empty grid, to be filled in on paper."""
        empty = torch.zeros(len(self.answer), len(self.answer[0]))
        which = "Which cells?" if self.marks else "Which cells may attend?"
        return grid(empty, "query", which, rows=self.rows, columns=self.columns)
