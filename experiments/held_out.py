"""How a model does on text it was not trained on: the same text in every run."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from pieces.losses import summed_cross_entropy
from pieces.tasks import Task, exact

ROWS, AT_ONCE, SEED = 2000, 100, 12_345


def batches(draw: Callable[..., Any], rows: int = ROWS) -> Iterator[Any]:
    """``rows`` held-out rows, a hundred at once."""
    generator = torch.Generator().manual_seed(SEED)
    for _ in range(rows // AT_ONCE):
        yield draw(AT_ONCE, "held_out", generator=generator)


@torch.no_grad()
def translation(model: nn.Module, task: Any, rows: int = ROWS) -> dict[str, float]:
    """Loss, share of right words and of sentences that are right from first to last.

    Each sentence has one translation, so the best possible model has a loss of 0. A sentence whose
    words are all the likeliest behind the right ones is what greedy decoding writes.
    """
    model.eval()
    loss = count = right = whole = 0.0
    for batch in batches(task.pairs, rows):
        logits = model(batch.source_ids, batch.target_ids, source_mask=batch.source_mask)
        total, counted = summed_cross_entropy(logits, batch.targets)
        loss, count = loss + total.item(), count + counted.item()
        right += task.accuracy(logits, batch.targets) * counted.item()
        whole += exact(logits, batch.targets) * len(logits)
    return {
        "loss": loss / count,
        "floor": 0.0,
        "accuracy": right / count,
        "exact": whole / rows,
        "held_out_rows": rows,
    }


def stories(model: nn.Module, task: Task, rows: int = ROWS) -> dict[str, float]:
    """Later."""
    raise NotImplementedError
