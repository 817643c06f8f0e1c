"""Errors about tensors: their kind of numbers, their axes.

Only shapes and dtypes are looked at, never the numbers inside a tensor, so a check costs
microseconds, waits for no GPU, and leaves ``torch.compile`` and ``torch.export`` undisturbed.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from pieces.checks.refuse import refuse, require


def require_tensor(argument: str, value: Any) -> None:
    """Refuse a list, an array, a number. Raises: TypeError."""
    if not isinstance(value, Tensor):
        seen = type(value).__name__
        refuse(argument, seen, "must be a tensor", f"pass torch.tensor({argument})", TypeError)


def require_whole(argument: str, tensor: Tensor) -> None:
    """Refuse a tensor of floating-point numbers or bools. Raises: TypeError."""
    require_tensor(argument, tensor)
    whole = not (tensor.is_floating_point() or tensor.is_complex()) and tensor.dtype != torch.bool
    rule, remedy = "must be whole numbers", "use .long()"
    require(whole, f"{argument}.dtype", tensor.dtype, rule, remedy, TypeError)


def require_ids(argument: str, ids: Tensor) -> None:
    """Refuse what is not a batch of token ids [B, T]. Raises: TypeError, ValueError."""
    require_whole(argument, ids)
    if ids.ndim != 2:
        remedy = f"add the batch axis: {argument}[None]"
        refuse(f"{argument}.shape", tuple(ids.shape), "must be 2-D [B, T]", remedy)


def look_up(argument: str, index: Tensor, table: Tensor, remedy: str, **options: Any) -> Tensor:
    """Rows of a table, [...] -> [..., D]; torch's own "index out of range" made clear.

    A GPU does not report back: there a bad index stops the program with a device assertion.
    Raises: ValueError on the CPU, if an index is below 0 or beyond the table.
    """
    try:
        return F.embedding(index, table, **options)
    except IndexError:
        seen = f"{int(index.min())} .. {int(index.max())}"
        refuse(argument, seen, f"must be in 0 .. {table.shape[0] - 1}", remedy)


def require_float(argument: str, tensor: Tensor) -> None:
    """Refuse a tensor of whole numbers or bools. Raises: TypeError."""
    require_tensor(argument, tensor)
    if not tensor.is_floating_point():
        rule, remedy = "must be floating-point", "embed token ids first, or call .float()"
        refuse(f"{argument}.dtype", tensor.dtype, rule, remedy, TypeError)


def require_features(argument: str, tensor: Tensor, size: int) -> None:
    """Refuse all but numbers whose last axis has the ``size`` that a layer was built for."""
    require_float(argument, tensor)
    if tensor.shape[-1] != size:
        rule = f"the last axis must be {size}"
        remedy = f"pass a tensor [..., {size}], or build the module for {tensor.shape[-1]}"
        refuse(f"{argument}.shape", tuple(tensor.shape), rule, remedy)


def require_sequence(argument: str, tensor: Tensor, size: int) -> None:
    """Refuse what is not a floating-point batch of sequences [B, T, size]."""
    require_float(argument, tensor)
    if tensor.ndim != 3:
        remedy = f"add the batch axis: {argument}[None]"
        refuse(f"{argument}.shape", tuple(tensor.shape), "must be 3-D [B, T, D]", remedy)
    require_features(argument, tensor, size)


def require_mask(mask: Tensor, argument: str = "mask") -> None:
    """Refuse a mask that is not bool: 0/1, 0/-inf and True = hidden all have converters."""
    require_tensor(argument, mask)
    if mask.dtype != torch.bool:
        rule = "a mask must be bool, True = may attend"
        additive = f"masks.from_additive({argument}) if it holds 0 and -inf"
        remedy = f"write {argument}.bool() if 1 means attend, {additive}"
        refuse(f"{argument}.dtype", mask.dtype, rule, remedy, TypeError)


def require_flags(argument: str, tensor: Tensor) -> None:
    """Refuse a tensor that is not bool. Raises: TypeError."""
    if "mask" in argument:
        return require_mask(tensor, argument)
    require_tensor(argument, tensor)
    rule = "must be bool"
    seen = tensor.dtype
    return require(seen == torch.bool, f"{argument}.dtype", seen, rule, "use .bool()", TypeError)


def require_broadcast(argument: str, tensor: Tensor, scores_shape: tuple[int, ...]) -> None:
    """Refuse a mask or bias that does not stretch to the scores without ambiguity.

    Allowed are [T, S] and as many axes as the scores have, each of them full size or 1.
    Anything between is refused: [B, T, S] and [H, T, S] look alike, and torch would take the last.
    """
    pairs = zip(reversed(tensor.shape), reversed(scores_shape), strict=False)
    fits = tensor.ndim in (2, len(scores_shape)) and all(a in (1, b) for a, b in pairs)
    if not fits:
        rule = f"must be [T, S] or {len(scores_shape)}-D, and stretch to {tuple(scores_shape)}"
        remedy = "write x[:, None] for one [T, S] a sequence, x[None] for one a head"
        refuse(f"{argument}.shape", tuple(tensor.shape), rule, remedy)


def require_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None
) -> None:
    """Refuse all but q [B, H, T, K], k [B, G, S, K], v [B, G, S, Kv], G a divisor of H."""
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        require_float(name, tensor)
        if tensor.ndim != 4:
            remedy = "add the missing batch or head axis with [:, None]"
            refuse(f"{name}.shape", tuple(tensor.shape), "must be 4-D [B, heads, T, K]", remedy)
    (B, H, T, K), (_, G, S, _) = q.shape, k.shape
    if k.shape[0] != B or k.shape[-1] != K:
        rule = f"must share the batch and head_dim of q, {tuple(q.shape)}"
        refuse("k.shape", tuple(k.shape), rule, "project both to the same head_dim")
    if v.shape[:3] != k.shape[:3]:
        rule = f"must have one value for each key of k, {tuple(k.shape)}"
        refuse("v.shape", tuple(v.shape), rule, "compute k and v from the same tokens")
    if G == 0 or H % G:
        rule = f"its key-value heads (axis 1) must divide the {H} heads of q"
        refuse("k.shape", tuple(k.shape), rule, "choose n_kv_heads that divides n_heads")
    if mask is not None:
        require_mask(mask)
        require_broadcast("mask", mask, (B, H, T, S))
    if bias is not None:
        require_float("bias", bias)
        require_broadcast("bias", bias, (B, H, T, S))
