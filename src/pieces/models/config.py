"""What the configs of all families share: each field is checked as soon as it is given."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pieces.checks import check_fields, checked, refuse


@dataclass(frozen=True)
class Config:
    """Sizes and options of a model, refused by name if they cannot be.

    Each field is checked by its annotation (``pieces.checks``). Whether one size divides another is
    seen when the model is built.
    ``kept`` is what a checkpoint's own config says beside, under its own names: the ids of special
    tokens, rates of dropout that the model here has no layer for. Nothing computes with it; it goes
    back with ``checkpoints.to_transformers``.
    """

    kept: dict = field(default_factory=dict, kw_only=True, hash=False)

    def __post_init__(self) -> None:
        """Check every field by its type."""
        check_fields(self)


@checked
def builder(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A builder that takes the very config of its family, not one that says more.

    ``llama`` of a ``MistralConfig`` would leave its window out.
    """
    kind = build.__annotations__["config"]

    @functools.wraps(build)
    def of_its_own(config: Any) -> Any:
        if type(config) is not kind:
            rule, seen = f"must be a {kind.__name__}, and no other", type(config).__name__
            refuse("type(config)", seen, rule, "use the builder of its own file", TypeError)
        return build(config)

    return of_its_own
