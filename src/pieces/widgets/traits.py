"""Trait types of the widgets: one control, one trait, one clear error.

What a trait may be is written here alone. `limits()` tells the page, whose sliders and readers take
their range, their options and their default from it. So does what reads a state out of a link
(`static/links.js`, by `kind`); a trait without limits is set by no link. What the page needs beside
its limits, a trait is tagged with: `Count(4, 1, 16).tag(told={"places": 64})`.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from traitlets import TraitType

from pieces.checks import require


class Count(TraitType):
    """An integer from `low` to `high`, both included; its slider or its film goes by `step`."""

    def __init__(self, default: int, low: int, high: int, step: int = 1):
        self.low, self.high, self.step = low, high, step
        super().__init__(default_value=default)
        self.tag(sync=True)

    def limits(self) -> dict[str, Any]:
        """Return what the page needs to know of its range."""
        limits = {"low": self.low, "high": self.high, "default": self.default_value}
        return {"kind": "count", "step": self.step} | limits

    def validate(self, obj: Any, value: Any) -> int:
        """Return `value`, or raise `ValueError` where it is no integer in range."""
        whole = isinstance(value, int) and not isinstance(value, bool)
        require(
            whole and self.low <= value <= self.high,
            self.name,
            value,
            f"an integer from {self.low} to {self.high}",
            "choose a value in that range",
        )
        return value


class Even(Count):
    """An even integer from `low` to `high`, both included."""

    def limits(self) -> dict[str, Any]:
        """Return its range, and that it is even."""
        return super().limits() | {"even": True}

    def validate(self, obj: Any, value: Any) -> int:
        """Return `value`, or raise `ValueError` where it is no even integer in range."""
        value = super().validate(obj, value)
        require(value % 2 == 0, self.name, value, "an even number", "choose 2, 4, 6, …")
        return value


class Real(TraitType):
    """A finite number from `low` to `high`, both included; its slider goes by `step`."""

    def __init__(
        self, default: int | float, low: int | float, high: int | float, step: float = 0.1
    ):
        self.low, self.high, self.step = low, high, step
        super().__init__(default_value=float(default))
        self.tag(sync=True)

    def limits(self) -> dict[str, Any]:
        """Return what the page needs to know of its range."""
        limits = {"low": self.low, "high": self.high, "default": self.default_value}
        return {"kind": "real"} | limits | {"step": self.step}

    def validate(self, obj: Any, value: Any) -> float:
        """Return `value` as a float, or raise `ValueError`."""
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        require(
            number and math.isfinite(value) and self.low <= value <= self.high,
            self.name,
            value,
            f"a finite number from {self.low} to {self.high}",
            "choose a value in that range",
        )
        return float(value)


class Switch(TraitType):
    """On or off."""

    def __init__(self, default: bool):
        super().__init__(default_value=default)
        self.tag(sync=True)

    def limits(self) -> dict[str, Any]:
        """Return what a link needs to know."""
        return {"kind": "switch"}

    def validate(self, obj: Any, value: Any) -> bool:
        """Return `value`, or raise `ValueError` where it is no bool."""
        require(isinstance(value, bool), self.name, value, "True or False", "pass a bool")
        return value


class Choice(TraitType):
    """One of a fixed set of words."""

    def __init__(self, default: str, options: Sequence[str]):
        self.options = tuple(options)
        super().__init__(default_value=default)
        self.tag(sync=True)

    def limits(self) -> dict[str, Any]:
        """Return what the page needs to know of its options."""
        return {"kind": "choice", "options": list(self.options), "default": self.default_value}

    def validate(self, obj: Any, value: Any) -> str:
        """Return `value`, or raise `ValueError` where it is none of the options."""
        require(
            isinstance(value, str) and value in self.options,
            self.name,
            value,
            f"one of {', '.join(map(repr, self.options))}",
            "check the spelling",
        )
        return value


class Text(TraitType):
    """A text of at most `longest` characters. It is only ever shown as text."""

    def __init__(self, default: str = "", longest: int = 2000):
        self.longest = longest
        super().__init__(default_value=default)
        self.tag(sync=True)

    def limits(self) -> dict[str, Any]:
        """Return what the page needs to know of its length."""
        return {"kind": "text", "longest": self.longest}

    def validate(self, obj: Any, value: Any) -> str:
        """Return `value`, or raise `ValueError` where it is no text or too long."""
        require(
            isinstance(value, str) and len(value) <= self.longest,
            self.name,
            value if not isinstance(value, str) else f"{len(value)} characters",
            f"a str of at most {self.longest} characters",
            "shorten it",
        )
        return value


class Words(TraitType):
    """A list of at most `most` short texts."""

    def __init__(self, default: Sequence[str] = (), most: int = 64):
        self.most = most
        super().__init__(default_value=list(default))
        self.tag(sync=True)

    def limits(self) -> dict[str, Any]:
        """Return what the page needs to know: its length, and its default."""
        return {"kind": "words", "most": self.most, "default": self.default_value}

    def validate(self, obj: Any, value: Any) -> list[str]:
        """Return `value` as a list, or raise `ValueError`."""
        listed = isinstance(value, (list, tuple)) and all(isinstance(w, str) for w in value)
        require(
            listed and len(value) <= self.most,
            self.name,
            value,
            f"a list of at most {self.most} str",
            "pass a list of strings",
        )
        return list(value)


class Numbers(TraitType):
    """A list of at most `most` finite numbers within ±`bound`; a slider of one goes by `step`."""

    def __init__(
        self,
        default: Sequence[int | float] = (),
        most: int = 12,
        bound: float = 1e6,
        step: float = 0.1,
    ):
        self.most, self.bound, self.step = most, bound, step
        super().__init__(default_value=[float(number) for number in default])
        self.tag(sync=True)

    def limits(self) -> dict[str, Any]:
        """Return what the page needs to know of its length and its numbers."""
        told = {"most": self.most, "bound": self.bound, "step": self.step}
        return {"kind": "numbers"} | told

    def validate(self, obj: Any, value: Any) -> list[float]:
        """Return `value` as a list of floats, or raise `ValueError`."""
        listed = isinstance(value, (list, tuple)) and len(value) <= self.most
        fits = listed and all(
            isinstance(number, (int, float))
            and not isinstance(number, bool)
            and abs(number) <= self.bound
            for number in value
        )
        rule = f"a list of at most {self.most} finite numbers"
        require(fits, self.name, value, rule, "pass a list of numbers")
        return [float(number) for number in value]


class Matrix(TraitType):
    """A matrix of finite numbers: nested lists, an array or a tensor. Kept as nested lists.

    `rows` and `columns` fix a side where they are given. Every entry lies in ±`bound`; its slider
    goes by `step`.
    """

    def __init__(
        self,
        default: Sequence[Sequence[int | float]] = (),
        rows: int | None = None,
        columns: int | None = None,
        bound: int | float = 1e6,
        step: float = 0.1,
    ):
        self.rows, self.columns, self.bound, self.step = rows, columns, bound, step
        super().__init__(default_value=[list(row) for row in default])
        self.tag(sync=True)

    def limits(self) -> dict[str, Any]:
        """Return what the page needs to know of its entries, and of sides that are fixed."""
        sides = {"rows": self.rows, "columns": self.columns}
        told = {"kind": "matrix", "bound": self.bound, "step": self.step}
        return told | {k: n for k, n in sides.items() if n}

    def validate(self, obj: Any, value: Any) -> list[list[float]]:
        """Return `value` as nested lists of floats, or raise `ValueError`."""
        shape = f"{self.rows or 'any number of'} × {self.columns or 'any number of'}"
        rule = f"a {shape} matrix of finite numbers within ±{self.bound:g}"
        remedy = "pass nested lists or a tensor of that shape, without NaN"
        try:
            table = torch.as_tensor(value, dtype=torch.float64)
        except (TypeError, ValueError, RuntimeError):
            table = None
        require(table is not None and table.ndim == 2, self.name, value, rule, remedy)
        fits = self.rows in (None, table.shape[0]) and self.columns in (None, table.shape[1])
        finite = bool(table.isfinite().all()) and bool((table.abs() <= self.bound).all())
        require(fits and finite, self.name, value, rule, remedy)
        return table.tolist()


class Cells(TraitType):
    """A list of cells [row, column], both from 0."""

    def __init__(self):
        super().__init__(default_value=[])
        self.tag(sync=True)

    def limits(self) -> dict[str, Any]:
        """Return what a link needs to know."""
        return {"kind": "cells"}

    def validate(self, obj: Any, value: Any) -> list[list[int]]:
        """Return `value` as a list of pairs, or raise `ValueError`."""
        pairs = isinstance(value, (list, tuple)) and all(
            isinstance(cell, (list, tuple))
            and len(cell) == 2
            and all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in cell)
            for cell in value
        )
        require(pairs, self.name, value, "a list of [row, column]", "count both from 0")
        return [list(cell) for cell in value]


class Placed(TraitType):
    """A list of pairs [place, word]: places from 1 to `high`, none of them twice."""

    longest = 40  # characters of a word

    def __init__(self, high: int):
        self.high = high
        super().__init__(default_value=[])
        self.tag(sync=True)

    def limits(self) -> dict[str, Any]:
        """Return what the page and a link need to know."""
        return {"kind": "placed", "high": self.high, "most": self.high, "longest": self.longest}

    def validate(self, obj: Any, value: Any) -> list[list[Any]]:
        """Return `value` as a list of pairs, or raise `ValueError`."""
        pairs = isinstance(value, (list, tuple)) and all(
            isinstance(pair, (list, tuple))
            and len(pair) == 2
            and isinstance(pair[0], int)
            and not isinstance(pair[0], bool)
            and 1 <= pair[0] <= self.high
            and isinstance(pair[1], str)
            and len(pair[1]) <= self.longest
            for pair in value
        )
        rule = f"a list of [place, word], each place from 1 to {self.high} once"
        once = pairs and len({pair[0] for pair in value}) == len(value)
        require(once, self.name, value, rule, "count the places from 1")
        return [list(pair) for pair in value]


class Result(TraitType):
    """Something the browser computed, for Python to read. `None` until it has."""

    def __init__(self):
        super().__init__(default_value=None, allow_none=True)
        self.tag(sync=True)

    def validate(self, obj: Any, value: Any) -> Any:
        """Accept whatever the browser sends."""
        return value
