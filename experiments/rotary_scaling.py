"""One trained RoPE model read beyond its length with each scaling, and not trained again.

    python experiments/rotary_scaling.py [--seeds 0 1 2] [--steps N]

The models are those of extrapolation.py (trained up to 32 words, read up to 256); only the angles
of their clocks are changed. ``excess`` is loss minus floor, in nats a word, in stretches of 16. The
dynamic scaling looks at the length of the text, so each stretch ends a text of its own; all others
give a word the same whatever follows it.
"""

import argparse
import copy
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import nn

import extrapolation
from extrapolation import CONFIG, LENGTHS, LONGEST, TRAINED, excess, trained
from kept import keep_run, missing
from pieces.positions import DynamicNTK, Linear, Llama3, NTKAware, Rotary, Unscaled, YaRN

RECORD = Path(__file__).parent / "records" / "rotary_scaling.json"
FACTORS = (2, 4, 8)


def scalings(trained: int) -> dict[str, Callable[[float], Unscaled]]:
    """Each scaling of a model that was trained up to so many words, by its name."""
    return {
        "linear": Linear,
        "ntk": NTKAware,
        "dynamic": lambda factor: DynamicNTK(factor, trained),
        "yarn": lambda factor: YaRN(factor, trained),
        "llama3": lambda factor: Llama3(factor, trained),
    }


SCALINGS = scalings(TRAINED)


def scaled(model: nn.Module, scaling: Unscaled) -> nn.Module:
    """The same weights, with clocks that turn otherwise."""
    other = copy.copy(model)
    other._modules = {**model._modules, "position": Rotary(16, scaling=scaling)}
    return other


def measured(model: nn.Module, name: str, factor: int) -> list[float]:
    """Distance to the floor by stretch; no scaling where ``name`` is "unscaled"."""
    if name == "unscaled":
        return excess(model)
    other = scaled(model, SCALINGS[name](factor))
    if name != "dynamic":
        return excess(other)
    return [excess(other, length)[-1] for length in LENGTHS]


def one(scaling: str, factor: int, seed: int, steps: int) -> dict[str, Any]:
    """A run: a trained model, measured with one scaling."""
    start = time.process_time()
    model, _ = trained("rotary", seed, steps)
    run = {"scaling": scaling, "factor": factor, "seed": seed, "steps": steps}
    return run | {
        "excess": measured(model, scaling, factor),
        "cpu_seconds": round(time.process_time() - start, 1),
    }


def about() -> dict[str, Any]:
    """What all runs share."""
    return extrapolation.about() | {
        "name": "rotary_scaling",
        "about": " ".join(__doc__.split()),
        "longest": LONGEST,
    }


def main() -> None:
    """Each run that is not in the record yet, kept as soon as it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=CONFIG.steps)
    asked = parser.parse_args()
    kinds = [("unscaled", 1), *((name, factor) for factor in FACTORS for name in SCALINGS)]
    runs = [
        {"scaling": name, "factor": factor, "seed": seed, "steps": asked.steps}
        for seed in asked.seeds
        for name, factor in kinds
    ]
    for run in missing(RECORD, about(), runs):
        outcome = one(**run)
        keep_run(RECORD, about(), outcome, ("scaling", "factor", "seed", "steps"))
        print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main()
