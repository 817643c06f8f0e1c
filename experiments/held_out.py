"""How a model does on text it was not trained on: the same text in every run."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from pieces.losses import summed_cross_entropy
from pieces.tasks import exact

ROWS, STORIES, AT_ONCE, SEED = 2000, 1000, 100, 12_345


def batches(draw: Callable[..., Any], rows: int, seed: int = SEED) -> Iterator[Any]:
    """``rows`` held-out rows, a hundred at once."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(rows // AT_ONCE):
        yield draw(AT_ONCE, "held_out", generator=generator)


@torch.no_grad()
def translation(
    model: nn.Module, task: Any, rows: int = ROWS, seed: int = SEED
) -> dict[str, float]:
    """Loss, share of right words and of sentences that are right from first to last.

    Each sentence has one translation, so the best possible model has a loss of 0. A sentence whose
    words are all the likeliest behind the right ones is what greedy decoding writes.
    """
    model.eval()
    loss = count = right = whole = 0.0
    for batch in batches(task.pairs, rows, seed):
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


@torch.no_grad()
def stories(model: nn.Module, task: Any, rows: int = STORIES, seed: int = SEED) -> dict[str, float]:
    """Loss and share of likeliest words that came, beside those of who knows the whole world.

    ``floor`` is the world's: what a model can hope for that has learnt how stories go, and not by
    heart which things never came in which colour. ``floor_rule`` is lower: it knows what is held
    out. Both are of these very rows, so ``loss - floor`` has little noise.
    """
    model.eval()
    loss = right = known = rule = count = 0.0
    for batch in batches(task.batch, rows, seed):
        logits = model(batch.input_ids)
        total, counted = summed_cross_entropy(logits, batch.targets)
        loss, count = loss + total.item(), count + counted.item()
        right += task.accuracy(logits, batch.targets) * counted.item()
        truth, split = truths(task, batch)
        known, rule = known - truth, rule - split
    return {
        "loss": loss / count,
        "floor": known / count,
        "floor_rule": rule / count,
        "accuracy": right / count,
        "held_out_rows": rows,
    }


KNOWN: dict[bytes, tuple[float, float]] = {}  # the truth about a batch takes seconds, once


def truths(task: Any, batch: Any) -> tuple[float, float]:
    """The sums of ln p over a batch: in the whole world, and in that of the held-out rows."""
    key = batch.input_ids.numpy().tobytes()
    if key not in KNOWN:
        whole, split = (
            task.true_log_probs(batch.input_ids, batch.targets, split=name).double().sum().item()
            for name in (None, "held_out")
        )
        KNOWN[key] = whole, split
    return KNOWN[key]
