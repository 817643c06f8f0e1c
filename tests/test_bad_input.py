"""Every argument of every public part, made wrong in each way that its kind allows.

The sweep takes a call that works (``examples.py``), spoils one argument at a time, and wants an
error that names it and says what to do. Wrong *shapes* differ from part to part; they stand in the
parts' own tests.
"""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import pieces
from examples import CALLS, FORWARDS

pytestmark = pytest.mark.usefixtures("unchecked")
EXAMPLES = CALLS | FORWARDS
MODULES = [
    found.name
    for found in pkgutil.walk_packages(pieces.__path__, "pieces.")
    if not found.name.startswith(
        ("pieces.widgets", "pieces.book.exercises", "pieces.book.figures", "pieces.checks")
    )
]
INNER = {
    "one_kernel",  # for those who have checked
    "split_heads",
    "merge_heads",
    "NormHead",  # pieces.zoo's own
    "LearnedTwice",
    "QueryAttention",
    "ClosingBlock",
}
ALLOWED = {("masks.padding", "lengths", "a list")}  # more than one kind is welcome there


def wrong_tensors(value):
    yield "a list", value.tolist()
    if value.is_floating_point():
        yield "whole numbers", value.long()
    elif value.dtype == torch.bool:
        yield "floats", value.float()
    else:
        yield "floats", value.float()
        yield "bools", value.bool()


def wrong(value):
    """Values of the wrong kind in place of ``value``, by name."""
    if isinstance(value, Tensor):
        yield from wrong_tensors(value)
    elif isinstance(value, bool):
        yield from (("a word", "no"), ("its name", "False"), ("a number", 1))
    elif isinstance(value, int):
        yield from (("text", "3"), ("a float", 2.5), ("a bool", True), ("negative", -1))
    elif isinstance(value, float):
        yield from (("text", "0.5"), ("not a number", float("nan")), ("a bool", True))
    elif isinstance(value, str):
        yield from (("a number", 3), ("an unknown name", "no such"))
    else:
        yield from (("text", "relu"), ("a number", 3))
        if isinstance(value, nn.Module):
            yield "a class", type(value)


def complaint(name, argument, bad, errors=(TypeError, ValueError)):
    """What is wrong with the error that a bad argument meets, or None."""
    call, arguments = EXAMPLES[name]()
    try:
        call(**arguments | {argument: bad})
    except errors as error:
        named = re.search(rf"\b{argument}\b", str(error)) and "Remedy: " in str(error)
        return None if named else f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "taken in silence"


def test_the_examples_themselves_work():
    for name, make in EXAMPLES.items():
        if not name.startswith("checkpoints"):
            call, arguments = make()
            try:
                call(**arguments)
            except Exception as error:
                error.add_note(f"in the example {name}")
                raise


def test_a_wrong_argument_is_refused_by_name():
    wrongly = {
        f"{name}, {argument}, {how}": complaint(name, argument, bad)
        for name, make in EXAMPLES.items()
        for argument, value in make()[1].items()
        for how, bad in wrong(value)
        if (name, argument, how) not in ALLOWED
    }
    assert len(wrongly) > len(EXAMPLES)
    assert {case: said for case, said in wrongly.items() if said} == {}


def public():
    """What the package offers: its modules, and whatever its packages export."""
    for module in map(importlib.import_module, MODULES):
        exported = getattr(module, "__all__", [])
        for name, thing in vars(module).items():
            here = getattr(thing, "__module__", "") == module.__name__ and not name.startswith("_")
            is_part = inspect.isclass(thing) and issubclass(thing, nn.Module) and here
            if is_part or (inspect.isfunction(thing) and name in exported):
                yield name, thing


def test_no_public_part_is_left_out():
    called = {name.split(".")[-1].split(",")[0] for name in CALLS}
    run = {re.split(r"[.,]", name)[0] for name in FORWARDS}
    for name, thing in public():
        if name in INNER:
            continue
        if inspect.isfunction(thing) or "__init__" in vars(thing):
            assert name in called, f"{name}: no example of a call"
        if inspect.isclass(thing):
            assert name in run, f"{name}: no example of forward"


def test_no_family_is_left_out():
    folder = Path(pieces.__file__).parent / "models"
    families = {found.name for found in pkgutil.iter_modules([str(folder)])}
    families -= {"config", "decoder_only", "fit"}
    assert {f"models.{family}" for family in families} <= set(CALLS)


def flags():
    """Every flag of every public part, whether its example gives it or not."""
    for name, make in EXAMPLES.items():
        call = make()[0]
        try:
            parameters = inspect.signature(call).parameters
        except ValueError:
            continue
        for argument, parameter in parameters.items():
            if isinstance(parameter.default, bool):
                yield name, argument, False
            elif argument in OPTIONAL_FLAGS and parameter.default is None:
                yield name, argument, True


OPTIONAL_FLAGS = {"out_bias"}


def test_a_flag_is_true_or_false_and_nothing_else():
    wrongly = {
        (name, argument, repr(bad)): complaint(name, argument, bad, TypeError)
        for name, argument, optional in flags()
        for bad in ("no", "False", 1, 0.0, *(() if optional else (None,)))
    }
    assert {case: said for case, said in wrongly.items() if said} == {}
    swept = {(name.split(".")[-1].split(",")[0], argument) for name, argument, _ in wrongly}
    for part, flag in (
        ("LayerNorm", "bias"),
        ("MultiHeadAttention", "bias"),
        ("MultiHeadAttention", "out_bias"),
        ("T5Buckets", "bidirectional"),
        ("YaRN", "truncate"),
        ("generate", "use_cache"),
        ("TrainConfig", "bf16"),
    ):
        assert (part, flag) in swept, (part, flag)
