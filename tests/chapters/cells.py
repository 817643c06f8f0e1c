"""The code of a chapter's cells, for tests that run what a reader runs."""

import re
from functools import cache
from typing import Any

import nbformat

from browser import ROOT
from notebook_lines import is_starter

FOLDED = {"remove-cell", "remove-input", "hide-cell"}


@cache
def cells(chapter: str) -> tuple:
    """Return the cells of a chapter."""
    return tuple(nbformat.read(ROOT / "chapters" / f"{chapter}.ipynb", as_version=4).cells)


def cell(chapter: str, mark: str) -> str:
    """Return the code of the first cell that has this in it."""
    code = (each.source for each in cells(chapter) if each.cell_type == "code")
    return next(source for source in code if mark in source)


def run(chapter: str, until: str = "## Exercises") -> dict[str, Any]:
    """Return the variables that a chapter's imports and open cells leave, up to a heading.

    A widget's own cell is run where its variable is used further down.
    """
    names: dict[str, Any] = {}
    for one in cells(chapter):
        if one.cell_type == "markdown" and until in one.source.splitlines():
            break
        kept = one.cell_type == "code" and not FOLDED & set(one.metadata.get("tags", []))
        named = one.cell_type == "code" and re.match(r"\w+ = [A-Z]\w+\(", one.source)
        if (kept or named) and not is_starter(one.source):
            exec(one.source, names)
    return names
