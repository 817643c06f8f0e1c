"""Two layers of attention and nothing else, on stories and on phrases of random words that return.

    python experiments/stories_attention.py [--seeds 0 1 2] [--steps N]

The stories alone would not need a head that copies what came after a word the last time. So the
model first learns phrases alone, LESSON steps of them, until such a head has formed; then every
other row is a story. (Stories and phrases together from the start had made none in 4,000 steps.)
The model reads the table of words backwards (tied): then one rule copies all of them, where a head
of its own learns each word apart. The record holds what each head of attention does (heads.py).
"""

from typing import Any

import torch
from torch import nn

import heads
from common import Experiment, Part, run
from phrases import phrases
from pieces.models.attention_only import AttentionOnlyConfig, attention_only
from pieces.positions import Sinusoidal
from pieces.tasks.base import Batch
from pieces.train import TrainConfig
from small_world import TASK, measure

SIZES = AttentionOnlyConfig(
    TASK.vocab_size, 96, n_layers=2, n_heads=4, max_seq_len=TASK.length, tied=True
)
EVERY = 2  # one row in so many is of random words
LESSON = TrainConfig(steps=1800, batch_size=32, lr=4e-3, warmup=50)


def build() -> nn.Module:
    """A start from which a head that copies is found within minutes.

    Words and places are equally large, and places begin as waves, so that a fixed turn leads from
    each to the one before. A head begins by looking for what is like itself, and by writing back
    what it reads: queries and keys start alike, the output as the transpose of the values.
    """
    model = attention_only(SIZES)
    with torch.no_grad():
        nn.init.normal_(model.embedding.weight, std=SIZES.d_model**-0.5)
        waves = Sinusoidal(SIZES.d_model, base=200.0)(torch.arange(SIZES.max_seq_len))
        model.position.weight.copy_(waves * SIZES.d_model**-0.5)
        for block in model.stack.blocks:
            attention = block.attention
            nn.init.orthogonal_(attention.query.weight, gain=0.6)
            attention.key.weight.copy_(attention.query.weight)
            nn.init.orthogonal_(attention.value.weight)
            attention.output.weight.copy_(attention.value.weight.T / 2)
    return model


def only_phrases(rows: int, *, generator: torch.Generator | None = None) -> Batch:
    """Phrases alone, in rows of half the length: of whole ones it had learned nothing."""
    return phrases(TASK.vocab_size, TASK.length // 2, rows, generator)


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
    config=TrainConfig(steps=3000, batch_size=16, lr=4e-3, warmup=50, final_share=0.02),
    examine=examine,
    lessons=(Part(LESSON, only_phrases),),
)

if __name__ == "__main__":
    run(EXPERIMENT)
