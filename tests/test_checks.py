import pytest
import torch

from pieces import checks

pytestmark = pytest.mark.usefixtures("unchecked")


def test_an_error_names_argument_value_rule_and_remedy():
    with pytest.raises(ValueError, match=r"^window = 0: must be big\. Remedy: pass more\.$"):
        checks.refuse("window", 0, "must be big", "pass more")
    with pytest.raises(TypeError, match=r"^name = 'x': must be y\. Remedy: pass y\.$"):
        checks.require(False, "name", "x", "must be y", "pass y", TypeError)
    assert checks.require(True, "name", "x", "must be y", "pass y") is None


@pytest.mark.parametrize("value", [True, False, 2.0, "2", None, torch.tensor(2)])
def test_require_int_refuses_other_types(value):
    with pytest.raises(TypeError, match=r"^n = .*neither a bool nor a float.*pass int\(n\)"):
        checks.require_int("n", value)


@pytest.mark.parametrize(("value", "minimum"), [(0, 1), (-1, 0), (4, 5)])
def test_require_int_refuses_small_numbers(value, minimum):
    with pytest.raises(ValueError, match=rf"^n = {value}: must be at least {minimum}"):
        checks.require_int("n", value, minimum=minimum)


def test_require_int_takes_whole_numbers():
    checks.require_int("n", 1)
    checks.require_int("n", 0, minimum=0)
    assert checks.default_int("n", None, 7) == 7
    assert checks.default_int("n", 3, 7) == 3
    with pytest.raises(ValueError, match="n = 0"):
        checks.default_int("n", 0, 7)


@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (2, 1), (1, 1), (4, 5, 2, 3), (1, 5, 1, 3)])
def test_require_broadcast_takes_what_stretches(shape):
    checks.require_broadcast("mask", torch.ones(shape), (4, 5, 2, 3))


@pytest.mark.parametrize(
    "shape", [(), (3,), (3, 2), (2, 4), (5, 2, 3), (4, 2, 3), (1, 2, 3), (4, 4, 2, 3), (1,) * 5]
)
def test_require_broadcast_refuses_the_rest(shape):
    with pytest.raises(ValueError, match=r"^mask\.shape = .*must be \[T, S\] or 4-D.*\[:, None\]"):
        checks.require_broadcast("mask", torch.ones(shape), (4, 5, 2, 3))
