"""Errors about tensors: their kind of numbers, their axes.

Only shapes, dtypes and devices are looked at, never the numbers inside a tensor, so a check costs
microseconds, waits for no GPU, and leaves ``torch.compile`` and ``torch.export`` undisturbed.
"""

from dataclasses import dataclass
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
    Raises: ValueError if the index is on another device than the table, or, on the CPU, if it is
    below 0 or beyond the table.
    """
    here, there = index.device, table.device
    move = f"use {argument}.to({str(there)!r}), or move the model"
    require(here == there, f"{argument}.device", str(here), f"must be {there}, as the model", move)
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


@dataclass(frozen=True)
class DtypeOf:
    """Of a tensor: its numbers are of the kind of another one's; autocast sees to that itself."""

    other: str

    def check(self, name: str, value: Any, arguments: dict[str, Any]) -> None:
        """Refuse another dtype. Raises: TypeError."""
        wanted = arguments[self.other].dtype
        if value.dtype != wanted and not torch.is_autocast_enabled(value.device.type):
            rule = f"must be {wanted}, as {self.other}"
            refuse(
                f"{name}.dtype", value.dtype, rule, f"use {name}.to({self.other}.dtype)", TypeError
            )
