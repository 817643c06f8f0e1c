"""The house's limits, read from the syntax tree: small rooms, bare bodies, one thing of a name."""

import ast
import functools
import inspect
import json
import re
from pathlib import Path

import pytest

import pieces

ROOT = Path(pieces.__file__).parent
CHAPTERS = Path(__file__).parents[1] / "chapters"
# Widgets and exercises have rules of their own: traits that check themselves, and answers.
PACKAGE = {
    str(path.relative_to(ROOT)): ast.parse(path.read_text())
    for path in sorted(ROOT.rglob("*.py"))
    if path.relative_to(ROOT).parts[0] not in ("widgets", "exercises")
}
BODIES = {name: tree for name, tree in PACKAGE.items() if not name.startswith("checks/")}

# Longer than the house allows, each with its reason.
LONG_FILES = {
    "zoo/rows_first.py": "a table, its rows in the order of the source text",
    "zoo/rows_open.py": "a table, its rows in the order of the source text",
}
LONG_FUNCTIONS: dict[str, str] = {}


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def lines_of_code(node):
    """The lines of a function below its signature and docstring."""
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def called(node):
    """The name of what is called, with or without an object before it."""
    function = node.func
    return getattr(function, "id", getattr(function, "attr", ""))


def is_check(statement):
    """A statement that calls ``require``, ``refuse`` or their kin, or words a rule for them."""
    if not isinstance(statement, ast.Expr | ast.Assign | ast.Return):
        return False
    calls = (called(node) for node in ast.walk(statement) if isinstance(node, ast.Call))
    if any(re.match(r"_?(require|refuse)(_(?!grad)|$)", name) for name in calls):
        return True
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = {node.id for t in targets for node in ast.walk(t) if isinstance(node, ast.Name)}
    return bool(names & {"rule", "remedy"})


def checks_in(tree):
    return [node for node in ast.walk(tree) if is_check(node)]


@functools.cache
def check_lines(name):
    found = checks_in(BODIES[name])
    return len({n for node in found for n in range(node.lineno, node.end_lineno + 1)})


def shown():
    """What the chapters show of the package, by file and name."""
    for notebook in sorted(CHAPTERS.glob("*.ipynb")):
        cells = json.loads(notebook.read_text())["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        plain = re.sub(r"(?m)^( *)[%!].*", r"\1pass", "\n".join(texts))  # magics are no Python
        known, tree = {}, ast.parse(plain)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "pieces":
                exec(ast.unparse(node), known)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        for argument in (arg for call in calls if called(call) == "code" for arg in call.args):
            name, *attributes = ast.unparse(argument).split(".")
            thing = inspect.unwrap(functools.reduce(getattr, attributes, known[name]))
            file = Path(inspect.getsourcefile(thing)).relative_to(ROOT)
            yield str(file), thing.__qualname__


SHOWN = sorted(set(shown()))


def object_named(tree, name):
    for part in name.split("."):
        tree = next(node for node in ast.walk(tree) if getattr(node, "name", None) == part)
    return tree


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


def test_a_check_is_seen_in_any_dress():
    dressed = "require(a)\nself._refuse(x)\nrule, remedy = 'a', 'b'\nreturn_ = refuse_window(1)"
    assert len(checks_in(ast.parse(dressed))) == 4
    assert not checks_in(ast.parse("w.requires_grad_()\nrules = {}\nchecked(f)"))


def test_the_chapters_show_the_package():
    assert ("attention/function.py", "attention") in SHOWN
    assert len(SHOWN) >= 7


@pytest.mark.parametrize(("file", "name"), SHOWN)
def test_what_is_shown_holds_mathematics(file, name):
    """No check call; what teaches (``divided``) may stand there, once a function."""
    thing = object_named(PACKAGE[file], name)
    assert not checks_in(thing)
    for function in functions(thing):
        calls = [called(node) for node in ast.walk(function) if isinstance(node, ast.Call)]
        assert sum(name in ("divided", "agreed", "one_of", "filled") for name in calls) <= 1


MULTI_HEAD, CACHED = "attention/multi_head.py", "attention/cached.py"


@pytest.mark.parametrize(
    ("file", "name", "limit"),
    [(MULTI_HEAD, "MultiHeadAttention", 6), (CACHED, "CachedAttention", 12)],
)
def test_multi_head_attention_is_one_straight_line(file, name, limit):
    forward = object_named(PACKAGE[file], f"{name}.forward")
    assert lines_of_code(forward) <= limit
    nones = [n for n in ast.walk(forward) if isinstance(n, ast.Compare)]
    assert len(nones) <= 2
    assert not [n for n in ast.walk(forward) if isinstance(n, ast.If | ast.For)]


def test_multi_head_attention_knows_neither_cache_nor_positions():
    imports = [n for n in ast.walk(PACKAGE[MULTI_HEAD]) if isinstance(n, ast.ImportFrom)]
    assert not [n.module for n in imports if re.search("cache|positions", n.module)]


def test_the_widgets_have_no_long_lines():
    scripts = sorted((ROOT / "widgets" / "static").glob("*.js"))
    assert len(scripts) > 60
    lines = {script.name: script.read_text(encoding="utf-8").split("\n") for script in scripts}
    long = {(name, n) for name in lines for n, line in enumerate(lines[name], 1) if len(line) > 110}
    assert long == set()
