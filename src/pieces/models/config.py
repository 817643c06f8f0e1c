"""What the configs of all families share: each field is checked as soon as it is given."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from pieces.checks import (
    require_bool,
    require_callable,
    require_instance,
    require_int,
    require_positive,
)


@dataclass(frozen=True)
class Config:
    """Sizes and options of a model, refused by name if they cannot be.

    Whole numbers are at least 1 (or ``least`` in the field's metadata), other numbers above 0; a
    field that may be None is left out so. Whether one size divides another is seen when the model
    is built.
    Raises: TypeError, ValueError.
    """

    def __post_init__(self) -> None:
        """Check every field by its type."""
        hints = get_type_hints(type(self))
        for field in fields(self):
            if not field.metadata.get("own_check", False):
                least = field.metadata.get("least", 1)
                require_field(field.name, getattr(self, field.name), hints[field.name], least)


def require_field(name: str, value: Any, hint: Any, least: int) -> None:
    """Refuse a value that is not of this type. Raises: TypeError, ValueError."""
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    if value is None and NoneType in kinds:
        return
    kind = kinds[0]
    if get_origin(kind) is Callable:
        require_callable(name, value, "a function, not its name")
    elif kind is bool:
        require_bool(name, value)
    elif kind is int:
        require_int(name, value, minimum=least)
    elif kind is float:
        require_positive(name, value)
    else:
        require_instance(name, value, kind, f"pass a {kind.__name__}")
