"""The book's questions: ``ask("3.2")`` shows exercise 3.2, which is checked in the page.

What is asked, its answer, and what is said to each answer stand in ``questions/03_attention.toml``,
one table a question, so that no notebook shows an answer above its question and another language is
another file. The tests of the chapter compute every answer again.

A number is asked for by ``PredictNumber``, a mask, written as rows of ``x`` (may attend) and ``.``,
by ``FillMask``.
"""

import functools
import tomllib
from importlib.resources import files
from typing import Any

import torch
from torch import Tensor

from pieces.checks import checked, one_of
from pieces.widgets.fill_mask import FillMask
from pieces.widgets.predict_number import PredictNumber

FOLDER = files("pieces.book") / "questions"


@checked
def ask(name: str) -> PredictNumber | FillMask:
    """Show a question by its name: "3.2" is exercise 2 of chapter 3, "3.a" a guess in its text.

    Raises: ValueError for a question that the book does not have.
    """
    told = question(name)
    return (FillMask if isinstance(told["answer"], Tensor) else PredictNumber)(**told)


@checked
def question(name: str) -> dict[str, Any]:
    """Return what a question asks and answers, its masks as bool tensors."""
    one_of("name", name, names())
    told = dict(_chapters()[_number(name)][name])
    told["answer"] = _read(told["answer"])
    told["slips"] = [(_read(answer), words) for answer, words in told.get("slips", ())]
    return told


def names() -> list[str]:
    """Return the names of all questions, chapter by chapter."""
    return [name for _, asked in sorted(_chapters().items()) for name in asked]


@functools.cache
def _chapters() -> dict[int, dict[str, dict[str, Any]]]:
    """The questions of each chapter, by its number."""
    found = (file for file in FOLDER.iterdir() if file.name.endswith(".toml"))
    return {_number(file.name): tomllib.loads(file.read_text(encoding="utf-8")) for file in found}


def _number(name: str) -> int:
    """3, of "3.2" and of "03_attention.toml"."""
    return int(name.replace("_", ".").partition(".")[0])


def _read(answer: int | float | list[str]) -> int | float | Tensor:
    """An answer as it is checked: rows of letters become a mask."""
    if not isinstance(answer, list):
        return answer
    return torch.tensor([[letter == "x" for letter in row] for row in answer])
