"""What a number may be: names for annotations, ``d_model: Size``, that the checks can read."""

import math
import operator
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pieces.checks.refuse import refuse

Number = int | float


@dataclass(frozen=True)
class Range:
    """Numbers between bounds; a bound left out is not there. ``even``: a multiple of two."""

    at_least: Number = -math.inf
    above: Number = -math.inf
    at_most: Number = math.inf
    below: Number = math.inf
    even: bool = False

    def check(self, name: str, value: Any, arguments: dict[str, Any]) -> None:
        """Refuse a number outside. Raises: ValueError."""
        low = value >= self.at_least and value > self.above
        odd = self.even and value % 2
        if not (low and value <= self.at_most and value < self.below) or odd:
            refuse(name, value, f"must be {self}", f"pass a number {self}")

    def __str__(self) -> str:
        """In words: "at least 0 and below 1"."""
        bounds = {"at least": self.at_least, "above": self.above}
        bounds |= {"at most": self.at_most, "below": self.below}
        words = [f"{k} {v}" for k, v in bounds.items() if math.isfinite(v)]
        return " and ".join(["even"] * self.even + words)


@dataclass(frozen=True)
class Compared:
    """Of a number: how it stands to another argument of the same call, if that is given."""

    words: str
    other: str

    def check(self, name: str, value: Any, arguments: dict[str, Any]) -> None:
        """Refuse a number that does not. Raises: ValueError."""
        other = arguments.get(self.other)
        if other is not None and not COMPARED[self.words](value, other):
            rule = f"must be {self.words} {self.other} = {other}"
            refuse(name, value, rule, f"change {name} or {self.other}")


COMPARED = {
    "at least": operator.ge,
    "above": operator.gt,
    "at most": operator.le,
    "below": operator.lt,
}


@dataclass(frozen=True)
class OneOf:
    """One of a few: the keys of a table, or a handful of values."""

    known: Container

    def check(self, name: str, value: Any, arguments: dict[str, Any]) -> None:
        """Refuse another. Raises: ValueError."""
        one_of(name, value, self.known)


@dataclass(frozen=True)
class Filled:
    """Of a text or a list: there is something in it."""

    def check(self, name: str, value: Any, arguments: dict[str, Any]) -> None:
        """Refuse an empty one. Raises: ValueError."""
        if not (value.strip() if isinstance(value, str) else len(value)):
            refuse(name, value, "must not be empty", f"say or name something in {name}")


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


@dataclass(frozen=True)
class Once:
    """Of a list: each thing stands in it once."""

    def check(self, name: str, value: Any, arguments: dict[str, Any]) -> None:
        """Refuse one that repeats itself. Raises: ValueError."""
        if len(set(value)) != len(value):
            refuse(name, value, f"must name each once in {name}", "leave out what is named twice")


@dataclass(frozen=True)
class AtMostAxis:
    """Of a number: at most the size of the last axis of a tensor of the same call."""

    tensor: str

    def check(self, name: str, value: Any, arguments: dict[str, Any]) -> None:
        """Refuse a larger one. Raises: ValueError."""
        size = arguments[self.tensor].shape[-1]
        if value > size:
            rule = f"must be at most {size}, the last axis of {self.tensor}"
            refuse(name, value, rule, "choose fewer, or build more")


@dataclass(frozen=True)
class Knows:
    """Of an object: it has this attribute."""

    attribute: str
    example: str

    def check(self, name: str, value: Any, arguments: dict[str, Any]) -> None:
        """Refuse one that has not. Raises: TypeError."""
        if not hasattr(value, self.attribute):
            rule = f"must know its {self.attribute}"
            refuse(name, type(value).__name__, rule, f"pass {self.example}", TypeError)


def one_of(argument: str, value: Any, known: Container) -> Any:
    """``value``, which must be one of the known; of a table, what it stands for.

    Raises: ValueError.
    """
    if value not in known:
        rule = f"must be one of {', '.join(map(str, known))}"
        refuse(argument, value, rule, "choose one of these")
    return known[value] if isinstance(known, Mapping) else value


def agreed(size: str, **parts: Any) -> None:
    """Parts that know this size of theirs must have the same. Raises: ValueError."""
    known = {name: getattr(part, size) for name, part in parts.items() if hasattr(part, size)}
    if len(set(known.values())) > 1:
        (first, wanted), *_, (last, seen) = known.items()
        refuse(
            f"{last}.{size}", seen, f"must be {wanted}, as of {first}", "build both for one size"
        )


def divided(**sizes: int) -> int:
    """The first size over the second, which must divide it: ``divided(d_model=8, n_heads=2)``.

    Raises: ValueError.
    """
    (whole, size), (part, n) = sizes.items()
    if n == 0 or size % n:
        refuse(part, n, f"must divide {whole} = {size}", f"choose a divisor of {whole}")
    return size // n


Size = Annotated[int, Range(at_least=1)]  # of an axis, a window, a number of layers
Natural = Annotated[int, Range(at_least=0)]  # an id, an index, a number of steps
EvenSize = Annotated[int, Range(at_least=2, even=True)]
Positive = Annotated[Number, Range(above=0)]
NotNegative = Annotated[Number, Range(at_least=0)]
Share = Annotated[Number, Range(at_least=0, below=1)]  # of what is dropped
Probability = Annotated[Number, Range(above=0, at_most=1)]
