"""What a number may be: names for annotations, ``d_model: Size``, that the checks can read."""

import math
from dataclasses import dataclass
from typing import Annotated, Any

from pieces.checks.refuse import refuse

Number = int | float


@dataclass(frozen=True)
class Range:
    """Numbers between bounds; a bound left out is not there."""

    at_least: Number = -math.inf
    above: Number = -math.inf
    at_most: Number = math.inf
    below: Number = math.inf

    def check(self, name: str, value: Any) -> None:
        """Refuse a number outside. Raises: ValueError."""
        low = value >= self.at_least and value > self.above
        if not (low and value <= self.at_most and value < self.below):
            refuse(name, value, f"must be {self}", f"pass a number {self}")

    def __str__(self) -> str:
        """In words: "at least 0 and below 1"."""
        bounds = {"at least": self.at_least, "above": self.above}
        bounds |= {"at most": self.at_most, "below": self.below}
        return " and ".join(f"{k} {v}" for k, v in bounds.items() if math.isfinite(v))


@dataclass(frozen=True)
class Divides:
    """Of a tensor: the size of one axis divides that of another, ``Divides("G", "H")``."""

    part: str
    whole: str


@dataclass(frozen=True)
class DivisorOf:
    """Of a number: it divides another argument of the same call."""

    other: str

    def check(self, name: str, value: Any, arguments: dict[str, Any]) -> None:
        """Refuse a number that does not. Raises: ValueError."""
        divided(**{self.other: arguments[self.other], name: value})


@dataclass(frozen=True)
class LeftOut:
    """An argument left out is another one: it must fit in its place as well."""

    means: str


def divided(**sizes: int) -> int:
    """The first size over the second, which must divide it: ``divided(d_model=8, n_heads=2)``.

    Raises: ValueError.
    """
    (whole, size), (part, n) = sizes.items()
    if n == 0 or size % n:
        refuse(part, n, f"must divide {whole} = {size}", f"choose a divisor of {whole}")
    return size // n


Size = Annotated[int, Range(at_least=1)]  # of an axis, a window, a number of layers
Count = Annotated[int, Range(at_least=0)]
Positive = Annotated[Number, Range(above=0)]
NotNegative = Annotated[Number, Range(at_least=0)]
Share = Annotated[Number, Range(at_least=0, below=1)]  # of what is dropped
Probability = Annotated[Number, Range(above=0, at_most=1)]
