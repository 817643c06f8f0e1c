"""What the models of the stories share: the task, and how they are judged."""

from torch import nn

import held_out
from pieces.tasks import Stories

TASK = Stories()


def measure(model: nn.Module) -> dict[str, float]:
    """How well it tells held-out stories."""
    return held_out.stories(model, TASK)
