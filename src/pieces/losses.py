"""What training makes small: the surprise of a model at its targets, summed and counted.

The sum and the count are apart, so that a batch that is split among processes has the mean of the
whole batch.
"""

from collections.abc import Callable
from typing import Any

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from pieces.checks import checked

Loss = Callable[[nn.Module, Any], tuple[Tensor, Tensor]]


@checked
def next_token_loss(model: nn.Module, batch: Any) -> tuple[Float[Tensor, ""], Tensor]:
    """The sum of -log p over the targets of ``batch`` that count (not -100), and their number.

    ``batch`` has input_ids [B, T] and targets [B, T]: what the model should say at each place.
    """
    return summed_cross_entropy(model(batch.input_ids), batch.targets)


@checked
def translation_loss(model: nn.Module, batch: Any) -> tuple[Float[Tensor, ""], Tensor]:
    """The same for an encoder-decoder.

    ``batch`` has source_ids, source_mask (True = real), target_ids and targets.
    """
    logits = model(batch.source_ids, batch.target_ids, source_mask=batch.source_mask)
    return summed_cross_entropy(logits, batch.targets)


@checked(always=True)
def summed_cross_entropy(
    logits: Float[Tensor, "B T V"], targets: Int[Tensor, "B T"]
) -> tuple[Float[Tensor, ""], Tensor]:
    """The surprise of all targets together, in float32, and how many of them count.

    loss = sum over the targets that are not -100 of -ln softmax(logits)[target]

    Shapes: logits [B, T, V], targets [B, T] -> two numbers, the first in nats.
    """
    flat = logits.flatten(0, 1).float()
    targets = targets.long()
    loss = F.cross_entropy(flat, targets.flatten(), ignore_index=-100, reduction="sum")
    return loss, (targets != -100).sum()
