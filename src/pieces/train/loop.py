"""The loop: draw a batch, cut it up, go downhill; save now and then."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from tqdm.auto import tqdm

from pieces.checks import Size, checked, refuse, require
from pieces.distributed import rank_and_world
from pieces.losses import Loss, next_token_loss
from pieces.train.checkpoint import Checkpoint, still_finite
from pieces.train.config import TrainConfig, learning_rate

Draw = Callable[..., NamedTuple]
FETCH_EVERY = 10  # steps: to ask a GPU for a number is to wait for it


@dataclass
class Record:
    """What happened at each step: the mean loss of its targets, in nats, and the gradient's norm
    before clipping.
    """

    losses: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)


@checked
def train(
    model: nn.Module,
    draw: Draw,
    config: TrainConfig,
    *,
    loss: Loss = next_token_loss,
    checkpoint: str | Path | None = None,
    save_every: Size | None = None,
    progress: bool = True,
) -> Record:
    """Train the model where it lies, in place.

    ``draw(batch_size, generator=g)`` gives a batch, a named tuple of tensors with the batch first;
    the generator is on the CPU, so every device sees the same data. If the file ``checkpoint``
    exists, training goes on from it and gives the run that an unbroken one would have given; it is
    written at the end, and every ``save_every`` steps, never with numbers that are not finite.
    Of several processes the first reads and writes it for all.

    """
    if save_every is not None and checkpoint is None:
        refuse("save_every", save_every, "needs a file to save to", "pass checkpoint=")
    run = _Run(model, config, loss, None if checkpoint is None else Checkpoint(checkpoint))
    bar = tqdm(total=config.steps, initial=run.step, disable=not progress or run.rank > 0)
    with bar:
        while run.step < config.steps:
            run.advance(draw(config.batch_size, generator=run.data))
            bar.update()
            if run.step % FETCH_EVERY == 0:
                bar.set_postfix(loss=f"{run.fetch().losses[-1]:.3f}", refresh=False)
            if save_every and run.step % save_every == 0:
                run.save()
    run.save()
    return run.fetch()


class _Run:
    """Everything that a resumed run must have again."""

    def __init__(
        self, model: nn.Module, config: TrainConfig, loss: Loss, checkpoint: Checkpoint | None
    ) -> None:
        self.model, self.config, self.loss, self.checkpoint = model, config, loss, checkpoint
        self.trained = [p for p in model.parameters() if p.requires_grad]
        if not self.trained:
            refuse("model", type(model).__name__, "has no parameter to train", "requires_grad_()")
        self.device = self.trained[0].device
        self.rank, self.world = rank_and_world()
        if config.batch_size % (self.world * config.accumulate):
            rule = f"must be divided among {self.world} processes, {config.accumulate} parts each"
            refuse("batch_size", config.batch_size, rule, "choose a multiple")
        self.optimizer = torch.optim.AdamW(_groups(self.trained, config), betas=config.betas)
        self.optimizer.zero_grad(set_to_none=True)  # of what happened before
        self.data = torch.Generator().manual_seed(config.seed)
        self.record, self.unfetched = Record(), []
        torch.manual_seed(config.seed + self.rank)  # each process drops other units
        if checkpoint is not None:
            found = checkpoint.resume(model, self.optimizer, self.data, config)
            self.record = Record(**found)
        self.step = len(self.record.losses)
        self.parallel = DistributedDataParallel(model) if self.world > 1 else model

    def advance(self, batch: Any) -> None:
        """One step: the gradient of the mean over the targets of the whole batch."""
        _require_batch(batch, self.world * self.config.accumulate)
        whole = int((batch.targets != -100).sum())
        require(whole > 0, "batch.targets", "all -100", "none counts", "draw batches with targets")
        self.model.train()
        mean = sum(self._part(batch, part, whole) for part in range(self.config.accumulate))
        norm = nn.utils.clip_grad_norm_(self.trained, self.config.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.step, self.config)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        if self.world > 1:
            dist.all_reduce(mean)
        self.unfetched.append((mean, norm.detach()))
        self.step += 1

    def _part(self, batch: Any, part: int, whole: int) -> Tensor:
        """Add a part's gradient; only after the last do the processes speak to each other."""
        first, every = self.rank + self.world * part, self.world * self.config.accumulate
        share = batch._make(rows[first::every].to(self.device) for rows in batch)
        half = self.config.bf16 and self.device.type == "cuda"
        waits = self.world > 1 and part < self.config.accumulate - 1
        with self.parallel.no_sync() if waits else nullcontext():
            with torch.autocast(self.device.type, torch.bfloat16, enabled=half):
                total, _ = self.loss(self.parallel, share)
            mean = total / whole
            (mean * self.world).backward()  # the processes' gradients are averaged, not added
        return mean.detach()

    def fetch(self) -> Record:
        """The numbers so far, from the device. Stops a run that has left the numbers behind."""
        if self.unfetched:
            fetched = [torch.stack(column).tolist() for column in zip(*self.unfetched, strict=True)]
            self.unfetched.clear()
            for loss, norm in zip(*fetched, strict=True):
                step = len(self.record.losses)
                still_finite(f"loss of step {step}", loss)
                still_finite(f"gradient's norm of step {step}", norm)
                self.record.losses.append(loss)
                self.record.norms.append(norm)
        return self.record

    def save(self) -> None:
        """Write the checkpoint, unless what it would hold is no number."""
        record = self.fetch()
        if self.checkpoint is not None:
            held = (self.model, self.optimizer, self.data, self.config)
            self.checkpoint.write(*held, record={"losses": record.losses, "norms": record.norms})


def _groups(trained: list[nn.Parameter], config: TrainConfig) -> list[dict[str, Any]]:
    """Matrices decay; norms and biases do not."""
    matrices = [p for p in trained if p.ndim > 1]
    others = [p for p in trained if p.ndim <= 1]
    groups = [(matrices, config.weight_decay), (others, 0.0)]
    return [{"params": found, "weight_decay": decay} for found, decay in groups if found]


def _require_batch(batch: Any, shares: int) -> None:
    """Refuse what cannot be cut into equal shares."""
    named = isinstance(batch, tuple) and hasattr(batch, "_make") and hasattr(batch, "targets")
    fits = named and all(isinstance(rows, Tensor) and rows.ndim > 0 for rows in batch)
    seen, rule = type(batch).__name__, "must be a named tuple of tensors, targets among them"
    require(fits, "draw(...)", seen, rule, "pass a task's batch", TypeError)
    sizes = {len(rows) for rows in batch}
    fits, rule = len(sizes) == 1, f"must be equal, and divided into {shares} shares"
    fits = fits and max(sizes) % shares == 0
    require(fits, "rows", sorted(sizes), rule, "give each tensor batch_size rows, its first axis")
