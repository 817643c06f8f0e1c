"""Files of answers, as the book's page "Your answers" writes them, read for a class.

    python -m pieces.book.answers answers-*.json

prints one line a file: how many questions of each chapter were answered rightly. The file says so
itself, and whoever can edit a text can edit it, so this is for following a class, not for grades.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from pieces.book.ask import names
from pieces.checks import require

BOOK = "Transformer, Piece by Piece"


class Answers(NamedTuple):
    """Whose a file is, and which questions are right: names such as "3.2", in the book's order."""

    who: str
    right: list[str]


def read_answers(path: str | Path) -> Answers:
    """Return what a file says; without a name in it, the file's own.

    Raises: ValueError for a file that is not one of this book.
    """
    path = Path(path)
    remedy = 'save it anew on the page "Your answers"'
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        fits = told["book"] == BOOK
        right = {one["exercise"] for one in told["answers"] if one["right"] is not None}
        who = str(told.get("who") or path.stem)
    except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError):
        fits = False
    require(fits, "path", str(path), "must be a file of answers from this book", remedy)
    return Answers(who, [name for name in names() if name in right])


def by_chapter(read: list[Answers]) -> str:
    """Return a table: a line for each file, and how many answers of each chapter are right."""
    asked = Counter(chapter(name) for name in names())
    rows = [["(asked)", *asked.values(), asked.total()]]
    for one in read:
        counts = Counter(map(chapter, one.right))
        rows.append([one.who, *(counts[number] for number in asked), len(one.right)])
    return tabulate(rows, ["name", *map(str, asked), "all"], tablefmt="simple")


def chapter(name: str) -> int:
    """3, of "3.2"."""
    return int(name.partition(".")[0])


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit("Say which files: python -m pieces.book.answers answers-*.json")
    try:
        print(by_chapter([read_answers(path) for path in sys.argv[1:]]))
    except ValueError as error:
        sys.exit(str(error))
