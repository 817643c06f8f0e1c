"""What opens the hidden units of a trained model, as many stories have shown."""

import functools
import math
from typing import Any

from traitlets import TraitType

from pieces.book import measured
from pieces.checks import require


@functools.cache
def recorded() -> dict[str, dict[str, Any]]:
    """Return what experiments/hidden_units.py found: by "layer.unit", its words and its size."""
    units = measured.record_of("hidden_units")["units"]
    return {name: {"size": unit["size"], "words": unit["words"]} for name, unit in units.items()}


class Opened(TraitType):
    """By "layer.unit": the `size` of its largest value, and `words` as [id, mean value]."""

    def __init__(self):
        super().__init__(default_value={})
        self.tag(sync=True)

    def validate(self, obj: Any, value: Any) -> dict[str, dict[str, Any]]:
        """Return `value`, or raise `ValueError` where it says no such thing of some unit."""
        fits = isinstance(value, dict) and (
            value == recorded()  # of the book's model, and known to fit
            or all(
                isinstance(name, str) and isinstance(unit, dict) and told(unit)
                for name, unit in value.items()
            )
        )
        rule = 'a dict of "layer.unit": {"size": …, "words": [[id, mean], …]}'
        require(fits, self.name, "another form", rule, "leave it out")
        return value


def told(unit: dict[str, Any]) -> bool:
    """Return whether a unit's entry has its size and its words."""
    number = lambda x: isinstance(x, int | float) and math.isfinite(x)  # noqa: E731
    size, words = unit.get("size"), unit.get("words")
    listed = isinstance(words, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(map(number, pair)) for pair in words
    )
    return unit.keys() == {"size", "words"} and number(size) and size > 0 and listed
