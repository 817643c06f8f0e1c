"""Short trainings on the stories whose distance to the floor is looked at on the way."""

import torch
from torch import nn

import held_out
from pieces.tasks import Stories
from pieces.tasks.base import Batch
from pieces.train import TrainConfig, train


def watched(
    model: nn.Module, task: Stories, config: TrainConfig, every: int, rows: int
) -> list[list[float]]:
    """Train the model; pairs of step and distance to the floor, held out, in nats a word.

    Every so many steps, the first and the end included. The looks change no batch.
    """
    curve, taken = [], 0

    def look() -> None:
        found = held_out.stories(model, task, rows)
        curve.append([taken, round(found["loss"] - found["floor"], 5)])

    def draw(count: int, generator: torch.Generator) -> Batch:
        nonlocal taken
        if taken % every == 0:
            look()
        taken += 1
        return task.batch(count, generator=generator)

    train(model, draw, config, progress=False)
    look()
    return curve
