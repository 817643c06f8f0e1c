"""The recommended configuration, and each of its switches turned off in turn.

    python experiments/llama_switches.py rates   # one seed, three learning rates each
    python experiments/llama_switches.py seeds   # three other seeds, each at its best rate

The source text recommends pre-norm, RMSNorm, SwiGLU and rotary positions. Here a small LLaMA has
all four; LayerNorm, a GELU network of as many weights, sinusoids, and Post-Norm replace one of
them each; "none of the four" has all replacements at once. A seed gives all of them the same
stories in the same order. The runs are short: none has reached the floor of the stories, which is
known exactly, and ``above_floor`` is the distance to it on held-out text, in nats a word.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from torch import nn

import held_out
from kept import comparable, earlier, keep_run, missing
from one_block import D_MODEL, HEAD_DIM, decoder, parameters, same_start
from pieces.norms import LayerNorm, RMSNorm
from pieces.positions import Rotary, Sinusoidal
from pieces.residual import PostNorm, PreNorm
from pieces.tasks import Stories
from pieces.train import TrainConfig, train

TASK = Stories(128)
CONFIG = TrainConfig(steps=200, batch_size=8, warmup=40, final_share=0.1)
RECORD = Path(__file__).parent / "records" / "llama_switches.json"
PACKAGED = Path(__file__).parents[1] / "src" / "pieces" / "measured" / "llama_switches.json"
RATES, RATES_SEED, SEEDS = (5e-3, 10e-3, 20e-3), 100, (0, 1, 2)
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
    "Post-Norm": {"residual": PostNorm},
}
MODELS = {
    "recommended": RECOMMENDED,
    **{name: RECOMMENDED | switch for name, switch in OFF.items()},
    "none of the four": {part: of for switch in OFF.values() for part, of in switch.items()},
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
    made, curve, taken = built(model, seed), [], 0
    start = time.process_time()

    def look() -> None:
        found = held_out.stories(made, TASK, ROWS)
        curve.append([taken, round(found["loss"] - found["floor"], 5)])

    def draw(count: int, generator: Any) -> Any:
        nonlocal taken
        if taken % EVERY == 0:
            look()
        taken += 1
        return TASK.batch(count, generator=generator)

    config = TrainConfig(**vars(CONFIG) | {"steps": steps, "lr": lr, "seed": seed})
    train(made, draw, config, progress=False)
    look()
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
        "rates_seed": RATES_SEED,
        "training": shared,
    }


def best_rate(runs: list[dict[str, Any]], model: str) -> float:
    """The learning rate with which this model came nearest to the floor, of the seed set apart."""
    own = [run for run in runs if run["model"] == model and run["seed"] == RATES_SEED]
    return min(own, key=lambda run: run["above_floor"])["lr"]


def wanted(part: str, runs: list[dict[str, Any]], steps: int) -> list[dict[str, Any]]:
    """The runs of a part, seed by seed."""
    shared = {"steps": steps}
    if part == "rates":
        return [
            {"model": m, "seed": RATES_SEED, "lr": lr, **shared} for lr in RATES for m in MODELS
        ]
    best = {model: best_rate(runs, model) for model in MODELS}
    return [{"model": m, "seed": s, "lr": best[m], **shared} for s in SEEDS for m in MODELS]


def main() -> None:
    """Each run that is not in the record yet, kept as soon as it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["rates", "seeds"])
    parser.add_argument("--steps", type=int, default=CONFIG.steps)
    asked = parser.parse_args()
    runs = wanted(asked.part, earlier(RECORD, about()), asked.steps)
    for run in missing(RECORD, about(), runs):
        outcome = one(**run)
        keep_run(RECORD, about(), outcome, ("model", "seed", "lr", "steps"))
        PACKAGED.write_bytes(RECORD.read_bytes())
        print(json.dumps({k: v for k, v in outcome.items() if k != "curve"}), flush=True)


if __name__ == "__main__":
    main()
