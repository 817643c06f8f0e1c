"""What Python refuses, and how it says so."""

import math

import pytest
import torch
from traitlets import HasTraits

from pieces.widgets import traits

pytestmark = pytest.mark.usefixtures("unchecked")


class Holder(HasTraits):
    count = traits.Count(3, 1, 8)
    real = traits.Real(0.5, 0.0, 1.0)
    switch = traits.Switch(False)
    choice = traits.Choice("a", ("a", "b"))
    text = traits.Text("", 5)
    words = traits.Words((), 3)
    matrix = traits.Matrix(((0.0, 0.0),), rows=1, columns=2, bound=10.0)
    cells = traits.Cells()
    placed = traits.Placed(4)
    result = traits.Result()


GOOD = [
    ("count", 1, 1),
    ("count", 8, 8),
    ("real", 0, 0.0),
    ("real", 1.0, 1.0),
    ("switch", True, True),
    ("choice", "b", "b"),
    ("text", "<b>&", "<b>&"),
    ("words", ("x", "y"), ["x", "y"]),
    ("words", [], []),
    ("matrix", [[1, 2]], [[1.0, 2.0]]),
    ("matrix", torch.tensor([[1.0, -10.0]]), [[1.0, -10.0]]),
    ("cells", [(0, 1), [2, 3]], [[0, 1], [2, 3]]),
    ("placed", [(4, "a"), [1, ""]], [[4, "a"], [1, ""]]),
    ("placed", [], []),
    ("result", None, None),
    ("result", {"any": [1]}, {"any": [1]}),
]
BAD = {
    "count": [0, 9, -1, 1.0, True, "3", None, math.nan, math.inf, [3], torch.tensor(3)],
    "real": [-0.01, 1.01, math.nan, math.inf, -math.inf, True, "0.5", None, [0.5]],
    "switch": [0, 1, "True", None, [True]],
    "choice": ["c", "A", "", None, 1, ["a"]],
    "text": ["123456", 5, None, ["a"], b"abc"],
    "words": ["abc", ["a"] * 4, [1], [None], None, {"a": 1}, [["a"]]],
    "matrix": [
        [[1.0]],
        [[1, 2], [3, 4]],
        [1, 2],
        [],
        [[math.nan, 1]],
        [[math.inf, 1]],
        [[11, 0]],
        [["a", "b"]],
        [[1, 2], [3]],
        None,
        "text",
        {},
        torch.zeros(1, 2, 1),
    ],
    "placed": [
        [[0, "a"]],
        [[5, "a"]],
        [[1, "a"], [1, "b"]],
        [[1]],
        [[1, 1]],
        [["1", "a"]],
        [[True, "a"]],
        [[1.0, "a"]],
        [[1, "a" * 41]],
        [None],
        None,
        "ab",
    ],
    "cells": [
        [[0]],
        [[0, 1, 2]],
        [[-1, 0]],
        [[0.0, 1]],
        [[True, 0]],
        [None],
        None,
        "ab",
        [["a", 0]],
    ],
}


@pytest.mark.parametrize(("name", "given", "kept"), GOOD)
def test_keeps_a_good_value(name, given, kept):
    value = getattr(Holder(**{name: given}), name)
    assert value == kept
    assert type(value) is type(kept)


@pytest.mark.parametrize(("name", "bad"), [(n, b) for n, values in BAD.items() for b in values])
def test_refuses_a_bad_value_and_keeps_the_old_one(name, bad):
    holder = Holder()
    before = getattr(holder, name)
    with pytest.raises(ValueError, match=rf"^{name}\b") as error:
        setattr(holder, name, bad)
    assert len(str(error.value)) > len(name) + 20, "name, value, rule and remedy"
    assert getattr(holder, name) == before


@pytest.mark.parametrize(
    ("name", "bad", "shown"),
    [("count", 99, "99"), ("real", math.nan, "nan"), ("choice", "z", "'z'"), ("switch", 1, "1")],
)
def test_an_error_shows_the_value(name, bad, shown):
    with pytest.raises(ValueError, match=name) as error:
        setattr(Holder(), name, bad)
    assert shown in str(error.value)


def test_a_list_given_is_not_shared():
    words, cells = ["a"], [[0, 1]]
    holder = Holder(words=words, cells=cells)
    words.append("b")
    cells[0][0] = 9
    assert holder.words == ["a"]
    assert holder.cells == [[0, 1]]
    assert Holder().words is not Holder().words


@pytest.mark.parametrize("name", Holder.class_trait_names())
def test_every_trait_reaches_the_browser(name):
    assert Holder.class_traits(sync=True)[name]
