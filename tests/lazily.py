"""What tests load when they use it, not when they are collected: so one small test starts fast."""

import importlib
from collections.abc import Callable
from typing import Any

from beartype import beartype as written


def beartype(function: Callable[..., Any]) -> Callable[..., Any]:
    """The type checker of the tests: ``function``, checked from its first call on.

    beartype writes a checking function when it decorates one. A test calls a few of the package's
    hundreds, so each is written when it is first called.
    """
    checked = None

    def call(*args, **kwargs):
        nonlocal checked
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
