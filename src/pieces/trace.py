"""Watch a model at work: hooks that record inner values and then go away.

The parts of the package store nothing on themselves; what happens inside is seen from here.

    with record(model, outputs=["layers.*", nn.LayerNorm]) as trace:
        model(x)
    trace["layers.0.attention.core"]["weights"]      # [B, H, T, S], of the last call
    trace.calls("layers.0.attention.core")           # every call, first to last
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from typing import Any

from torch import Tensor, nn

from pieces.attention import AttentionCore
from pieces.checks import checked, refuse, require, require_instance

Selector = str | type[nn.Module]


@checked
class Trace(Mapping[str, dict[str, Any]]):
    """What was recorded: ``trace[name]`` is the last call of the module of that name, as a dict.

    Its keys: "output", and for an ``AttentionCore`` also "weights" [B, H, T, S] and what it was
    given: "queries" [B, H, T, K], "keys" and "values" [B, G, S, K], after rotation. Modules come in
    the order of their first call. Tensors are detached, not copied, on the model's device.
    """

    def __init__(self) -> None:
        self._calls: dict[str, list[dict[str, Any]]] = {}

    def calls(self, name: str) -> list[dict[str, Any]]:
        """Every recorded call of one module, first to last. Raises: KeyError, naming the known."""
        if name not in self._calls:
            raise KeyError(f"{name!r} recorded nothing; recorded were {self.names()}")
        return self._calls[name]

    def names(self) -> list[str]:
        """Names of the recorded modules, as in ``model.named_modules()``."""
        return list(self._calls)

    def __getitem__(self, name: str) -> dict[str, Any]:
        """The last call of one module."""
        return self.calls(name)[-1]

    def __iter__(self) -> Iterator[str]:
        """Names, in the order of the first calls."""
        return iter(self._calls)

    def __len__(self) -> int:
        """How many modules recorded something."""
        return len(self._calls)

    def __repr__(self) -> str:
        """Names and numbers of calls."""
        return f"Trace({', '.join(f'{name}: {len(c)} calls' for name, c in self._calls.items())})"


@checked
@contextmanager
def record(model: nn.Module, outputs: Sequence[Selector] = ()) -> Iterator[Trace]:
    """Record every attention weight of ``model``, and the outputs of the modules in ``outputs``.

    Inside the ``with``, each ``AttentionCore`` computes its weights explicitly: equal to the fused
    kernel to rounding. On leaving, also by an error, every hook is removed; the trace stays.
    A selector is a module type, or a dotted name in which * stands for one part ("layers.*.norm").
    """
    _refuse_compiled(model)
    modules = dict(model.named_modules())
    chosen = {name for selector in outputs for name in _find(modules, selector)}
    trace = Trace()
    with ExitStack() as hooks:
        for name, module in modules.items():
            is_core = isinstance(module, AttentionCore)
            if is_core:
                hook = module.register_forward_pre_hook(_ask_for_weights, with_kwargs=True)
                hooks.callback(hook.remove)
            if is_core or name in chosen:
                hook = module.register_forward_hook(_recorder(trace, name, is_core))
                hooks.callback(hook.remove)
        yield trace


def _refuse_compiled(model: nn.Module) -> None:
    """Refuse what ``torch.compile(model)`` returned, and what ``model.compile()`` changed."""
    for name, module in model.named_modules():
        compiled = hasattr(module, "_orig_mod") or module._compiled_call_impl is not None
        seen, remedy = name or type(module).__name__, "record the module given to torch.compile"
        require(not compiled, "model", seen, "must not be compiled", remedy)


def _find(modules: dict[str, nn.Module], selector: Selector) -> list[str]:
    """Names of the modules that a selector means."""
    if isinstance(selector, type):
        found = [name for name, module in modules.items() if isinstance(module, selector)]
    else:
        require_instance("outputs", selector, str, "pass a name, a pattern 'layers.*' or a class")
        found = [selector] if selector in modules else _matching(modules, selector)
    if not found:
        refuse("outputs", selector, "must find a module", f"choose from {list(modules)}")
    return found


def _matching(modules: Iterable[str], pattern: str) -> list[str]:
    """Part by part, so that "layers.*" means the layers and not all that is inside them."""
    patterns, split = pattern.split("."), {name: name.split(".") for name in modules}
    return [
        name
        for name, parts in split.items()
        if len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))
    ]


def _ask_for_weights(module: nn.Module, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """Forward pre-hook: the caller need not know that somebody watches."""
    return args, {**kwargs, "return_weights": True}


def _recorder(trace: Trace, name: str, is_core: bool) -> Callable[..., None]:
    """Forward hook that appends one call to the trace."""

    def hook(module: nn.Module, args: tuple, output: Any) -> None:
        call = {"output": _detached(output)}
        if is_core:
            call["output"], call["weights"] = call["output"]
            call |= zip(("queries", "keys", "values"), _detached(args), strict=False)
        trace._calls.setdefault(name, []).append(call)

    return hook


def _detached(value: Any) -> Any:
    """The same nest of tuples, lists and dicts, its tensors cut from the graph."""
    if isinstance(value, Tensor):
        return value.detach()
    if isinstance(value, dict):
        return {key: _detached(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        items = [_detached(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value
