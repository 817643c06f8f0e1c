"""Weights in fewer bytes: int8 with one scale a row, or half precision, and back to float32.

tensors = quantised(model.state_dict(), "int8")
model.load_state_dict(restore(tensors))
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from pieces.checks import require, require_instance, require_tensor

PRECISIONS = ("int8", "fp16", "fp32")
SCALE = ".scale"
STEPS = 127  # int8 from -127 to 127, so that a row and its negative are rounded alike
FEWER = 31  # of a stack of matrices, which packs smaller then


def quantised(weights: Mapping[str, Tensor], precision: str) -> dict[str, Tensor]:
    """The same names, in fewer bytes.

    "int8": each matrix is whole numbers n and a float32 scale s a row (``<name>.scale``),
        W[i, j] ≈ s[i] n[i, j],  s[i] = max over j of |W[i, j]| / 127
    and so is each matrix of a stack [E, R, C], with 31 in place of 127: experts are many, and six
    bits are enough for them. "fp16": everything but vectors is float16. Vectors
    (norms, biases) are few and stay float32, as all does in "fp32".
    Raises: TypeError if a weight is no tensor; ValueError if the precision is not one of these.
    """
    require_instance("weights", weights, Mapping, "pass model.state_dict()")
    rule, remedy = f"must be one of {PRECISIONS}", "choose one of them"
    require(precision in PRECISIONS, "precision", precision, rule, remedy)
    small: dict[str, Tensor] = {}
    for name, weight in weights.items():
        require_tensor(f"weights[{name!r}]", weight)
        weight = weight.detach().cpu().float().contiguous()
        if precision == "int8" and weight.ndim >= 2:
            steps = STEPS if weight.ndim == 2 else FEWER
            small[name], small[name + SCALE] = to_int8(weight, steps)
        elif precision == "fp32" or weight.ndim < 2:
            small[name] = weight
        else:
            small[name] = weight.half()
    return small


def restore(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What ``quantised`` made, as float32 under the names of the weights.

    Raises: ValueError if int8 numbers have no scale that fits them.
    """
    require_instance("tensors", tensors, Mapping, "pass what quantised returned")
    weights: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.dtype == torch.int8:
            scale = tensors.get(name + SCALE)
            fits = scale is not None and scale.shape == tensor.shape[:-1]
            rule, remedy = "must have one scale a row", "pack the model again"
            require(fits, name + SCALE, None if scale is None else scale.shape, rule, remedy)
            weights[name] = tensor.float() * scale.float()[..., None]
        elif not (name.endswith(SCALE) and name.removesuffix(SCALE) in tensors):
            weights[name] = tensor.float()
    return weights


def to_int8(matrix: Tensor, steps: int = STEPS) -> tuple[Tensor, Tensor]:
    """Whole numbers and their scales: [.., C] -> int8 [.., C], float32 [..]. A row of 0 stays 0."""
    scale = matrix.abs().amax(dim=-1) / steps
    whole = (matrix / scale.clamp(min=1e-30)[..., None]).round()
    return whole.to(torch.int8), scale
