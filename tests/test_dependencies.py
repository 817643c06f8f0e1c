"""What the package imports is declared, what it declares is imported, and the least is tested."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

import pieces

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BROUGHT = {"IPython": "ipywidgets", "traitlets": "ipywidgets"}  # by what is declared


def declared():
    needed = PROJECT["dependencies"]
    return needed + [one for more in PROJECT["optional-dependencies"].values() for one in more]


def imported():
    for file in Path(pieces.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                yield node.module.split(".")[0]


def test_the_package_imports_what_it_declares_and_declares_what_it_imports():
    foreign = set(imported()) - set(sys.stdlib_module_names) - {"pieces"}
    names = {re.match(r"[\w-]+", one)[0] for one in declared()}
    assert {BROUGHT.get(name, name) for name in foreign} == names


@pytest.mark.parametrize("requirement", declared())
def test_each_dependency_has_a_least_version(requirement):
    assert re.fullmatch(r"[\w-]+>=\d+(\.\d+)*(,<\d+(\.\d+)*)?", requirement)


def test_the_least_versions_are_tested():
    workflow = (ROOT / ".github/workflows/lowest.yml").read_text(encoding="utf-8")
    assert "--resolution lowest-direct" in workflow
    for extra in PROJECT["optional-dependencies"]:
        assert extra in workflow
    assert "--requirement tests/weights.txt" in workflow
    for tool in re.findall(r"echo (\S+) >> tools.txt", workflow):
        # without a bound, the lowest is the first one that there ever was
        assert re.fullmatch(r"'[\w-]+>=[\d.]+'", tool), tool


def test_the_head_of_a_gpt_neox_has_the_name_that_the_least_transformers_gives_it():
    """Up to 5.13 it was `embed_out`; what is written back has today's name."""
    (least,) = (one for one in declared() if one.startswith("transformers"))
    assert tuple(map(int, least.partition(">=")[2].split("."))) >= (5, 14)


def test_pins_are_within_the_ranges():
    pins = dict(re.findall(r"^([\w-]+)==([\d.]+)", (ROOT / "requirements.txt").read_text(), re.M))
    for requirement in declared():
        name, least = re.match(r"([\w-]+)>=([\d.]+)", requirement).groups()
        if name in pins:
            pinned, lowest = (tuple(map(int, v.split(".")[:3])) for v in (pins[name], least))
            assert pinned >= lowest, requirement
