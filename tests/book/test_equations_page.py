"""The page of equations: each number once, its function and its test there, its chapters right."""

import ast
import importlib
import re

from browser import ROOT, book_pages
from chapter_text import markdown, notebook

PAGE = (ROOT / "chapters" / "appendix" / "equations.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (5\.\d+) \| .* \| (\w+) \| ([^|]*) \| ([^|]*); `(\w+)` \|$", re.M)
ROWS = ROW.findall(PAGE)
CHAPTERS = [page for page in book_pages() if re.search(r"/\d\d_", page)]
PLACE = re.compile(r"\(\.\./(\w+)\.ipynb(?:#([\w-]+))?\)")
LOST = {f"5.{n}" for n in (*range(12, 16), 21, 22, *range(26, 35), 36)}
INFERRED = {f"5.{n}" for n in range(26, 35)}  # no number of theirs stands in a chapter


def test_every_number_has_a_row():
    assert [number for number, *_ in ROWS] == [f"5.{n}" for n in range(1, 37)]
    assert {number for number, state, *_ in ROWS if state == "missing"} == LOST


def test_every_row_has_its_test():
    """Named after the number, and none is left over."""
    tree = ast.parse((ROOT / "tests" / "test_equations.py").read_text(encoding="utf-8"))
    tests = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    tests = [name for name in tests if name.startswith("test_")]
    assert [name for *_, name in ROWS] == tests
    assert tests == [f"test_5_{int(number[2:]):02}" for number, *_ in ROWS]


def test_what_computes_it_is_in_the_package():
    for name in re.findall(r"`([a-z_]+(?:\.\w+)+)`", PAGE):
        module, _, thing = name.rpartition(".")
        assert callable(getattr(importlib.import_module(f"pieces.{module}"), thing)), name


def test_a_number_stands_in_the_chapters_that_its_row_names():
    told = {number: {page for page, _ in PLACE.findall(where)} for number, _, where, *_ in ROWS}
    found = {number: set() for number in told}
    for chapter in CHAPTERS:
        for number in re.findall(r"\\tag\{(5\.\d+)\}", markdown(notebook(chapter))):
            found[number].add(chapter.rpartition("/")[2])
    for number in told:
        if number in INFERRED:
            assert told[number]
            assert not found[number]
        else:
            assert told[number] == found[number], number


def test_the_places_are_there(site):
    for page, anchor in PLACE.findall(PAGE):
        text = (site / "chapters" / f"{page}.html").read_text(encoding="utf-8")
        assert f'id="{anchor}"' in text or not anchor, (page, anchor)
