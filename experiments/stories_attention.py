"""Two layers of attention and nothing else, on stories and on phrases of random words that return.

    python experiments/stories_attention.py [--seeds 0 1 2] [--steps N]

Every other row is of random words (phrases.py), for the stories alone would not need a head that
copies what came behind a word the last time. The model reads the table of words backwards (tied):
then one rule copies all of them, where a head of its own learns each word apart. The record holds
what each head of attention does (heads.py).
"""

from typing import Any

import torch
from torch import nn

import heads
from common import Experiment, run
from phrases import phrases
from pieces.models.attention_only import AttentionOnlyConfig, attention_only
from pieces.tasks.base import Batch
from pieces.train import TrainConfig
from small_world import TASK, measure

SIZES = AttentionOnlyConfig(
    TASK.vocab_size, 96, n_layers=2, n_heads=4, max_seq_len=TASK.length, tied=True
)
EVERY = 2  # one row in so many is of random words


def build() -> nn.Module:
    """Words and places start equally large, so that a head can tell the place before soon."""
    model = attention_only(SIZES)
    nn.init.normal_(model.position.weight, std=SIZES.d_model**-0.5)
    return model


def draw(batch_size: int, *, generator: torch.Generator | None = None) -> Batch:
    """Stories, and below them phrases."""
    random = batch_size // EVERY
    told = TASK.batch(batch_size - random, generator=generator)
    said = phrases(TASK.vocab_size, TASK.length, random, generator)
    return Batch(*(torch.cat(parts) for parts in zip(told, said, strict=True)))


def examine(model: nn.Module) -> dict[str, Any]:
    """The heads on random words; and the loss on stories without the induction head."""
    found = heads.examine(model, torch.arange(TASK.vocab_size))
    with heads.without(model, *found["induction_head"]):
        found["loss_without_induction_head"] = measure(model)["loss"]
    return found


EXPERIMENT = Experiment(
    name="stories_attention",
    about=__doc__,
    task=TASK,
    build=build,
    draw=draw,
    measure=measure,
    config=TrainConfig(steps=2400, batch_size=12, lr=6e-3, warmup=50, final_share=0.02),
    examine=examine,
)

if __name__ == "__main__":
    run(EXPERIMENT)
