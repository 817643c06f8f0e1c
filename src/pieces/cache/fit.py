"""Whether a cache fits the layers that will write to it, and what is left when they fail."""

import math
from collections.abc import Callable
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from pieces.cache.none import NoCache
from pieces.cache.protocol import Cache, LayerCache
from pieces.checks import checked, refuse, require, require_instance


def require_fit(cache: Cache, stack: nn.Module, mask: Tensor | None, T: int) -> None:
    """Refuse a cache that has too few layers, or drops keys that the next T tokens may see.

    A mask [.., T, S] that hides every dropped key does the work of a window.
    """
    require_instance("cache", cache, Cache, "pass GrowingCache()")
    if cache.n_layers is not None:
        needed, rule = len(stack.blocks), f"the model has {len(stack.blocks)} layers"
        require(cache.n_layers >= needed, "cache.n_layers", cache.n_layers, rule, "give it more")
    if cache.window is None:
        return
    if cache.widest is None or cache.length() == 0:
        cache.widest = widest_window(stack)
    if cache.widest <= cache.window:
        return
    dropped = cache.length() + T - cache.reach(T)
    if mask is None or mask.shape[-2] != T or bool(mask[..., :dropped].any()):
        refuse_window(cache.window, cache.widest)


def require_layer_fit(cache: LayerCache, core: nn.Module, T: int, **wide: Tensor | None) -> None:
    """The same for an attention layer alone, and its mask and bias; without a cache all fits."""
    if isinstance(cache.cache, NoCache) or torch.compiler.is_compiling():
        return
    S, seen = cache.reach(T), getattr(core, "window", None)
    for name, x in wide.items():
        if x is not None and x.shape[-1] not in (1, S):
            rule = f"the last axis must be {S}, all keys that the cache gives"
            refuse(f"{name}.shape", tuple(x.shape), rule, "cut it to these")
    window, mask = cache.window, wide["mask"]
    told = (
        window is None or getattr(cache.cache, "widest", None) is not None
    )  # a model has looked at it
    if not told and (seen is None or seen > window) and (mask is None or mask.shape[-2] != T):
        refuse_window(window, math.inf if seen is None else seen)


def refuse_window(window: int, widest: float) -> NoReturn:
    """Say how far back a layer looks, and how little the cache keeps."""
    seen = "all keys" if widest == math.inf else f"the last {widest:.0f} keys"
    remedy = "build the layers with CausalCore(window=...), or pass GrowingCache()"
    refuse("cache", f"window {window}", f"a layer looks back at {seen}", remedy)


@checked
def widest_window(stack: nn.Module) -> float:
    """How many keys back the furthest-seeing layer of a stack looks; inf: at all of them.

    A layer's window is its core's. Cross-attention looks at another text.
    """
    layers = [x for name, x in stack.named_modules() if not name.endswith("cross_attention")]
    windows = [getattr(x.core, "window", None) for x in layers if hasattr(x, "core")]
    return max([0.0] + [math.inf if window is None else float(window) for window in windows])


@checked
def all_or_nothing(
    written: Any, call: Callable[..., Tensor], *given: Any, **options: Any
) -> Tensor:
    """``call(...)``; if it fails in the middle, the cache ``written`` is as it was before."""
    if written is None:
        return call(*given, **options)
    mark = written.mark()
    try:
        return call(*given, **options)
    except BaseException:
        written.rewind(mark)
        raise
