"""How long, how fast, and how much at a time: the settings of a run, and its learning rate."""

import math
from dataclasses import dataclass
from typing import Annotated

from pieces.checks import (
    DivisorOf,
    Natural,
    NotNegative,
    Positive,
    Range,
    Share,
    Size,
    check_fields,
    checked,
)


@dataclass(frozen=True)
class TrainConfig:
    """How long and how fast. ``batch_size`` is that of all processes together.

    The learning rate climbs to ``lr`` in ``warmup`` steps and falls along a cosine to
    ``final_share`` of it. Weight decay is for matrices only. ``bf16`` is for GPUs: the CPU stays in
    float32.

    Where a batch does not fit into memory, ``accumulate`` cuts it into as many parts of equal rows,
    computed one after another before one step of the optimizer. Each target of the whole batch
    weighs the same, however the targets fall on parts and processes: the sums of the parts are
    divided by the number of all targets, so the step is that of the uncut batch, to rounding.

    """

    steps: Size
    batch_size: Size = 64
    lr: Positive = 3e-3
    warmup: Natural = 20
    final_share: Annotated[NotNegative, Range(at_most=1)] = 0.1
    weight_decay: NotNegative = 0.01
    betas: tuple[Share, Share] = (0.9, 0.98)
    clip: Positive = 1.0
    seed: Natural = 0
    bf16: bool = True
    accumulate: Annotated[Size, DivisorOf("batch_size")] = 1

    def __post_init__(self) -> None:
        """Check the numbers, and make them plain ones, which a checkpoint can hold."""
        check_fields(self)
        for name in ("lr", "clip", "final_share", "weight_decay"):
            object.__setattr__(self, name, float(getattr(self, name)))
        object.__setattr__(self, "betas", tuple(map(float, self.betas)))


@checked
def learning_rate(step: Natural, config: TrainConfig) -> float:
    """The learning rate of a step, 0 the first.

    lr (step + 1) / warmup  in the warm-up, then
    lr (s + (1 - s) (1 + cos(π t)) / 2),  t from 0 to 1,  s = final_share

    Source: Loshchilov and Hutter 2017 (SGDR), eq. (5).
    """
    if step < config.warmup:
        return config.lr * (step + 1) / config.warmup
    t = (step - config.warmup) / max(1, config.steps - 1 - config.warmup)
    cosine = (1 + math.cos(math.pi * min(1.0, t))) / 2
    return config.lr * (config.final_share + (1 - config.final_share) * cosine)
