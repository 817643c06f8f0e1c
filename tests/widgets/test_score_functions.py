"""ScoreFunctions from Python: its arguments, and what the browser computes from them."""

import math

import pytest

from pieces.widgets import ScoreFunctions


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("score", "cosine"), ("D", 3), ("D", 0), ("D", 2048), ("D", 2.0), ("temperature", 0),
        ("temperature", math.nan), ("n_keys", 1), ("n_keys", 13), ("seed", -1), ("query_x", 9.0),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused_by_name(argument, value):
    with pytest.raises(ValueError, match=rf"{argument} = .*Remedy") as error:
        ScoreFunctions(**{argument: value})
    assert repr(value) in str(error.value)


def test_says_its_settings():
    widget = ScoreFunctions(score="dot", D=64)
    assert repr(widget) == "ScoreFunctions: dot score, D = 64, 6 keys, temperature 1.0"


def test_refuses_a_size_that_is_no_power_of_two_after_it_is_made_too():
    widget = ScoreFunctions()
    with pytest.raises(ValueError, match=r"D = 3.*Remedy"):
        widget.D = 3
    assert widget.D == 16


def test_every_power_of_two_is_a_size():
    for exponent in range(11):
        widget = ScoreFunctions(D=2**exponent)
        assert widget.D == 2**exponent
