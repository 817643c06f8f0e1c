"""Whether token ids, a mask, a cache and an encoding fit a model, seen before it runs."""

import torch
from torch import Tensor, nn

from pieces.cache import Cache
from pieces.cache.fit import require_fit
from pieces.checks import checked, refuse, require, require_ids, require_mask
from pieces.positions import PositionalEncoding, TransformerXLRelative


@checked
def cached_positions(T: int, cache: Cache | None, device: torch.device) -> Tensor:
    """Where T new tokens stand: at the beginning, or behind what the cache has."""
    if cache is None:
        return torch.arange(T, device=device)
    return cache.positions(T, device=device)


def require_texts(argument: str, ids: Tensor) -> None:
    """Refuse what is no batch of token ids [B, T], or is empty."""
    require_ids(argument, ids)
    seen, rule = tuple(ids.shape), "must hold at least one text of at least one token"
    require(ids.numel() > 0, f"{argument}.shape", seen, rule, "leave the call out")


def fitted(
    mask: Tensor | None, cache: Cache | None, stack: nn.Module, ids: Tensor
) -> tuple[Tensor | None, int]:
    """The mask for the S keys that the layers will see, and S; refuse what does not fit."""
    B, T = ids.shape
    if mask is not None:
        require_model_mask("mask", mask, B, T, T if cache is None else cache.length() + T)
    if cache is None:
        return mask, T
    require_fit(cache, stack, mask, T)
    S = cache.reach(T)
    return None if mask is None else mask[..., -S:], S  # a rolling cache has dropped the rest


def require_model_mask(argument: str, mask: Tensor, B: int, T: int, S: int) -> None:
    """Refuse a mask that is not [T, S] or 4-D, each axis full or 1, or that could be padding.

    Where B = T, a mask [T, S] looks like padding [B, S]: then it must have its four axes.
    """
    require_mask(mask, argument)
    shape = tuple(mask.shape)
    fits = len(shape) in (2, 4) and shape[-2] in (1, T) and shape[-1] in (1, S)
    fits = fits and (len(shape) == 2 or shape[0] in (1, B))
    rule = f"must be [T, S] = {(T, S)} or stretch to [B, H, T, S], with B = {B}; S: all keys so far"
    if fits and len(shape) == 2 and shape[0] > 1 and B == T:
        fits, rule = False, "where B = T, a mask [T, S] and padding [B, S] look alike"
    padding, square = f"{argument}[:, None, None]", f"{argument}[None, None]"
    remedy = f"write {padding} for padding [B, S], {square} for [T, S]"
    require(fits, f"{argument}.shape", shape, rule, remedy)


def require_one_encoding(stack: nn.Module, position: PositionalEncoding) -> None:
    """Refuse layers that rotate by another encoding than the one computed for them.

    Transformer-XL's is each layer's own, with weights of its own, and asks for distances only.
    """
    for name, layer in stack.named_modules():
        own = getattr(layer, "position", None) or position
        fits = own is position or not own.acts() or isinstance(own, TransformerXLRelative)
        if not fits:
            rule = "must be the model's own encoding"
            refuse(f"stack.{name}.position", own, rule, "pass one object to both")
