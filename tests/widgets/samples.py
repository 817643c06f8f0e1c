"""One example of each widget of the book, found in the folder of its tests."""

import importlib
import re
from types import ModuleType

import torch

import pieces.widgets

NAMES = pieces.widgets.__all__
# Six tokens that nobody chose.
X = (3 * torch.randn(6, 3, generator=torch.Generator().manual_seed(4))).round(decimals=2)


def folder(name: str) -> str:
    """Return the folder of a widget, by its class name: "NormAxes" has norm_axes."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def beside(name: str, file: str) -> ModuleType:
    """Return `samples` or `expected` of a widget, by its class name."""
    return importlib.import_module(f"widgets.{folder(name)}.{file}")


def example(name: str, **more):
    """Return a widget by its class name; `more` are arguments.

    One that cannot be made without arguments has an `example` in its samples.
    """
    return getattr(beside(name, "samples"), "example", getattr(pieces.widgets, name))(**more)


def brief(name: str):
    """Return the example that is drawn soonest: `BRIEF` in its samples has its arguments.

    For tests that draw it hundreds of times, and ask nothing of how much there is to see.
    """
    return example(name, **getattr(beside(name, "samples"), "BRIEF", {}))
