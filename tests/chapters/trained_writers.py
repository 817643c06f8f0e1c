"""Chapter 5's two kinds of writers, trained once for all tests that ask for them."""

import functools

import torch

from pieces import masks
from pieces.book.figures import writers
from pieces.tasks import Stories

TASK = Stories(length=32)


@functools.cache
def texts():
    """What they are trained on, and what they are tested on."""
    seeded = [torch.Generator().manual_seed(seed) for seed in (0, 1)]
    return TASK.batch(1200, generator=seeded[0]), TASK.batch(64, generator=seeded[1])


@functools.cache
def trained(kind: str) -> list[writers.Writer]:
    """Three seeds under the mask of this name."""
    return [writers.train(getattr(masks, kind), texts()[0], TASK, seed) for seed in range(3)]
