"""What the configs of all families share: each field is checked as soon as it is given."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from pieces.checks import (
    checked,
    require,
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
    ``kept`` is what a checkpoint's own config says beside, under its own names: the ids of special
    tokens, rates of dropout that the model here has no layer for. Nothing computes with it; it goes
    back with ``checkpoints.to_transformers``.
    """

    kept: dict = field(default_factory=dict, kw_only=True, hash=False)

    def __post_init__(self) -> None:
        """Check every field by its type."""
        hints = get_type_hints(type(self))
        for one in fields(self):
            if not one.metadata.get("own_check", False):
                least = one.metadata.get("least", 1)
                require_field(one.name, getattr(self, one.name), hints[one.name], least)


def require_field(name: str, value: Any, hint: Any, least: int) -> None:
    """Refuse a value that is not of this type."""
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


@checked
def builder(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A builder that takes the very config of its family, not one that says more.

    ``llama`` of a ``MistralConfig`` would leave its window out.
    """
    kind = build.__annotations__["config"]

    @functools.wraps(build)
    def of_its_own(config: Any) -> Any:
        rule, seen = f"must be a {kind.__name__}, and no other", type(config).__name__
        remedy = "build each config with the builder of its own file in pieces.models"
        require(type(config) is kind, "type(config)", seen, rule, remedy, TypeError)
        return build(config)

    return of_its_own
