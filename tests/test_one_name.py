"""One public class or function of a name in the package: a reader who looks for it finds it."""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "pieces"
TWICE: dict[str, str] = {}  # name: the reason why it may stand in two files


def test_no_public_name_is_defined_twice():
    files = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
            if isinstance(node, kinds) and not node.name.startswith("_"):
                files[node.name].append(str(file.relative_to(PACKAGE)))
    assert len(files) > 300
    several = {name: where for name, where in files.items() if len(where) > 1}
    assert several.keys() - TWICE.keys() == set(), several
    assert TWICE.keys() <= several.keys(), "no longer needed"
