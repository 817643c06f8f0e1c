"""From an annotation to what it asks of a value: one small object for each kind of thing."""

from collections.abc import Callable
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import torch
from jaxtyping import AbstractArray
from torch import Tensor, nn

from pieces.checks.axes import Axes, EitherAxes, Scope
from pieces.checks.kinds import Divides, LeftOut
from pieces.checks.refuse import (
    refuse,
    require_bool,
    require_callable,
    require_int,
    require_module,
    require_number,
)
from pieces.checks.tensors import require_tensor


class Kind(NamedTuple):
    """What an annotation asks: whether it takes this type at all, and its check."""

    takes: Callable[[Any], bool]
    check: Callable[[str, Any, Scope], None]
    words: str
    runs: bool = False  # a function or a module, which brings code of its own
    left_out: str = ""  # the argument that stands in where this one is left out


def kind_of(hint: Any) -> Kind | None:
    """The kind of one annotation; None where anything may be passed."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(parts[0], parts[1:])
    if origin in (UnionType, Union):
        return _union(parts)
    if origin is Literal:
        return Kind(lambda value: isinstance(value, str), _one_of(parts), "a name")
    if _is_axes(hint):
        return Kind(_is_tensor, Axes(hint).check, str(Axes(hint)))
    if hint in SIMPLE:
        return SIMPLE[hint]
    if origin is tuple and parts and ... not in parts:
        return _tuple(tuple(kind_of(part) for part in parts))
    if origin is Callable:
        return SIMPLE[Callable]
    kind = origin or hint
    if kind in (Any, object) or not isinstance(kind, type):
        return None
    return _instance(kind)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_int(value: Any) -> bool:
    return isinstance(value, int | torch.SymInt) and not isinstance(value, bool)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def _is_axes(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, AbstractArray)


def _plain(
    takes: Callable[[Any], bool],
    require: Callable[[str, Any], None],
    words: str,
    runs: bool = False,
) -> Kind:
    return Kind(takes, lambda name, value, scope: require(name, value), words, runs)


def _callable(name: str, value: Any) -> None:
    require_callable(name, value, f"the {name} itself, not its name or class")


SIMPLE: dict[Any, Kind] = {
    bool: _plain(lambda value: isinstance(value, bool), require_bool, "True or False"),
    int: _plain(_is_int, lambda name, value: require_int(name, value, None), "an int"),
    float: _plain(_is_number, require_number, "a number"),
    Tensor: _plain(_is_tensor, require_tensor, "a tensor"),
    nn.Module: _plain(lambda value: isinstance(value, nn.Module), require_module, "a module", True),
    Callable: _plain(callable, _callable, "a function", True),
}


def _instance(kind: type) -> Kind:
    """An object of a class; a text does not pass for a list of letters."""
    no_text = kind is not str and issubclass(str, kind)

    def takes(value: Any) -> bool:
        return isinstance(value, kind) and not (no_text and isinstance(value, str))

    parts = _fields(kind)

    def check(name: str, value: Any, scope: Scope) -> None:
        if not takes(value):
            rule = f"must be a {kind.__name__}"
            refuse(name, value, rule, f"pass a {kind.__name__}, already built", TypeError)
        for field, part in parts.items():
            part.check(f"{name}.{field}", getattr(value, field), scope)

    return Kind(takes, check, f"a {kind.__name__}", issubclass(kind, nn.Module))


def _fields(kind: type) -> dict[str, Kind]:
    """What a named tuple holds is checked as if each part were passed."""
    named = issubclass(kind, tuple) and hasattr(kind, "_fields")
    hints = get_type_hints(kind, include_extras=True) if named else {}
    kinds = {name: kind_of(hint) for name, hint in hints.items()}
    return {name: part for name, part in kinds.items() if part is not None}


def _tuple(kinds: tuple[Kind | None, ...]) -> Kind:
    """A few things in a row, each of its kind; a list will do."""

    def check(name: str, value: Any, scope: Scope) -> None:
        if not isinstance(value, tuple | list) or len(value) != len(kinds):
            refuse(name, value, f"must be a tuple of {len(kinds)}", "pass one, in ()", TypeError)
        for at, (kind, item) in enumerate(zip(kinds, value, strict=True)):
            if kind is not None:
                kind.check(f"{name}[{at}]", item, scope)

    return Kind(lambda value: isinstance(value, tuple | list), check, f"a tuple of {len(kinds)}")


def _one_of(names: tuple) -> Callable[[str, Any, Scope], None]:
    def check(name: str, value: Any, scope: Scope) -> None:
        if value not in names:
            rule = f"must be {' or '.join(map(repr, names))}"
            refuse(name, value, rule, "name one of these")

    return check


def _annotated(base: Any, notes: tuple) -> Kind:
    """A kind with a range for numbers, or with rules between the axes of tensors."""
    rules = tuple(note for note in notes if isinstance(note, Divides))
    kind = kind_of(base)
    if rules and _is_axes(base):
        kind = kind._replace(check=Axes(base, rules).check)
    for note in notes:
        if isinstance(note, LeftOut):
            kind = kind._replace(left_out=note.means)

    def check(name: str, value: Any, scope: Scope) -> None:
        kind.check(name, value, scope)
        for note in notes:
            if hasattr(note, "check"):
                note.check(name, value, scope.arguments)

    return kind._replace(check=check)


def _union(parts: tuple) -> Kind | None:
    """Any of several kinds: the one that takes the value checks it."""
    optional = NoneType in parts
    parts = tuple(part for part in parts if part is not NoneType)
    if optional:  # an error names None among the names
        names = [get_args(part) if get_origin(part) is Literal else None for part in parts]
        parts = tuple(
            Literal[(*known, None)] if known else part
            for known, part in zip(names, parts, strict=True)
        )
    axes = [Axes(part) for part in parts if _is_axes(part)]
    kinds = [kind_of(part) for part in parts if not _is_axes(part)]
    if set(parts) == {int, float}:
        kinds = [SIMPLE[float]]
    if None in kinds:
        return None
    if axes:
        either = axes[0] if len(axes) == 1 else EitherAxes(axes)
        kinds.append(Kind(_is_tensor, either.check, " or ".join(map(str, axes))))

    def takes(value: Any) -> bool:
        return (optional and value is None) or any(kind.takes(value) for kind in kinds)

    def check(name: str, value: Any, scope: Scope) -> None:
        if optional and value is None:
            return
        taking = [kind for kind in kinds if kind.takes(value)] or kinds
        if len(taking) > 1 and not taking[0].takes(value):
            words = ", ".join(kind.words for kind in kinds)
            refuse(name, value, f"must be one of: {words}", "pass one of these", TypeError)
        taking[0].check(name, value, scope)

    words = " or ".join(kind.words for kind in kinds)
    return Kind(takes, check, words, any(kind.runs for kind in kinds))
