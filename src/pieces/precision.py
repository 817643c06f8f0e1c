"""Sums and squares of half precision are worked out in float32.

In bfloat16 256 + 1 is 256, and in float16 256² is infinite.
"""

import torch
from torch import Tensor


def working_dtype(dtype: torch.dtype) -> torch.dtype:
    """What numbers of this type are worked out in: float32 at least."""
    return torch.promote_types(dtype, torch.float32)


def in_float32(x: Tensor) -> Tensor:
    """Float16 and bfloat16 in float32; wider numbers as they are. Shapes: [...] -> [...]."""
    return x.to(working_dtype(x.dtype))
