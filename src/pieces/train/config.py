"""How long, how fast, and how much at a time: the settings of a run, and its learning rate."""

import math
from dataclasses import dataclass

from pieces.checks import (
    Count,
    checked,
    refuse,
    require,
    require_bool,
    require_int,
    require_number,
    require_positive,
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

    steps: int
    batch_size: int = 64
    lr: float = 3e-3
    warmup: int = 20
    final_share: float = 0.1
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.98)
    clip: float = 1.0
    seed: int = 0
    bf16: bool = True
    accumulate: int = 1

    def __post_init__(self) -> None:
        """Check the numbers, and make them plain ones, which a checkpoint can hold."""
        for name, minimum in (("steps", 1), ("batch_size", 1), ("warmup", 0), ("seed", 0)):
            require_int(name, getattr(self, name), minimum=minimum)
        require_int("accumulate", self.accumulate)
        rule, remedy = "must divide batch_size", "choose a divisor"
        whole = self.batch_size % self.accumulate == 0
        require(whole, "accumulate", self.accumulate, f"{rule} = {self.batch_size}", remedy)
        require_positive("lr", self.lr)
        require_positive("clip", self.clip)
        for name, highest in (("final_share", 1.0), ("weight_decay", math.inf)):
            value = getattr(self, name)
            require_number(name, value)
            rule = f"must be in 0 .. {highest}"
            require(0 <= value <= highest, name, value, rule, "pass a number in it")
        require_bool("bf16", self.bf16)
        object.__setattr__(self, "betas", _betas(self.betas))
        for name in ("lr", "clip", "final_share", "weight_decay"):
            object.__setattr__(self, name, float(getattr(self, name)))


def _betas(betas: tuple[float, float] | list[float]) -> tuple[float, float]:
    """The two as a tuple: as a list they would not equal those read from a checkpoint."""
    if not isinstance(betas, (tuple, list)) or len(betas) != 2:
        refuse("betas", betas, "must be two numbers", "pass (0.9, 0.98)", TypeError)
    for beta in betas:
        require_number("betas", beta)
        rule, remedy = "both must be at least 0 and below 1", "pass (0.9, 0.98)"
        require(0 <= beta < 1, "betas", betas, rule, remedy)
    return float(betas[0]), float(betas[1])


@checked
def learning_rate(step: Count, config: TrainConfig) -> float:
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
