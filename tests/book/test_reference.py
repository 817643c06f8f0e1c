"""The reference page: every public module is on it, and docstrings survive as they are typed."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pieces
import reference

PAGE = Path(__file__).parents[2] / "chapters" / "appendix" / "reference.md"
INNER = {  # what is of use to the package itself only
    "pieces.checks.axes",
    "pieces.checks.declared",
    "pieces.checks.hints",
    "pieces.checks.kinds",
    "pieces.checks.refuse",
    "pieces.checks.tensors",
    "pieces.models.fit",
    "pieces.attention.tiles",
    "pieces.checkpoints.family",
    "pieces.checkpoints.layouts",
    "pieces.checkpoints.rope",
}
FAMILIES = re.compile(r"pieces\.(checkpoints\.\w+|zoo\.\w+|widgets.*|book\.(exercises|figures).*)")


def modules():
    found = pkgutil.walk_packages(pieces.__path__, "pieces.")
    return {module.name for module in found if not module.ispkg}


def listed():
    return set(re.findall(r"automodule:: (\S+)", PAGE.read_text(encoding="utf-8")))


def test_every_module_is_listed():
    assert listed() <= modules()
    missing = modules() - listed() - INNER
    assert {name for name in missing if not FAMILIES.fullmatch(name)} == set()


def test_whatever_a_package_exports_is_listed():
    for package in ("cache", "checkpoints", "moe", "positions", "train", "zoo"):
        module = importlib.import_module(f"pieces.{package}")
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                assert thing.__module__ in listed(), f"{package}.{name}"


def test_a_formula_is_a_block_and_a_sentence_is_not():
    lines = reference.plain(
        ["Attend.", "", "y = w * x_1 | z", "", "It is 2 * x_ in `all`: see ``a*b_``.", ""]
    )
    assert lines[lines.index("    y = w * x_1 | z") - 3] == ".. code-block:: text"
    assert r"It is 2 \* x\_ in \`all\`: see ``a*b_``." in lines


def test_labels_begin_their_own_paragraphs():
    text = "Source: A 2020, 3. Shapes: x [D]\n-> [D]. Raises: ValueError if not."
    found = [line for line in reference.plain(["First.", "", *text.splitlines()]) if line]
    assert found[1:] == [
        "**Source:** A 2020, 3.",
        "**Shapes:** x [D] -> [D].",
        "**Raises:** ValueError if not.",
    ]


def test_checks_and_private_names_are_left_out():
    left_out = [
        reference.skip(None, "module", name, None, False, None) for name in ("_x", "require_x")
    ]
    assert left_out == [True, True]
    assert reference.skip(None, "module", "generate", None, False, None) is None


def test_a_class_without_a_constructor_takes_nothing():
    assert reference.signature(None, "class", "", None, None, "(*args, **kwargs)", None) == (
        "()",
        None,
    )
    assert reference.signature(None, "class", "", None, None, "(size)", None) is None
