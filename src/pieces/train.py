"""A training loop small enough to read: AdamW, warm-up and cosine, clipping, one process or many.

    record = train(model, task.batch, TrainConfig(steps=500))

The same script runs on several processes or machines under ``torchrun``: put it inside
``with processes() as place`` (``pieces.distributed``), and move the model to ``place.device``.
Every process draws the same global batch and takes its share, so the losses are those of one
process, to rounding.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from tqdm.auto import tqdm

from pieces.checks import (
    refuse,
    require,
    require_callable,
    require_instance,
    require_int,
    require_module,
    require_number,
    require_positive,
)
from pieces.distributed import rank_and_world
from pieces.losses import Loss, next_token_loss

Draw = Callable[..., NamedTuple]


@dataclass(frozen=True)
class TrainConfig:
    """How long and how fast. ``batch_size`` is that of all processes together.

    The learning rate climbs to ``lr`` in ``warmup`` steps and falls along a cosine to
    ``final_share`` of it. Weight decay is for matrices only. ``bf16`` is for GPUs: the CPU stays in
    float32. Raises: TypeError, ValueError if a number is out of range.
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

    def __post_init__(self) -> None:
        """Check the numbers."""
        require_int("steps", self.steps)
        require_int("batch_size", self.batch_size)
        require_int("warmup", self.warmup, minimum=0)
        require_int("seed", self.seed, minimum=0)
        require_positive("lr", self.lr)
        require_positive("clip", self.clip)
        for name, highest in (("final_share", 1.0), ("weight_decay", math.inf)):
            value = getattr(self, name)
            require_number(name, value)
            rule = f"must be in 0 .. {highest}"
            require(0 <= value <= highest, name, value, rule, "pass a number in it")
        rule, remedy = "both must be at least 0 and below 1", "pass (0.9, 0.98)"
        require(all(0 <= b < 1 for b in self.betas), "betas", self.betas, rule, remedy)


@dataclass
class Record:
    """What happened at each step: the mean loss of its targets, in nats, and the gradient's norm
    before clipping.
    """

    losses: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)


def learning_rate(step: int, config: TrainConfig) -> float:
    """The learning rate of a step, 0 the first.

    lr (step + 1) / warmup  in the warm-up, then
    lr (s + (1 - s) (1 + cos(π t)) / 2),  t from 0 to 1,  s = final_share

    Source: Loshchilov and Hutter 2017 (SGDR), eq. (5).
    """
    require_instance("config", config, TrainConfig, "pass TrainConfig(steps)")
    require_int("step", step, minimum=0)
    if step < config.warmup:
        return config.lr * (step + 1) / config.warmup
    t = (step - config.warmup) / max(1, config.steps - 1 - config.warmup)
    cosine = (1 + math.cos(math.pi * min(1.0, t))) / 2
    return config.lr * (config.final_share + (1 - config.final_share) * cosine)


def train(
    model: nn.Module,
    draw: Draw,
    config: TrainConfig,
    *,
    loss: Loss = next_token_loss,
    checkpoint: str | Path | None = None,
    save_every: int | None = None,
    progress: bool = True,
) -> Record:
    """Train the model where it lies, in place.

    ``draw(batch_size, generator=g)`` gives a batch, a named tuple of tensors with the batch first;
    the generator is on the CPU, so every device sees the same data. If the file ``checkpoint``
    exists, training goes on from it and gives the run that an unbroken one would have given; it is
    written at the end, and every ``save_every`` steps.

    Raises: ValueError if batch_size does not divide among the processes, the checkpoint is of
    another config, or a batch has nothing to learn; FloatingPointError if the loss is no number.
    """
    require_module("model", model)
    require_callable("draw", draw, "the method batch of a task, say")
    require_callable("loss", loss, "train.next_token_loss, say")
    require_instance("config", config, TrainConfig, "pass TrainConfig(steps)")
    rank, world = rank_and_world()
    rule, remedy = f"must be divided among {world} processes", "choose a multiple"
    require(config.batch_size % world == 0, "batch_size", config.batch_size, rule, remedy)
    require_int("save_every", 1 if save_every is None else save_every)
    run = _Run(model, config, loss, Path(checkpoint) if checkpoint else None)
    bar = tqdm(total=config.steps, initial=run.step, disable=not progress or rank > 0)
    with bar:
        while run.step < config.steps:
            run.advance(draw(config.batch_size, generator=run.data), rank, world)
            bar.update()
            if run.step % 10 == 0:
                bar.set_postfix(loss=f"{run.losses[-1].item():.3f}", refresh=False)
            if save_every and run.step % save_every == 0:
                run.save(rank)
    run.save(rank)
    return run.record()


class _Run:
    """Everything that a resumed run must have again."""

    def __init__(self, model: nn.Module, config: TrainConfig, loss: Loss, path: Path | None):
        self.model, self.config, self.loss, self.path = model, config, loss, path
        self.device = next(model.parameters()).device
        self.optimizer = torch.optim.AdamW(_groups(model, config), betas=config.betas)
        self.data = torch.Generator().manual_seed(config.seed)
        self.step, self.losses, self.norms = 0, [], []
        if path is not None and path.exists():
            self._load()
        else:
            torch.manual_seed(config.seed)
        self.parallel = DistributedDataParallel(model) if rank_and_world()[1] > 1 else model

    def advance(self, batch: Any, rank: int, world: int) -> None:
        """One step."""
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.step, self.config)
        whole = int((batch.targets != -100).sum())
        rule = "has no target that counts"
        require(whole > 0, "batch.targets", "all -100", rule, "draw batches with targets")
        share = batch._make(part[rank::world].to(self.device) for part in batch)
        self.model.train()
        half = self.config.bf16 and self.device.type == "cuda"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=half):
            total, _ = self.loss(self.parallel, share)
        mean = total / whole
        (mean * world).backward()  # the processes' gradients are averaged, not added
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        mean = mean.detach()
        if world > 1:
            dist.all_reduce(mean)
        self.losses.append(mean)
        self.norms.append(norm.detach())
        self.step += 1
        if self.step % 50 == 0 or self.step == self.config.steps:
            self._require_finite()

    def _require_finite(self) -> None:
        """Stop a run that has left the numbers behind."""
        if not bool(torch.stack(self.losses[-50:]).isfinite().all()):
            remedy = "lower lr, lengthen warmup, or clip harder"
            refuse("loss", "nan or inf", "must be finite", remedy, FloatingPointError)

    def record(self) -> Record:
        """The numbers, fetched from the device at last."""
        return Record([x.item() for x in self.losses], [x.item() for x in self.norms])

    def save(self, rank: int) -> None:
        """Write the checkpoint, whole or not at all; the first process does it for all."""
        if self.path is None or rank > 0:
            return
        state = {
            "config": asdict(self.config),
            "step": self.step,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "data": self.data.get_state(),
            "random": torch.get_rng_state(),
            "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
            "record": asdict(self.record()),
        }
        part = self.path.with_name(self.path.name + ".part")
        torch.save(state, part)
        part.replace(self.path)

    def _load(self) -> None:
        """Go on from the checkpoint. The config, and so the schedule, must be the same."""
        state = torch.load(self.path, map_location="cpu", weights_only=True)
        theirs = state["config"] | {"betas": tuple(state["config"]["betas"])}
        rule, remedy = f"the checkpoint was trained with {theirs}", "use its config or another file"
        require(theirs == asdict(self.config), "config", asdict(self.config), rule, remedy)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.data.set_state(state["data"])
        torch.set_rng_state(state["random"])
        if state["cuda"] and torch.cuda.is_available():
            torch.cuda.set_rng_state_all(state["cuda"])
        self.step = state["step"]
        self.losses = [torch.tensor(x, device=self.device) for x in state["record"]["losses"]]
        self.norms = [torch.tensor(x, device=self.device) for x in state["record"]["norms"]]


def _groups(model: nn.Module, config: TrainConfig) -> list[dict[str, Any]]:
    """Matrices decay; norms and biases do not."""
    trained = [p for p in model.parameters() if p.requires_grad]
    matrices = [p for p in trained if p.ndim > 1]
    others = [p for p in trained if p.ndim <= 1]
    groups = [(matrices, config.weight_decay), (others, 0.0)]
    return [{"params": found, "weight_decay": decay} for found, decay in groups if found]
