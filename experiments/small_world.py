"""What the models of the stories share: the task, how they start, and how they are judged."""

from torch import nn

import held_out
from pieces.tasks import Stories

TASK = Stories()


def measure(model: nn.Module) -> dict[str, float]:
    """How well it tells held-out stories."""
    return held_out.stories(model, TASK)


def started(model: nn.Module) -> nn.Module:
    """The model with a start for short runs: words are large in the stream, and nothing else is.

    The builders start word vectors at 0.02, as large models do; the blocks then drown them, and
    it takes hundreds of steps until a head knows one word from another. Here they start at
    1 / sqrt(d_model), and what a block writes starts at 0 (as in Zhang et al. 2019, Fixup).
    """
    nn.init.normal_(model.embedding.weight, std=model.config.d_model**-0.5)
    for name, weight in model.named_parameters():
        if name.endswith(("attention.output.weight", "down.weight", "experts.down")):
            nn.init.zeros_(weight)
    return model
