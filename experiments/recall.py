"""Why a small LLaMA learns to look up what a small GPT-2 does not: one part changed at a time.

    python experiments/recall.py [--models gpt2 llama] [--seeds 0 1 2] [--steps N]
    python experiments/recall.py --steps 750 --seeds 0 1 2

The task is associative recall: read four keys with a value each, then say the value of one of the
keys. The two families differ in five parts: positions, norm, feed-forward network, biases, and
whether the head is the embedding's table. Into a GPT-2 each part of the LLaMA is put alone, and
into a LLaMA each part of the GPT-2. Some were trained three times as long, to see whether it is a
matter of patience.

Words start at 0.3 in all of them. The package's builders start them at 0.02, as large models do:
"llama, words at 0.02" shows what that alone costs a short run.

Who knows nothing has a loss of ln 8; who knows which values a row holds, but not whose they are,
about ln 4 (``guess``, exactly). Who looks up has 0.
"""

import math
import time
from typing import Any

import torch
from torch import nn

from kept import MEASURED, comparable, curve, each_run
from one_block import Start, decoder, parameters, same_start
from pieces.losses import next_token_loss
from pieces.norms import LayerNorm, RMSNorm
from pieces.positions import Learned, Rotary
from pieces.tasks import AssociativeRecall
from pieces.train import TrainConfig, train

TASK = AssociativeRecall(n_keys=8, n_values=8, n_pairs=4, n_queries=1)
CONFIG = TrainConfig(steps=250, batch_size=128, lr=1e-2, warmup=20)
RECORD = MEASURED / "recall.json"
ROWS, TEST_SEED = 1000, 12_345

GPT2: dict[str, Any] = {
    "position": lambda: Learned(32, 64),
    "norm": LayerNorm,
    "gated": False,
    "bias": True,
    "tied": True,
    "start": Start(std=0.3),
}
LLAMA: dict[str, Any] = {
    "position": lambda: Rotary(16),
    "norm": RMSNorm,
    "gated": True,
    "bias": False,
    "tied": False,
    "start": Start(std=0.3),
}
MODELS = {
    "gpt2": GPT2,
    "llama": LLAMA,
    "gpt2, rotary": GPT2 | {"position": LLAMA["position"]},
    "llama, learned": LLAMA | {"position": GPT2["position"]},
    "gpt2, RMSNorm": GPT2 | {"norm": RMSNorm},
    "gpt2, SwiGLU": GPT2 | {"gated": True},
    "gpt2, no biases": GPT2 | {"bias": False},
    "gpt2, own head": GPT2 | {"tied": False},
    "llama, LayerNorm": LLAMA | {"norm": LayerNorm},
    "llama, GELU": LLAMA | {"gated": False},
    "llama, biases": LLAMA | {"bias": True},
    "llama, tied head": LLAMA | {"tied": True},
    "llama, words at 0.02": LLAMA | {"start": Start()},
}


def built(name: str, seed: int) -> nn.Module:
    """A fresh model."""
    same_start(seed)
    parts = dict(MODELS[name])
    position = parts.pop("position")()
    return decoder(TASK.vocab_size, position=position, **parts)


def held_out() -> Any:
    """Rows that nobody was trained on."""
    return TASK.batch(ROWS, "held_out", torch.Generator().manual_seed(TEST_SEED))


def guess() -> float:
    """The loss of who knows the values of a row, as often as they occur, and not whose they are."""
    values = held_out().input_ids[:, 1 : 2 * TASK.n_pairs : 2]
    same = (values[:, :, None] == values[:, None]).sum(dim=2)
    return (math.log(TASK.n_pairs) - same.float().log().mean()).item()


@torch.no_grad()
def measured(model: nn.Module) -> dict[str, float]:
    """Loss and share of right answers."""
    batch = held_out()
    logits = model.eval()(batch.input_ids)
    total, count = next_token_loss(model, batch)
    accuracy = TASK.accuracy(logits, batch.targets)
    return {"loss": round((total / count).item(), 5), "accuracy": round(accuracy, 5)}


def one(model: str, seed: int, steps: int) -> dict[str, Any]:
    """A run: trained, and asked."""
    built_ = built(model, seed)
    start = time.process_time()
    config = TrainConfig(**{**vars(CONFIG), "steps": steps, "seed": seed})
    record = train(built_, TASK.batch, config, progress=False)
    return {
        "model": model,
        "seed": seed,
        "steps": steps,
        "parameters": parameters(built_),
        **measured(built_),
        "cpu_seconds": round(time.process_time() - start, 1),
        "curve": curve(record.losses),
    }


def about() -> dict[str, Any]:
    """What all runs share."""
    return {
        "name": "recall",
        "about": " ".join(__doc__.split()),
        "floor": 0.0,
        "guess": round(guess(), 5),
        "held_out_rows": ROWS,
        "training": comparable(CONFIG),
    }


def main() -> None:
    """Make the runs that are missing."""
    each_run(__doc__, "model", MODELS, [0, 1, 2, 3, 4], CONFIG.steps, (RECORD, about()), one)


if __name__ == "__main__":
    main()
