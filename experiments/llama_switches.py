"""The recommended configuration, and each of its switches turned off in turn.

    python experiments/llama_switches.py rates   # seeds set apart: which learning rate is best?
    python experiments/llama_switches.py seeds   # three other seeds, each at its best rate

The source text recommends pre-norm, RMSNorm, SwiGLU and rotary positions. Here a small LLaMA has
all four; LayerNorm, a GELU network of as many weights, sinusoids, and post-norm replace one of
them each; "none of the four" has all replacements at once; "no positions" has nothing in place of
the rotary ones. A seed gives all of them the same stories in the same order. Rates are doubled or
halved until the best one lies between two others. The runs are short: none has reached the floor
of the stories, which is known exactly, and ``above_floor`` is the distance to it on held-out text,
in nats a word.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from torch import nn

from kept import MEASURED, by_rate, comparable, earlier, keep_run, missing
from one_block import D_MODEL, HEAD_DIM, decoder, parameters, same_start
from pieces.norms import LayerNorm, RMSNorm
from pieces.positions import Rotary, Sinusoidal
from pieces.residual import PostNorm, PreNorm
from pieces.tasks import Stories
from pieces.train import TrainConfig
from watched import watched

TASK = Stories(128)
CONFIG = TrainConfig(steps=200, batch_size=8, warmup=40, final_share=0.1)
RECORD = Path(__file__).parent / "records" / "llama_switches.json"
PACKAGED = MEASURED / "llama_switches.json"
RATES, RATES_SEEDS, SEEDS = (5e-3, 10e-3, 20e-3), (100, 101), (0, 1, 2)
EVERY, ROWS = 50, 200

RECOMMENDED: dict[str, Any] = {
    "position": lambda: Rotary(HEAD_DIM),
    "norm": RMSNorm,
    "gated": True,
    "residual": PreNorm,
}
OFF: dict[str, dict[str, Any]] = {
    "LayerNorm": {"norm": LayerNorm},
    "GELU": {"gated": False},
    "sinusoids": {"position": lambda: Sinusoidal(D_MODEL)},
    "post-norm": {"residual": PostNorm},
}
MODELS = {
    "recommended": RECOMMENDED,
    **{name: RECOMMENDED | switch for name, switch in OFF.items()},
    "none of the four": {part: of for switch in OFF.values() for part, of in switch.items()},
    "no positions": RECOMMENDED | {"position": lambda: None},
}


def built(name: str, seed: int) -> nn.Module:
    """A fresh model, without biases, whose head is the table of its words."""
    same_start(seed)
    parts = dict(MODELS[name])
    position = parts.pop("position")()
    same_start(seed)
    return decoder(TASK.vocab_size, position=position, bias=False, **parts)


def one(model: str, seed: int, lr: float, steps: int) -> dict[str, Any]:
    """Train once; how far above the floor it is every 50 steps."""
    made = built(model, seed)
    start = time.process_time()
    config = TrainConfig(**vars(CONFIG) | {"steps": steps, "lr": lr, "seed": seed})
    curve = watched(made, TASK, config, EVERY, ROWS)
    return {
        "model": model,
        "seed": seed,
        "lr": lr,
        "steps": steps,
        "parameters": parameters(made),
        "above_floor": curve[-1][1],
        "cpu_seconds": round(time.process_time() - start, 1),
        "curve": curve,
    }


def about() -> dict[str, Any]:
    """What all runs share."""
    shared = {name: value for name, value in comparable(CONFIG).items() if name != "lr"}
    return {
        "name": "llama_switches",
        "about": " ".join((__doc__ or "").split()),
        "held_out_rows": ROWS,
        "rates": list(RATES),
        "rates_seeds": list(RATES_SEEDS),
        "training": shared,
    }


def best_rate(runs: list[dict[str, Any]], model: str) -> float:
    """The learning rate with which this model came nearest to the floor."""
    found = by_rate(runs, model, RATES_SEEDS)
    return min(found, key=found.__getitem__)


def next_rates(runs: list[dict[str, Any]], model: str) -> tuple[float, ...]:
    """The rates that a model still needs: those that all get, then one beyond a best at an edge."""
    found = by_rate(runs, model, RATES_SEEDS)
    fresh = tuple(lr for lr in RATES if lr not in found)
    if fresh:
        return fresh
    best = best_rate(runs, model)
    beyond = {min(found): best / 2, max(found): best * 2}
    return (beyond[best],) if best in beyond else ()


def wanted(part: str, runs: list[dict[str, Any]], steps: int) -> list[dict[str, Any]]:
    """The runs of a part that are needed next, seed by seed; no more of them when all is known."""
    if part == "rates":
        asked = [(m, s, lr) for s in RATES_SEEDS for m in MODELS for lr in next_rates(runs, m)]
    else:
        asked = [(m, s, best_rate(runs, m)) for s in SEEDS for m in MODELS]
    return [{"model": m, "seed": s, "lr": lr, "steps": steps} for m, s, lr in asked]


def main() -> None:
    """Each run that is not in the record yet, kept as soon as it is done, until none is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["rates", "seeds"])
    parser.add_argument("--steps", type=int, default=CONFIG.steps)
    asked = parser.parse_args()

    def next_runs() -> list[dict[str, Any]]:
        runs = wanted(asked.part, earlier(RECORD, about()), asked.steps)
        return missing(RECORD, about(), runs)

    while runs := next_runs():
        outcome = one(**runs[0])
        keep_run(RECORD, about(), outcome, ("model", "seed", "lr", "steps"))
        PACKAGED.write_bytes(RECORD.read_bytes())
        print(json.dumps({k: v for k, v in outcome.items() if k != "curve"}), flush=True)


if __name__ == "__main__":
    main()
