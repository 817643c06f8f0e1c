"""What a tensor must be, read from its annotation: ``Float[Tensor, "B T D"]``.

An axis has the same size wherever its letter stands in one call. In a method, a letter that names
a size of the module (D is ``self.d_model``) must have that size. ``#T`` may also be 1.
"""

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from pieces.checks.kinds import Divides
from pieces.checks.refuse import refuse
from pieces.checks.tensors import require_flags, require_float, require_whole

# The alphabet of axes (the book's notation page), and what a module calls their sizes.
SIZES = {
    "D": "d_model",
    "C": "d_context",
    "F": "d_ff",
    "V": "vocab_size",
    "E": "n_experts",
    "K": "head_dim",
    "R": "rotary_dim",
    "H": "n_heads",
    "Kq": "query_dim",
    "Kk": "key_dim",
}
KINDS = {"Float": require_float, "Int": require_whole, "Bool": require_flags}


@dataclass
class Scope:
    """What one call knows: its arguments, its module, and where each axis was first seen."""

    arguments: dict[str, Any] = field(default_factory=dict)
    owner: Any = None
    sizes: dict[str, tuple[Any, str]] = field(default_factory=dict)

    def size(self, axis: str) -> tuple[Any, str] | None:
        """The size an axis must have, and who says so; None if nothing does yet."""
        if axis in self.sizes or self.owner is None:
            return self.sizes.get(axis)
        size = vars(self.owner).get(SIZES.get(axis))
        return None if size is None else (size, SIZES[axis])


class Axes:
    """One annotation of a tensor: its kind of numbers, and its axes by letter."""

    def __init__(self, hint: Any, rules: tuple[Divides, ...] = ()) -> None:
        self.require_kind = KINDS[hint.dtype.__name__]
        names = hint.dim_str.split()
        many = [i for i, name in enumerate(names) if name.startswith(("*", "..."))]
        self.lead = many[0] if many else None  # where any number of axes may stand
        self.first = names[: self.lead] if many else names
        self.last = names[self.lead + 1 :] if many else []
        self.group = names[self.lead].lstrip("*#") if many else ""
        self.stretches = bool(many) and "#" in names[self.lead]
        self.rules = rules
        places = [*enumerate(self.first), *enumerate(self.last, -len(self.last))]
        self.places = [
            (at, name.lstrip("#"), name.startswith("#"))
            for at, name in places
            if not name.lstrip("#").startswith(("{", "_"))
        ]

    def takes_kind(self, value: Any) -> bool:
        """Whether its numbers are of the kind."""
        try:
            self.require_kind("", value)
        except TypeError:
            return False
        return True

    def fits_rank(self, value: Any) -> bool:
        """Whether it is a tensor with as many axes as there are letters."""
        n = len(self.first) + len(self.last)
        return isinstance(value, Tensor) and (
            value.ndim == n if self.lead is None else value.ndim >= n
        )

    def check(self, name: str, value: Any, scope: Scope) -> None:
        """Refuse another kind of tensor, another number of axes, another size."""
        self.require_kind(name, value)
        if not self.fits_rank(value):
            self._refuse_rank(name, value)
        shape = value.shape
        for at, letter, stretches in self.places:
            size = shape[at]
            if stretches and size == 1:
                continue
            known = scope.size(letter)
            if letter.isdigit():
                known = (int(letter), "")
            if known is None:
                scope.sizes[letter] = (size, name)
            elif size != known[0]:
                self._refuse_size(name, value, at % len(shape), letter, known)
        if self.lead is not None and self.group not in ("", "..."):
            end = len(shape) - len(self.last)
            self._check_group(name, value, tuple(value.shape[self.lead : end]), scope)
        for rule in self.rules:
            self._check_rule(name, value, rule, scope)

    def _check_group(self, name: str, value: Tensor, sizes: tuple, scope: Scope) -> None:
        known, source = scope.sizes.setdefault(self.group, (sizes, name))
        same = sizes == known
        if self.stretches and len(sizes) == len(known):
            same = all(n in (1, m) for n, m in zip(sizes, known, strict=True))
        if not same:
            rule = f"must begin with {known}, as {source}"
            refuse(f"{name}.shape", tuple(value.shape), rule, f"make {name} and {source} agree")

    def _check_rule(self, name: str, value: Tensor, rule: Divides, scope: Scope) -> None:
        part, whole = scope.size(rule.part), scope.size(rule.whole)
        if part and whole and (part[0] == 0 or whole[0] % part[0]):
            text = f"its {rule.part} (axis 1) must divide the {whole[0]} heads of {whole[1]}"
            remedy = "choose n_kv_heads that divides n_heads"
            refuse(f"{name}.shape", tuple(value.shape), text, remedy)

    def __str__(self) -> str:
        """As in the book: "[B, T, D]"."""
        middle = [] if self.lead is None else ["..."]
        return f"[{', '.join(x.lstrip('#') for x in [*self.first, *middle, *self.last])}]"

    def _refuse_rank(self, name: str, value: Tensor) -> None:
        n, rule = len(self.first) + len(self.last), f"must be {self}"
        if self.lead is None:
            rule = f"must be {n}-D {self}"
        remedy = f"pass a tensor {self}"
        if value.ndim == n - 1:
            remedy = f"add the batch axis: {name}[None]"
            if n > 3:
                remedy = "add the missing batch or head axis with [None] or [:, None]"
        refuse(f"{name}.shape", tuple(value.shape), rule, remedy)

    def _refuse_size(self, name: str, value: Tensor, at: int, letter: str, known: tuple) -> None:
        size, source = known
        place = "the last axis" if at == value.ndim - 1 else f"axis {at}"
        if not source:
            rule, remedy = f"{place} must be {size}", f"pass {self}"
        elif source in SIZES.values():
            rule = f"{place} must be {size}, the module's {source}"
            remedy = f"pass {size} numbers there, or build the module for {value.shape[at]}"
        else:
            rule = f"must be {self}, and {place} ({letter}) must be {size}, as in {source}"
            remedy = f"make {name} and {source} agree"
        refuse(f"{name}.shape", tuple(value.shape), rule, remedy)


class EitherAxes:
    """Several annotations of one tensor: the one with its number of axes, else the nearest."""

    def __init__(self, choices: list[Axes]) -> None:
        self.choices = choices

    def check(self, name: str, value: Any, scope: Scope) -> None:
        """As the choice that fits; where none has this number of axes, all are named."""
        of_its_kind = [x for x in self.choices if x.takes_kind(value)] or self.choices
        for choice in of_its_kind:
            if choice.fits_rank(value):
                return choice.check(name, value, scope)
        of_its_kind[0].require_kind(name, value)
        rule = f"must be {' or '.join(map(str, self.choices))}"
        remedy = f"pass {self.choices[-1]}"
        if value.ndim == 3:
            remedy = "write x[:, None] for one [T, S] a sequence, x[None] for one a head"
        return refuse(f"{name}.shape", tuple(value.shape), rule, remedy)
