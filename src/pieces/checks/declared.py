"""``@checked``: the annotations of a function, or of a module's methods, hold when it is called.

Checks are declared, not written. What an argument must be stands in its annotation; this decorator
reads it once and refuses what does not fit by name, with the value, the rule and the remedy.

The outermost call checks, and the calls inside it trust it: a model asks once, not in each layer.
What runs code of its caller's (a function or module passed in, ``**options``) is no such call, and
at the seams, where tensors of several origins meet, every call checks, unless the layer before was
given the very same. Compiled code does not check.
"""

import functools
import inspect
import threading
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_type_hints

import torch

from pieces.checks.axes import Scope
from pieces.checks.hints import Kind, kind_of


class _Trust(threading.local):
    """Whether this thread is inside a call that has been checked, and what its seams have seen."""

    inside = False

    def __init__(self) -> None:
        self.seen: dict[Callable, list] = {}

    def knows(self, function: Callable, asked: list) -> bool:
        """Whether this seam has just let through the very same objects, of another layer."""
        last = self.seen.get(function)
        return last is not None and len(last) == len(asked) and all(map(_same, last, asked))


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is tuple and a == b)


def _asked(args: tuple, options: dict[str, Any]) -> list:
    """What a check would look at: the kinds of the arguments by place, the others themselves.

    Those are held until the outermost call returns, so that no other object takes their place.
    """
    kinds = [
        (a.shape, a.dtype)
        if isinstance(a, torch.Tensor)
        else (type(a), *(v for v in getattr(a, "__dict__", {}).values() if type(v) is int))
        for a in args
    ]
    return [*kinds, tuple(options), *options.values()]


_trust = _Trust()


def checked(
    thing: Any = None, *, always: bool | tuple[str, ...] = False, shields: bool = True
) -> Any:
    """Check the arguments of a function, or of a class's public methods, by their annotations.

    ``always``: also inside a call that has been checked; names of arguments: if one is given.
    ``shields=False``: calls inside it are checked as well, for what is put together from modules of
    its caller's.

    Raises, when called: TypeError for another kind of thing, ValueError for another size.
    """
    if thing is None:
        return functools.partial(checked, always=always, shields=shields)
    if not inspect.isclass(thing):
        return _checked_function(thing, always, shields)
    for name, member in list(vars(thing).items()):
        public = name in ("__init__", "__getitem__") or not name.startswith("_")
        if inspect.isfunction(member) and public:
            setattr(thing, name, _checked_function(member, always, shields))
    return thing


def _checked_function(
    function: Callable, always: bool | tuple[str, ...], shields: bool
) -> Callable:
    if not any(p.name != "self" for p in inspect.signature(function).parameters.values()):
        return function
    plan = functools.cache(lambda: _Plan(function))  # at the first call: all names exist by then
    compiling = torch.compiler.is_compiling
    seam = always if isinstance(always, tuple) else ()

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if _trust.inside and not always:
            return function(*args, **options)
        given = always is True or any(options.get(name) is not None for name in seam)
        if compiling() or (_trust.inside and not given):
            return function(*args, **options)
        asked = _asked(args, options) if _trust.inside and seam else None
        if asked and _trust.knows(function, asked):
            return function(*args, **options)
        closed = plan().check(args, options)
        if asked:
            _trust.seen[function] = asked
        if _trust.inside or not (closed and shields):
            return function(*args, **options)
        _trust.inside = True
        try:
            return function(*args, **options)
        finally:
            _trust.inside = False
            _trust.seen.clear()

    return call


class _Plan:
    """What the annotations of one function ask."""

    def __init__(self, function: Callable) -> None:
        parameters = inspect.signature(function).parameters.values()
        hints = get_type_hints(function, include_extras=True)
        self.names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        self.defaults = {p.name: p.default for p in parameters}
        self.is_method = self.names[:1] == ["self"]
        single = [p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
        kinds = {name: kind_of(hints[name]) for name in single if name in hints}
        self.kinds = {name: kind for name, kind in kinds.items() if kind is not None}
        open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)
        foreign = open_ended or any(kind.runs for kind in self.kinds.values())
        self.shields = not foreign and function.__name__ != "__init__"

    def check(self, args: tuple, options: dict[str, Any]) -> bool:
        """Check what was passed (defaults are right). Returns whether inner calls may trust it."""
        passed = dict(zip(self.names, args, strict=False)) | options
        scope = Scope(self.defaults | passed, passed.get("self") if self.is_method else None)
        for name, kind in self.kinds.items():
            value = passed.get(name)
            if value is None and kind.left_out in passed:
                value = passed[kind.left_out]
            if value is not None or name in passed:
                kind.check(name, value, scope)
        return self.shields


def check_fields(config: Any) -> None:
    """As ``@checked``, for the fields of a dataclass, from its ``__post_init__``."""
    for name, kind in _fields(type(config)).items():
        kind.check(name, getattr(config, name), Scope(vars(config)))


@functools.cache
def _fields(config: type) -> dict[str, Kind]:
    hints = get_type_hints(config, include_extras=True)
    kinds = {field.name: kind_of(hints[field.name]) for field in fields(config)}
    return {name: kind for name, kind in kinds.items() if kind is not None}
