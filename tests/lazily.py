"""What tests load when they use it, not when they are collected: so one small test starts fast."""

import importlib
from collections.abc import Callable
from typing import Any

import jaxtyping
from beartype import beartype as written

# How many checks of arguments and results a test gets, and how many it has left.
CHECKS = 1000
_left = [CHECKS]


def check_again() -> None:
    """Types are checked from here on, as often as ``CHECKS`` says."""
    _left[0] = CHECKS
    jaxtyping.config.update("jaxtyping_disable", False)


def beartype(function: Callable[..., Any]) -> Callable[..., Any]:
    """The type checker of the tests: ``function``, checked from its first call on.

    beartype writes a checking function when it decorates one. A test calls a few of the package's
    hundreds, so each is written when it is first called. A test that computes for long is checked
    at its beginning: what comes after a thousand checks is more of the same, at twice the time.
    """
    checked = None

    def call(*args, **kwargs):
        nonlocal checked
        _left[0] -= 1
        if not _left[0]:
            jaxtyping.config.update("jaxtyping_disable", True)
        if checked is None:
            checked = written(function)
        return checked(*args, **kwargs)

    return call


class Module:
    """A module that is imported when a test first uses it: ``hf = Module("transformers")``."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)
