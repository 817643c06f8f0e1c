"""Trained on 32 words, read up to 256: one small decoder, and only its positions differ.

    python experiments/extrapolation.py [--schemes rotary alibi] [--seeds 0 1 2] [--steps N]

The stories serve as text because the probability of every next word is known at every place, so the
distance to the floor can be told word by word, however long the text. Windows of 32 words are cut
anywhere from stories of 256: nothing that is told late in a text is new, only its place is.

``excess`` is loss minus floor, in nats a word, of held-out texts, in stretches of 16 words.
``window`` is the same for a reader who forgets: 32 words at a time, moved on by 16.
A learned table has no row beyond 32, and the package refuses to read on (``refused``). Measured
beside are two ways out: rows that were never trained, and the last row again and again.
"""

import copy
import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from kept import comparable, curve, each_run
from one_block import decoder, parameters, same_start
from pieces.positions import (
    ALiBi,
    Learned,
    PositionalEncoding,
    Rotary,
    Sinusoidal,
    T5Buckets,
)
from pieces.tasks import Stories
from pieces.tasks.base import Batch
from pieces.train import TrainConfig, train

TRAINED, LONGEST, STRETCH = 32, 256, 16
LENGTHS = list(range(STRETCH, LONGEST + 1, STRETCH))
POOL, ROWS, AT_ONCE, POOL_SEED, TEST_SEED = 2000, 200, 50, 777, 12_345
CONFIG = TrainConfig(steps=500, batch_size=16, lr=6e-3, warmup=30, final_share=0.02)
RECORD = Path(__file__).parent / "records" / "extrapolation.json"
MODELS = Path(__file__).parents[1] / "_build" / "experiments"
TASK = Stories(LONGEST)

SCHEMES: dict[str, Callable[[], PositionalEncoding | None]] = {
    "none": lambda: None,
    "sinusoidal": lambda: Sinusoidal(64),
    "learned": lambda: Learned(TRAINED, 64),
    "t5": lambda: T5Buckets(4, bidirectional=False),
    "alibi": lambda: ALiBi(4),
    "rotary": lambda: Rotary(16),
}


@functools.cache
def pool() -> Tensor:
    """Training texts of 257 words, from which every run cuts its windows."""
    batch = TASK.batch(POOL, generator=torch.Generator().manual_seed(POOL_SEED))
    return torch.cat((batch.input_ids, batch.targets[:, -1:]), dim=1)


def windows(batch_size: int, *, generator: torch.Generator | None = None) -> Batch:
    """Stretches of 32 words from anywhere in the texts. Shapes: [B, 32] twice."""
    rows = torch.randint(POOL, (batch_size, 1), generator=generator)
    starts = torch.randint(LONGEST + 1 - TRAINED, (batch_size, 1), generator=generator)
    ids = pool()[rows, starts + torch.arange(TRAINED + 1)]
    return Batch(ids[:, :-1], ids[:, 1:])


@functools.cache
def held_out() -> tuple[Tensor, Tensor, Tensor]:
    """Texts that nobody was trained on, their next words, and the true surprise of each word."""
    batch = TASK.batch(ROWS, "held_out", torch.Generator().manual_seed(TEST_SEED))
    return *batch, -TASK.true_log_probs(*batch)


def built(scheme: str, seed: int) -> nn.Module:
    """A fresh model. All schemes of a seed start from the same matrices."""
    same_start(seed)
    position = SCHEMES[scheme]()
    same_start(seed)
    return decoder(TASK.vocab_size, position=position)


@torch.no_grad()
def surprise(model: nn.Module, ids: Tensor, targets: Tensor, positions: Any = None) -> Tensor:
    """-ln p of each next word. Shapes: [B, T] twice -> [B, T]."""
    parts = []
    for some, next_words in zip(ids.split(AT_ONCE), targets.split(AT_ONCE), strict=True):
        log_probs = model(some, positions=positions).log_softmax(dim=-1)
        parts.append(-log_probs.gather(2, next_words[..., None])[..., 0])
    return torch.cat(parts)


def by_stretch(excess: Tensor) -> list[float]:
    """The mean of each 16 words. Shapes: [B, T] -> T / 16 numbers."""
    return [round(x, 5) for x in excess.unflatten(1, (-1, STRETCH)).mean(dim=(0, 2)).tolist()]


def excess(model: nn.Module, length: int = LONGEST, positions: Any = None) -> list[float]:
    """Loss minus floor over a whole text, stretch by stretch."""
    ids, targets, known = (x[:, :length] for x in held_out())
    return by_stretch(surprise(model, ids, targets, positions) - known)


def forgetful(model: nn.Module) -> list[float]:
    """The same where only the last 17 to 32 words are read."""
    ids, targets, known = held_out()
    parts = [surprise(model, ids[:, :TRAINED], targets[:, :TRAINED])]
    for start in range(STRETCH, LONGEST - STRETCH, STRETCH):
        here = slice(start, start + TRAINED)
        parts.append(surprise(model, ids[:, here], targets[:, here])[:, STRETCH:])
    return by_stretch(torch.cat(parts, dim=1) - known)


def beyond_the_table(model: nn.Module, seed: int) -> dict[str, Any]:
    """What a reader meets past the last row, and two ways around it."""
    try:
        model(held_out()[0][:1, : TRAINED + 1])
        refused = None
    except ValueError as error:
        refused = str(error)
    longer = copy.deepcopy(model)
    same_start(seed)
    longer.position = Learned(LONGEST, 64)
    with torch.no_grad():
        longer.position.weight[:TRAINED] = model.position.weight
    last = torch.arange(LONGEST).clamp(max=TRAINED - 1)
    return {
        "refused": refused,
        "excess": excess(model, TRAINED) + [None] * (len(LENGTHS) - TRAINED // STRETCH),
        "untrained_rows": excess(longer),
        "last_row": excess(model, positions=last),
    }


def trained(scheme: str, seed: int, steps: int) -> tuple[nn.Module, dict[str, Any]]:
    """One model, trained once: its weights wait in _build for whoever asks again."""
    config = TrainConfig(**{**vars(CONFIG), "steps": steps, "seed": seed})
    model = built(scheme, seed)
    MODELS.mkdir(parents=True, exist_ok=True)
    place = MODELS / f"extrapolation-{scheme}-{seed}-{steps}.pt"
    known = place.exists()
    start = time.process_time()
    options = {"checkpoint": place, "save_every": 250, "progress": False}
    record = train(model, windows, config, **options)
    seconds = None if known else round(time.process_time() - start, 1)
    return model.eval(), {"cpu_seconds": seconds, "curve": curve(record.losses)}


def one(scheme: str, seed: int, steps: int) -> dict[str, Any]:
    """A run: trained, and measured at every length."""
    model, told = trained(scheme, seed, steps)
    measured = {"excess": excess(model)} if scheme != "learned" else beyond_the_table(model, seed)
    return {
        "scheme": scheme,
        "seed": seed,
        "steps": steps,
        "parameters": parameters(model),
        **measured,
        "window": forgetful(model),
        **told,
    }


def about() -> dict[str, Any]:
    """What all runs share."""
    return {
        "name": "extrapolation",
        "about": " ".join(__doc__.split()),
        "trained_length": TRAINED,
        "lengths": LENGTHS,
        "held_out_rows": ROWS,
        "floor": by_stretch(held_out()[2]),
        "training": comparable(CONFIG),
    }


def main() -> None:
    """Make the runs that are missing."""
    each_run(__doc__, "scheme", SCHEMES, [0, 1, 2], CONFIG.steps, (RECORD, about()), one)


if __name__ == "__main__":
    main()
