"""The workbench's variants: a small decoder, one part swapped at a time, on the stories.

    python experiments/workbench.py

The baseline has two layers of 64, four heads, rotary positions, RMSNorm before each sublayer and
SwiGLU. Every variant swaps one part of it (``swapped.py`` builds them), and all get the same
stories in the same order from a seed, for the same number of steps. Each variant takes a learning
rate of its own: the best on average over two seeds set apart, among rates that are doubled or
halved until the best one lies between two others. Three other seeds judge it. ``above_floor`` is
the distance to the floor of the stories, which is known exactly, on held-out text, in nats a word;
null where a run ended in no number. The runs are short: none has reached the floor.
"""

import argparse
import contextlib
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

import held_out
from kept import MEASURED, by_rate, comparable, earlier, keep_run, missing
from pieces.tasks import Stories
from pieces.train import TrainConfig, train
from swapped import BASE, Parts, built

TASK = Stories(128)
CONFIG = TrainConfig(steps=120, batch_size=8, warmup=30, final_share=0.1)
ROOT = Path(__file__).parents[1]
RECORD = ROOT / "experiments" / "records" / "workbench.json"
PACKAGED = MEASURED / "workbench.json"
RATES, RATES_SEEDS, SEEDS = (20e-3, 40e-3, 80e-3), (100, 101), (0, 1, 2)
ROWS = 200

SWAPS: dict[str, Parts] = {
    "baseline": {},
    "no positions": {"position": "none"},
    "Post": {"place": "post"},
    "one key-value head": {"n_kv_heads": 1},
    "ALiBi": {"position": "alibi"},
    "GELU": {"activation": "gelu"},
    "LayerNorm": {"norm": "layer"},
    "no norm": {"norm": "none"},
    "sinusoids": {"position": "sinusoidal"},
    "four experts": {"n_experts": 4, "n_chosen": 2},
}
KEY = ("model", "seed", "lr", "steps")


def one(model: str, seed: int, lr: float, steps: int) -> dict[str, Any]:
    """Train once, and see how far above the floor it ends."""
    torch.manual_seed(seed)
    made, start = built(BASE | SWAPS[model]), time.process_time()
    config = TrainConfig(**vars(CONFIG) | {"steps": steps, "lr": lr, "seed": seed})
    above = math.inf
    with contextlib.suppress(FloatingPointError):  # the run has ended in no number
        train(made, lambda n, generator: TASK.batch(n, generator=generator), config, progress=False)
        found = held_out.stories(made, TASK, ROWS)
        above = found["loss"] - found["floor"]
    return {
        "model": model,
        "swap": SWAPS[model],
        "seed": seed,
        "lr": lr,
        "steps": steps,
        "parameters": sum(p.numel() for p in made.parameters()),
        "above_floor": round(above, 5) if math.isfinite(above) else None,
        "cpu_seconds": round(time.process_time() - start, 1),
    }


def about() -> dict[str, Any]:
    """What all runs share."""
    shared = {name: value for name, value in comparable(CONFIG).items() if name != "lr"}
    return {
        "name": "workbench",
        "about": " ".join((__doc__ or "").split()),
        "base": BASE,
        "held_out_rows": ROWS,
        "rates": list(RATES),
        "rates_seeds": list(RATES_SEEDS),
        "training": shared,
    }


def wanted(runs: list[dict[str, Any]], model: str) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """The seeds and rates that a model needs next: those of all, one beyond an edge, the judges."""
    found = by_rate(runs, model, RATES_SEEDS)
    fresh = tuple(lr for lr in RATES if lr not in found)
    if fresh:
        return RATES_SEEDS, fresh
    best = min(found, key=found.__getitem__)
    beyond = {min(found): best / 2, max(found): best * 2}
    return (RATES_SEEDS, (beyond[best],)) if best in beyond else (SEEDS, (best,))


def next_runs(steps: int) -> Iterator[dict[str, Any]]:
    """Every run that is not in the record yet, model by model."""
    for model in SWAPS:
        while True:
            seeds, rates = wanted(earlier(RECORD, about()), model)
            asked = [
                {"model": model, "seed": seed, "lr": lr, "steps": steps}
                for lr in rates
                for seed in seeds
            ]
            left = missing(RECORD, about(), asked)
            if not left:
                break
            yield left[0]


def main() -> None:
    """Train what is wanted, and keep each run as soon as it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=CONFIG.steps)
    asked = parser.parse_args()
    for run in next_runs(asked.steps):
        outcome = one(**run)
        keep_run(RECORD, about(), outcome, KEY)
        PACKAGED.write_bytes(RECORD.read_bytes())
        print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main()
