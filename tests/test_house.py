"""The house's limits, read from the syntax tree: small rooms, bare bodies, one thing of a name."""

import ast
import functools
from pathlib import Path

import pytest

import pieces

ROOT = Path(pieces.__file__).parent
PACKAGE = {
    str(path.relative_to(ROOT)): ast.parse(path.read_text())
    for path in sorted(ROOT.rglob("*.py"))
    if path.relative_to(ROOT).parts[0] not in ("widgets", "exercises")
}
BODIES = {name: tree for name, tree in PACKAGE.items() if not name.startswith("checks/")}

# Longer than the house allows, each with its reason.
LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def lines_of_code(node):
    """The lines of a function below its signature and docstring."""
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def check_calls(node):
    """Calls of ``require``, ``refuse`` and their kin, which raise and give nothing back."""
    for call in ast.walk(node):
        name = getattr(getattr(call, "func", None), "id", "")
        if name.startswith(("require", "refuse")):
            yield call


@functools.cache
def check_lines(name):
    """Lines that check: the calls, what only they use, and their import."""
    lines = set()
    for node in ast.walk(BODIES[name]):
        words = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).strip("()")
        if words in ("rule", "remedy", "rule, remedy"):
            lines |= set(range(node.lineno, node.end_lineno + 1))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pieces.checks"):
            lines |= set(range(node.lineno, node.end_lineno + 1))
    for call in check_calls(BODIES[name]):
        lines |= set(range(call.lineno, call.end_lineno + 1))
    return len(lines)


@pytest.mark.parametrize("name", PACKAGE)
def test_a_file_holds_one_concept(name):
    length = len((ROOT / name).read_text().splitlines())
    assert length <= 200 or name in LONG_FILES, f"{name}: {length} lines"


@pytest.mark.parametrize("name", PACKAGE)
def test_functions_are_short(name):
    for function in functions(PACKAGE[name]):
        limit = 25 if function.name == "forward" else 40
        length, place = lines_of_code(function), f"{name}:{function.name}"
        assert length <= limit or place in LONG_FUNCTIONS, f"{place}: {length} lines"


@pytest.mark.parametrize("name", [*LONG_FILES, *LONG_FUNCTIONS])
def test_an_exception_is_needed(name):
    file, _, function = name.partition(":")
    if not function:
        assert len((ROOT / file).read_text().splitlines()) > 200
    else:
        lengths = [lines_of_code(f) for f in functions(PACKAGE[file]) if f.name == function]
        assert max(lengths) > (25 if function == "forward" else 40)


def test_checks_are_declared_not_written():
    assert sum(map(check_lines, BODIES)) <= 220
    raises = sum(text.count("Raises:") for text in ((ROOT / name).read_text() for name in PACKAGE))
    assert raises <= 60
