"""One class, function or type of a name in the package: a reader who looks for it finds it."""

import ast
import re
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "pieces"
TWICE = {  # name: the reason why it may stand in two files
    "ask": "what the book asks its reader, and what somebody in a story asks",
}
# A figure and a checker are found by their chapter; a class has a name of its own there too.
BY_CHAPTER = ("figures", "exercises")


def aliases(tree):
    """Names of types: capitalised, with the shape or the union that they stand for."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):
            for target in node.targets:
                if re.fullmatch(r"([A-Z][a-z]+)+", getattr(target, "id", "")):
                    yield target.id


def definitions(tree, kinds=(ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
    """Public classes and functions."""
    for node in tree.body:
        if isinstance(node, kinds) and not node.name.startswith("_"):
            yield node.name


def test_a_name_has_one_meaning_and_a_type_one_name():
    files = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        kinds = [(ast.ClassDef,)] if file.parent.name in BY_CHAPTER else []
        defined = definitions(tree, *kinds)
        for name in (*aliases(tree), *defined):
            files[name].append(str(file.relative_to(PACKAGE)))
    assert "Block" in files
    assert files["Mask"] == ["types.py"]
    several = {name: where for name, where in files.items() if len(where) > 1}
    assert several.keys() - TWICE.keys() == set(), several
    assert TWICE.keys() <= several.keys(), "no longer needed"


# What stands under a widget's name and under a chapter's: each is found in one step.
OF_A_WIDGET = (
    "src/pieces/widgets/{name}.py",
    "src/pieces/widgets/static/{name}/{name}.js",
    "src/pieces/widgets/static/{name}/{name}.css",
    "tests/widgets/{name}/test_{name}.py",
    "tests/widgets/{name}/expected.py",
    "tests/widgets/{name}/samples.py",
    "tests/widgets/{name}/faults.yaml",
)
OF_A_CHAPTER = (
    "chapters/{number}_{name}.ipynb",
    "src/pieces/book/questions/{number}_{name}.toml",
    "src/pieces/book/figures/{name}.py",
    "src/pieces/book/exercises/{name}.py",
    "tests/chapters/test_{number}_{name}.py",
    "tests/exercises/test_{name}.py",
)
ROOT = Path(__file__).parents[1]
# Rooms in which each file belongs to a chapter.
ONLY_CHAPTERS = ("questions/*.toml", "exercises/*.py")
SHARED = {"__init__", "verdict"}


def test_a_widget_is_found_by_its_name():
    lines = (PACKAGE / "widgets" / "__init__.py").read_text(encoding="utf-8")
    found = re.findall(r"^from pieces\.widgets\.(\w+) import (\w+) as \2$", lines, flags=re.M)
    assert ("rotary_clock", "RotaryClock") in found
    for name, cls in found:
        assert cls.lower() == name.replace("_", ""), "the file carries the class's name"
        missing = [place for place in OF_A_WIDGET if not (ROOT / place.format(name=name)).is_file()]
        assert missing == [], name
    folders = {p.name for p in (PACKAGE / "widgets" / "static").iterdir() if p.is_dir()}
    assert folders == {name for name, _ in found} | {"kit", "twin", "stories"}


def test_a_chapter_is_found_by_its_name():
    chapters = [p.stem.split("_", 1) for p in sorted((ROOT / "chapters").glob("*_*.ipynb"))]
    assert ["12", "positional_encoding"] in chapters
    for number, name in chapters:
        places = [place.format(number=number, name=name) for place in OF_A_CHAPTER]
        assert [place for place in places if not (ROOT / place).is_file()] == []
    names = {name for _, name in chapters}
    for room in ONLY_CHAPTERS:
        stems = {re.sub(r"^\d+_", "", p.stem) for p in (PACKAGE / "book").glob(room)}
        assert stems - SHARED == names, room
