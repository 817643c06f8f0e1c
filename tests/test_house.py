"""The house's limits, read from the syntax tree: small rooms, bare bodies, one thing of a name."""

import ast
import functools
import inspect
import json
import re
from pathlib import Path

import pieces

ROOT = Path(pieces.__file__).parent
CHAPTERS = Path(__file__).parents[1] / "chapters"
# Widgets and exercises have rules of their own: traits that check themselves, and answers.
PACKAGE = {
    str(path.relative_to(ROOT)): ast.parse(path.read_text())
    for path in sorted(ROOT.rglob("*.py"))
    if not path.is_relative_to(ROOT / "widgets") and path.parent.name != "exercises"
}

# A file above 200 lines, a function above 40 (forward: 25), each with its reason.
LONG = {
    "zoo/rows_first.py": "a table, its rows in the order of the source text",
    "zoo/rows_open.py": "a table, its rows in the order of the source text",
}


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
def shown():
    """What the chapters show of the package, by file and name."""
    return sorted(set(calls_of_code()))


def calls_of_code():
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
            if name not in known:  # a part of a model that a cell has made: type(model).forward
                continue
            thing = inspect.unwrap(functools.reduce(getattr, attributes, known[name]))
            file = Path(inspect.getsourcefile(thing)).relative_to(ROOT)
            yield str(file), thing.__qualname__


def object_named(tree, name):
    for part in name.split("."):
        tree = next(node for node in ast.walk(tree) if getattr(node, "name", None) == part)
    return tree


def too_long():
    """Files and functions above the limits, by name, with their lengths."""
    for name, tree in PACKAGE.items():
        if (length := len((ROOT / name).read_text().splitlines())) > 200:
            yield name, length
        for function in functions(tree):
            if (length := lines_of_code(function)) > (25 if function.name == "forward" else 40):
                yield f"{name}:{function.name}", length


def test_files_and_functions_are_short():
    assert {place: n for place, n in too_long() if place not in LONG} == {}


def test_each_exception_is_needed():
    assert set(LONG) - {place for place, _ in too_long()} == set()


def test_a_check_is_seen_in_any_dress():
    dressed = "require(a)\nself._refuse(x)\nrule, remedy = 'a', 'b'\nreturn_ = refuse_window(1)"
    assert len(checks_in(ast.parse(dressed))) == 4
    assert not checks_in(ast.parse("w.requires_grad_()\nrules = {}\nchecked(f)"))


TEACHING = ("divided", "agreed", "one_of", "filled")


def not_bare(thing):
    """The lines of a shown piece that are no mathematics.

    A rule that teaches something (``divided``) may stand there, once a function.
    """
    yield from (node.lineno for node in checks_in(thing))
    for function in functions(thing):
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        yield from [node.lineno for node in calls if called(node) in TEACHING][1:]


def test_what_the_chapters_show_holds_mathematics():
    assert ("attention/function.py", "attention") in shown()
    found = {f"{file}:{name}": [*not_bare(object_named(PACKAGE[file], name))]
             for file, name in shown()}  # fmt: skip
    assert {place: lines for place, lines in found.items() if lines} == {}


MULTI_HEAD, CACHED = "attention/multi_head.py", "attention/cached.py"


def test_multi_head_attention_is_one_straight_line():
    for file, name in ((MULTI_HEAD, "MultiHeadAttention"), (CACHED, "CachedAttention")):
        forward = object_named(PACKAGE[file], f"{name}.forward")
        assert not [n for n in ast.walk(forward) if isinstance(n, ast.If | ast.For)], name


def test_multi_head_attention_knows_neither_cache_nor_positions():
    imports = [n for n in ast.walk(PACKAGE[MULTI_HEAD]) if isinstance(n, ast.ImportFrom)]
    assert not [n.module for n in imports if re.search("cache|positions", n.module)]


def test_the_widgets_have_no_long_lines():
    scripts = sorted((ROOT / "widgets" / "static").rglob("*.js"))
    assert scripts
    lines = {script.name: script.read_text(encoding="utf-8").split("\n") for script in scripts}
    long = {(name, n) for name in lines for n, line in enumerate(lines[name], 1) if len(line) > 110}
    assert long == set()
