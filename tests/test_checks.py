import re
from pathlib import Path

import pytest
import torch

from pieces import checks

ROOT = Path(checks.__file__).parents[1]
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


def test_every_check_is_used_by_the_package():
    """A check that nothing asks for is dead: it reads like a rule, and is none."""
    source = {path: path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py")}
    for name in checks.__all__:
        uses = [
            line
            for path, text in source.items()
            if path.parent.name != "checks" or path.name != "__init__.py"
            for line in text.splitlines()
            if re.search(rf"\b{name}\b", line)
            and not re.match(rf"(from .* import|def {name}\b|class {name}\b|    {name},$)", line)
        ]
        assert uses, f"{name} is asked for nowhere"
