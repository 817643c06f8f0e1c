"""Many stories, told once: drawing them takes longer than a step of training.

The rows are kept in _build/experiments and told again if they are not there, or if the words or
their probabilities have changed since.
"""

import hashlib
from typing import Any

import torch

from pieces.tasks.base import Batch

ROWS, AT_ONCE, SEED = 24_000, 500, 2024


class Pool:
    """``draw`` gives training rows of a task: those of the pool, again and again in other orders.

    ``place`` is a folder for the rows.
    """

    def __init__(self, task: Any, place: Any, rows: int = ROWS) -> None:
        self.task, self.place, self.count = task, place, rows
        self.rows: Batch | None = None

    def draw(self, batch_size: int, *, generator: torch.Generator | None = None) -> Batch:
        """Rows chosen at random, each as likely as any other."""
        if self.rows is None:
            self.rows = self.told()
        chosen = torch.randint(self.count, (batch_size,), generator=generator)
        return Batch(*(part[chosen].long() for part in self.rows))

    def told(self) -> Batch:
        """All rows, from the file if they are there."""
        name = f"{type(self.task).__name__.lower()}-{self.count}-{self.fingerprint()}.pt"
        path = self.place / name
        if not path.exists():
            generator = torch.Generator().manual_seed(SEED)
            parts = [self.task.batch(AT_ONCE, generator=generator) for _ in range(self.chunks())]
            self.place.mkdir(parents=True, exist_ok=True)
            torch.save([torch.cat(part).short() for part in zip(*parts, strict=True)], path)
        return Batch(*torch.load(path, weights_only=True))

    def chunks(self) -> int:
        """How often ``AT_ONCE`` rows are drawn."""
        return -(-self.count // AT_ONCE)

    def fingerprint(self) -> str:
        """Another one if the words or the rows of the task are others."""
        some = self.task.batch(20, generator=torch.Generator().manual_seed(SEED))
        text = " ".join(self.task.vocabulary).encode() + some.input_ids.numpy().tobytes()
        return hashlib.sha256(text).hexdigest()[:12]
