"""``@checked``: the annotations of a function, or of a module's methods, hold when it is called.

Checks are declared, not written. What an argument must be stands in its annotation; this decorator
reads it once and refuses what does not fit by name, with the value, the rule and the remedy.

The outermost call checks, and a call inside it trusts it, so long as all that stands between the
two is the package's own: a model asks once, not in each layer, and a reader's layer inside it is
asked like anyone else. What is built is always checked, whoever builds it, a loader too.
What is put together from modules of its caller's, or takes ``**options``, vouches for nothing
inside. At the seams, where tensors of several origins meet, every call checks, unless the layer
before was given the very same. Compiled code does not check.
"""

import functools
import inspect
import sys
import threading
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_type_hints

import torch

from pieces.checks.axes import Scope
from pieces.checks.hints import Kind, kind_of

HAND_ON = {  # modules whose functions stand between two of ours and only pass a call on
    "torch.nn.modules.module",
    "torch.autograd.function",
    "torch.utils._contextlib",
    "jaxtyping._decorator",
}


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
_bodies: set[int] = set()  # the code of our checked functions: what these call is called by us
MODULE_CALL = torch.nn.Module._call_impl.__code__


@functools.cache
def _is_ours(module: str) -> bool:
    return module.startswith("pieces.") or module in HAND_ON


def _all_ours(frame: Any) -> bool:
    """Whether nothing but the package stands between this frame and the checked call around it."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module == __name__ or not _is_ours(module):
            return module == __name__
        frame = frame.f_back
    return False


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
            built = name == "__init__"
            setattr(thing, name, _checked_function(member, built or always, shields and not built))
    return thing


def _checked_function(
    function: Callable, always: bool | tuple[str, ...], shields: bool
) -> Callable:
    if not any(p.name != "self" for p in inspect.signature(function).parameters.values()):
        return function
    plan = functools.cache(lambda: _Plan(function))  # at the first call: all names exist by then
    compiling = torch.compiler.is_compiling
    seam = always if isinstance(always, tuple) else ()
    if _is_ours(function.__module__):
        _bodies.add(id(inspect.unwrap(function).__code__))

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if compiling():
            return function(*args, **options)
        trusted = _trust.inside
        if trusted:
            caller = sys._getframe(1)
            if caller.f_code is MODULE_CALL:  # torch's own way from module(x) to forward(x)
                caller = sys._getframe(3)
            trusted = id(caller.f_code) in _bodies or _all_ours(caller)
        if trusted and not always:
            return function(*args, **options)
        given = always is True or any(options.get(name) is not None for name in seam)
        if trusted and not given:
            return function(*args, **options)
        asked = _asked(args, options) if trusted and seam else None
        if asked and _trust.knows(function, asked):
            return function(*args, **options)
        closed = plan().check(args, options)
        if asked:
            _trust.seen[function] = asked
        if trusted:
            return function(*args, **options)
        before = _trust.inside, _trust.seen
        _trust.inside, _trust.seen = closed and shields, {}
        try:
            return function(*args, **options)
        finally:
            _trust.inside, _trust.seen = before

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
        self.shields = not foreign

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
