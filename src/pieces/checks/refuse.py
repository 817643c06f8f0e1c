"""Errors that help: each names the argument, the value received, the rule and the remedy.

Here: the errors themselves, and those about numbers, functions and modules.
"""

import math
from collections.abc import Iterable
from types import UnionType
from typing import Any, NoReturn

import torch
from torch import nn


def refuse(
    argument: str, value: Any, rule: str, remedy: str, error: type[Exception] = ValueError
) -> NoReturn:
    """Raise ``error``: "argument = value: rule. Remedy: remedy."."""
    raise error(f"{argument} = {value!r}: {rule}. Remedy: {remedy}.")


def require(
    ok: bool,
    argument: str,
    value: Any,
    rule: str,
    remedy: str,
    error: type[Exception] = ValueError,
) -> None:
    """Refuse ``value`` unless ``ok``."""
    if not ok:
        refuse(argument, value, rule, remedy, error)


def require_int(argument: str, value: Any, minimum: int | None = 1) -> None:
    """Refuse what is not a whole number of at least ``minimum``; True and 2.0 are not numbers here.

    Raises: TypeError for another type, ValueError for a number that is too small.
    """
    if not isinstance(value, (int, torch.SymInt)) or isinstance(value, bool):
        rule = "must be an int (neither a bool nor a float)"
        refuse(argument, value, rule, f"pass int({argument})", TypeError)
    if minimum is not None and value < minimum:
        refuse(argument, value, f"must be at least {minimum}", f"pass {minimum} or more")


def require_number(argument: str, value: Any) -> None:
    """Refuse what is not a finite number. Raises: TypeError, ValueError."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    require(number, argument, value, "must be a number", f"pass float({argument})", TypeError)
    finite = -math.inf < value < math.inf  # math.isfinite would break a compiled graph
    require(finite, argument, value, "must be finite", "pass a number such as 1.0")


def require_module(argument: str, value: Any) -> None:
    """Refuse what is not an nn.Module, such as a size or a class. Raises: TypeError."""
    rule, remedy = "must be a module, already built", "pass an instance of nn.Module"
    require(isinstance(value, nn.Module), argument, value, rule, remedy, TypeError)


def require_bool(argument: str, value: Any) -> None:
    """Refuse what is neither True nor False. Raises: TypeError."""
    rule, remedy = "must be True or False", f"pass bool({argument})"
    require(isinstance(value, bool), argument, value, rule, remedy, TypeError)


def require_callable(argument: str, value: Any, example: str) -> None:
    """Refuse what is not a function or a module, such as its name or its class.

    Raises: TypeError.
    """
    if not callable(value) or isinstance(value, type):
        rule = "must be a function or a module, already built"
        refuse(argument, value, rule, f"pass {example}", TypeError)


def require_instance(argument: str, value: Any, kind: type | UnionType, remedy: str) -> None:
    """Refuse what is not of this kind: a name, a number, the class itself. Raises: TypeError."""
    rule = f"must be a {getattr(kind, '__name__', kind)}"
    require(isinstance(value, kind), argument, value, rule, remedy, TypeError)


def filled(argument: str, modules: Iterable[nn.Module]) -> nn.ModuleList:
    """Modules in order, one at least. Raises: TypeError, ValueError."""
    modules = list(modules)
    require(len(modules) > 0, argument, modules, "must not be empty", "pass at least one module")
    for index, module in enumerate(modules):
        require_module(f"{argument}[{index}]", module)
    return nn.ModuleList(modules)
