"""The two passes of attention tile by tile: forward with sums carried along, backward again."""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pieces.attention.function import set_apart, share_heads
from pieces.checks import require_float, require_mask
from pieces.precision import in_float32, working_dtype

OfPositions = Callable[[Tensor, Tensor], Tensor]


class Inputs(NamedTuple):
    """What both passes cut into tiles."""

    q: Tensor
    k: Tensor
    v: Tensor
    bias: Tensor | OfPositions | None
    mask: Tensor | OfPositions | None


class Tiled(torch.autograd.Function):
    """Of all weights, one number a row is kept: the log of its sum of exponentials."""

    @staticmethod
    def forward(ctx: Any, q, k, v, bias, mask, block_size: int) -> Tensor:
        """Row by row of blocks, each carried along its tiles."""
        k, v = (k, v) if mask is None else set_apart(k, v)
        x = Inputs(q, k, v, bias, mask)
        output = torch.empty(
            *q.shape[:3], v.shape[-1], dtype=working_dtype(q.dtype), device=q.device
        )
        log_sum = output.new_empty(*q.shape[:3], 1)
        for rows in _blocks(q.shape[2], block_size):
            row = (torch.full_like(log_sum[:, :, rows], -torch.inf), 0.0, 0.0)
            for columns in _blocks(k.shape[2], block_size):
                scores = _scores(x, rows, columns)
                if scores is not None:
                    row = carry_on(row, scores, _shared(v, columns, x))
            peak, total, carried = row
            total = torch.as_tensor(total, dtype=output.dtype, device=q.device)
            output[:, :, rows] = carried / total.masked_fill(total == 0, 1.0)
            log_sum[:, :, rows] = peak + total.log()
        tensors = [x if isinstance(x, Tensor) else None for x in (bias, mask)]
        ctx.save_for_backward(q, k, v, *tensors, output, log_sum)
        ctx.functions = [None if isinstance(x, Tensor) else x for x in (bias, mask)]
        ctx.block_size = block_size
        return output.to(q.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        """The tiles computed again, and each one's part of the gradients."""
        q, k, v, *tensors, output, log_sum = ctx.saved_tensors
        bias, mask = (f if x is None else x for x, f in zip(tensors, ctx.functions, strict=True))
        x = Inputs(q, k, v, bias, mask)
        grads = [torch.zeros_like(t, dtype=working_dtype(q.dtype)) for t in (q, k, v)]
        wanted = ctx.needs_input_grad[3]
        grads.append(torch.zeros_like(bias, dtype=working_dtype(q.dtype)) if wanted else None)
        log_sum = log_sum.masked_fill(log_sum == -torch.inf, torch.inf)  # blind rows: e^-inf = 0
        grad_output = grad_output.to(working_dtype(q.dtype))
        along = (grad_output * output).sum(dim=-1, keepdim=True)
        with torch.autocast(q.device.type, enabled=False):
            for rows in _blocks(q.shape[2], ctx.block_size):
                for columns in _blocks(k.shape[2], ctx.block_size):
                    saved = (log_sum[:, :, rows], grad_output[:, :, rows], along[:, :, rows])
                    _tile_backward(x, rows, columns, saved, grads)
        of_inputs = [g.to(t.dtype) for g, t in zip(grads[:3], (q, k, v), strict=True)]
        return *of_inputs, grads[3].to(bias.dtype) if wanted else None, None, None


def carry_on(row: tuple, scores: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The largest score so far, the sum of exponentials and the output, with one more tile."""
    peak, total, carried = row
    higher = torch.maximum(peak, scores.amax(dim=-1, keepdim=True))
    level = higher.masked_fill(higher == -torch.inf, 0.0)
    shrink, raised = (peak - level).exp(), (scores - level).exp()
    total = total * shrink + raised.sum(dim=-1, keepdim=True)
    return higher, total, carried * shrink + raised @ values


def _tile_backward(
    x: Inputs, rows: slice, columns: slice, saved: tuple[Tensor, ...], grads: list[Tensor | None]
) -> None:
    """Add one tile's part to the gradients of q, k, v and the bias."""
    scores = _scores(x, rows, columns)
    if scores is None:
        return
    log_sum, grad_output, along = saved
    weights = (scores - log_sum).exp()
    grad_scores = weights * (grad_output @ _shared(x.v, columns, x).mT - along)
    of_keys = grad_scores.mT @ _queries(x, rows)
    of_queries = grad_scores @ _shared(x.k, columns, x) / math.sqrt(x.q.shape[-1])
    grads[0][:, :, rows] += of_queries
    grads[1][:, :, columns] += _summed(of_keys, x.k.shape[1])
    grads[2][:, :, columns] += _summed(weights.mT @ grad_output, x.k.shape[1])
    if grads[3] is not None:
        part = _cut(grads[3], rows, columns, None, None)
        part += grad_scores.sum_to_size(part.shape)


def _scores(x: Inputs, rows: slice, columns: slice) -> Tensor | None:
    """A tile of scores, -inf where hidden; None if all of it is."""
    older = x.k.shape[2] - x.q.shape[2]
    i = torch.arange(rows.start, rows.stop, device=x.q.device)[:, None] + older
    j = torch.arange(columns.start, columns.stop, device=x.q.device)
    seen = _cut(x.mask, rows, columns, i, j)
    if seen is not None:
        require_mask(seen, "mask(i, j)")
    if seen is not None and not torch.compiler.is_compiling() and not seen.any():
        return None
    scores = _queries(x, rows) @ _shared(x.k, columns, x).mT
    bias = _cut(x.bias, rows, columns, i, j)
    if bias is not None:
        require_float("bias(i, j)", bias)
    scores = scores if bias is None else scores + bias.to(scores.dtype)
    return scores if seen is None else scores.masked_fill(~seen, -torch.inf)


def _queries(x: Inputs, rows: slice) -> Tensor:
    """A block of queries, divided by sqrt(K)."""
    return in_float32(x.q[:, :, rows]) / math.sqrt(x.q.shape[-1])


def _shared(keys: Tensor, columns: slice, x: Inputs) -> Tensor:
    """A block of keys or values, one for each head."""
    return share_heads(keys[:, :, columns].to(working_dtype(x.q.dtype)), x.q.shape[1])


def _blocks(length: int, size: int) -> Iterator[slice]:
    """Cut 0 .. length - 1 into slices of at most ``size``."""
    return (slice(start, min(start + size, length)) for start in range(0, length, size))


def _cut(
    x: Tensor | OfPositions | None, rows: slice, columns: slice, i: Tensor | None, j: Tensor | None
) -> Tensor | None:
    """A tile of a mask or bias: a view of a tensor, or what the function says."""
    if not isinstance(x, Tensor):
        return None if x is None else x(i, j)
    rows = rows if x.shape[-2] > 1 else slice(None)
    return x[..., rows, columns if x.shape[-1] > 1 else slice(None)]


def _summed(x: Tensor, n_kv_heads: int) -> Tensor:
    """Gradients of shared heads add up: [B, H, s, K] -> [B, G, s, K]."""
    return x.unflatten(1, (n_kv_heads, -1)).sum(dim=2)
