"""Small models of one shape trained at once, each with its own batches, rate and warm-up."""

import math
import statistics
import time
import warnings
from functools import cache, partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

from pieces.tasks.base import Batch
from placed import TASK

BATCH, BETAS = 8, (0.9, 0.98)
STRETCH = 5  # steps to a point of a curve
Weights = dict[str, Tensor]


def side_by_side(
    models: list[nn.Module], steps: int, lines: list[dict[str, Any]], stretch: int | None = None
) -> None:
    """Train models of one shape at once, each by its line: "seed", "lr", "warmup". Adds the curves.

    Each is trained as it would be alone, to rounding: stacked weights [R, ...] share the way
    through Python, which for small matrices takes most of the time. A curve ends where numbers end.
    """
    stacked, _ = stack_module_state(models)
    weights = {name: w.detach() for name, w in stacked.items()}
    means, squares = ({n: torch.zeros_like(w) for n, w in weights.items()} for _ in range(2))
    rates = torch.tensor([line["lr"] for line in lines])
    climbs = torch.tensor([max(1, line["warmup"]) for line in lines])
    slopes = vmap(grad_and_value(partial(loss, models[0])))
    losses, begun = [], time.process_time()
    for step in range(steps):
        drawn = [batches(line["seed"], steps)[step] for line in lines]
        ids, targets = (torch.stack(rows) for rows in zip(*drawn, strict=True))
        with warnings.catch_warnings():  # attention alone goes one by one, and torch says so
            warnings.filterwarnings("ignore", "There is a performance drop")
            gradients, values = slopes(weights, ids, targets)
        losses.append(values.tolist())
        rate = rates * ((step + 1) / climbs).clamp(max=1)
        adam(weights, gradients, means, squares, rate, step + 1)
    seconds = round((time.process_time() - begun) / len(lines), 2)
    for line, own in zip(lines, zip(*losses, strict=True), strict=True):
        line |= {"steps": steps, "cpu_seconds": seconds, "curve": curve(own, stretch)}


def loss(model: nn.Module, weights: Weights, ids: Tensor, targets: Tensor) -> Tensor:
    """The mean loss of a model with other weights. The table is read here: a lookup that checks
    its ids cannot be stacked.
    """
    own = {n.removeprefix("stack."): w for n, w in weights.items() if n.startswith("stack.")}
    x = weights["embedding.weight"][ids] + weights["position.weight"]
    logits = functional_call(model.stack, own, (x,)) @ weights["head.weight"].T
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


@torch.no_grad()
def adam(
    weights: Weights, gradients: Weights, means: Weights, squares: Weights, rate: Tensor, t: int
) -> None:
    """One step of Adam in place, each model [R] with a rate of its own. As ``torch.optim.Adam``."""
    b1, b2 = BETAS
    for name, g in gradients.items():
        m, v = means[name].lerp_(g, 1 - b1), squares[name].lerp_(g * g, 1 - b2)
        size = (v / (1 - b2**t)).sqrt_().add_(1e-8)
        weights[name] -= rate.view(-1, *[1] * (g.ndim - 1)) * (m / (1 - b1**t)) / size


def curve(losses: tuple[float, ...], stretch: int | None = None) -> list[float]:
    """Means of stretches, of a short run each loss, up to the first that is no number."""
    end = next((n for n, x in enumerate(losses) if not math.isfinite(x)), len(losses))
    length = stretch or (STRETCH if len(losses) >= 10 * STRETCH else 1)
    starts = range(0, end - length + 1, length)
    return [round(statistics.fmean(losses[i : i + length]), 4) for i in starts]


@cache
def batches(seed: int, steps: int) -> list[Batch]:
    """What a run of this seed reads."""
    drawn = torch.Generator().manual_seed(seed)
    return [TASK.batch(BATCH, generator=drawn) for _ in range(steps)]
