"""Where the norm stands: four placements race, are looked into layer by layer, and go deep.

    python experiments/norm_placement.py race      # placement × depth × learning rate × warm-up
    python experiments/norm_placement.py layers    # stream and gradient of each layer at the start
    python experiments/norm_placement.py deep      # some steps of training at 100 and 1,000 layers

Everything else is the same for all: a small decoder-only model that copies six symbols, plain Adam
without decay and without clipping, one constant learning rate after the warm-up. A run leaves its
line in the record at once, beside those of its placement and depth, and is not made twice.
"""

import argparse
import itertools
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from kept import MEASURED, keep_parts, parts_of
from pieces.losses import next_token_loss
from placed import HEADS, TASK, WIDTH, build
from side_by_side import BATCH, BETAS, side_by_side

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "experiments" / "records" / "norm_placement.json"
PACKAGED = MEASURED / "norm_placement.json"

PARTS = ("race", "layers", "deep")
PLACEMENTS = ("post", "pre", "sandwich", "deep")
STARTS = ("plain", "scaled")
RACE = {"layers": (2, 12), "lr": (1e-3, 4e-3, 1.6e-2), "warmup": (0, 40), "steps": 160}
NARROW = {"D": 16, "n_heads": 2}  # of the models that are trained
DEPTHS = (6, 12, 24, 48, 100, 300, 1000)
DEEP = {100: (50, 3e-3), 1000: (10, 1e-3)}  # steps of training, learning rate
ROWS = 4  # what a gradient at the start is taken from
SHOWN = 40  # layers that are kept


def usual(placement: str) -> str:
    """How a placement is meant to be started."""
    return "scaled" if placement == "deep" else "plain"


def race(placement: str, layers: int, lines: list[dict[str, Any]]) -> None:
    """The runs of one placement and depth."""
    start = usual(placement)
    models = [started(line["seed"], placement, layers, start, **NARROW) for line in lines]
    side_by_side(models, RACE["steps"], lines)


def inside(placement: str, layers: int, lines: list[dict[str, Any]]) -> None:
    """Size of the stream behind each block, and of the gradient of its last matrix, at the start.

    activation_l = rms(x_l),  gradient_l = ‖∂ loss / ∂ W_D of block l‖

    Of deep models some layers are kept, and the least and the largest gradient of all.
    """
    for line in lines:
        model = started(line["seed"], placement, layers, line["start"])
        begun, sizes = time.process_time(), []
        blocks = model.stack.blocks
        for block in blocks:
            block.register_forward_hook(lambda _, given, x, to=sizes: to.append(rms(x)))
        drawn = torch.Generator().manual_seed(line["seed"])
        total, count = next_token_loss(model, TASK.batch(ROWS, generator=drawn))
        (total / count).backward()
        slopes = [block.feed_forward.down.weight.grad.norm().item() for block in blocks]
        at = shown(layers)
        line |= {
            "cpu_seconds": round(time.process_time() - begun, 2),
            "at": at,
            "activation": [float(f"{sizes[i - 1]:.4g}") for i in at],
            "gradient": [float(f"{slopes[i - 1]:.4g}") for i in at],
            "gradient_ends": [float(f"{end:.4g}") for end in (min(slopes), max(slopes))],
        }


def deep(placement: str, layers: int, lines: list[dict[str, Any]]) -> None:
    """Some steps of training at a great depth."""
    steps, lr = DEEP[layers]
    models = [started(run["seed"], placement, layers, run["start"], **NARROW) for run in lines]
    for line in lines:
        line |= {"lr": lr, "warmup": 0}
    side_by_side(models, steps, lines)


def started(seed: int, placement: str, layers: int, start: str, **sizes: int) -> nn.Module:
    """A model of this seed."""
    torch.manual_seed(seed)
    return build(placement, layers, start, **sizes)


def rms(x: Tensor) -> float:
    """The size of a stream."""
    return x.square().mean().sqrt().item()


def shown(layers: int) -> list[int]:
    """Layers that are kept, from 1: all of few, else evenly spread, first and last among them."""
    if layers <= SHOWN:
        return list(range(1, layers + 1))
    return [1 + round(i * (layers - 1) / (SHOWN - 1)) for i in range(SHOWN)]


def settings(part: str, seeds: list[int]) -> list[dict[str, Any]]:
    """All runs of a part, by what tells one from another."""
    if part == "race":
        axes = {"placement": PLACEMENTS, **{n: RACE[n] for n in ("layers", "lr", "warmup")}}
    elif part == "layers":
        axes = {"layers": DEPTHS, "placement": PLACEMENTS, "start": STARTS}
    else:
        kinds = [("deep", "scaled", 100), ("deep", "plain", 100), ("post", "plain", 100)]
        kinds += [("deep", "scaled", 1000), ("deep", "plain", 1000)]
        keys = ("placement", "start", "layers")
        own = [dict(zip(keys, kind, strict=True)) for kind in kinds]
        return [one | {"seed": s} for one in own for s in seeds if s == 0 or one["layers"] == 100]
    axes["seed"] = seeds
    return [dict(zip(axes, v, strict=True)) for v in itertools.product(*axes.values())]


def kept() -> dict[str, Any]:
    """The runs so far, below what is so of them today."""
    inside = {"d_model": WIDTH, "n_heads": HEADS, "d_ff": 4 * WIDTH, "batch_size": ROWS}
    sizes = {"d_model": NARROW["D"], "n_heads": NARROW["n_heads"], "d_ff": 4 * NARROW["D"]}
    sizes |= {"batch_size": BATCH}
    about = {"name": "norm_placement", "about": " ".join(__doc__.split("\n\n")[0].split())}
    training = {"optimizer": f"Adam, betas {BETAS}", "steps": RACE["steps"], **sizes}
    head = about | {"task": "Copy(16, 6)", "training": training, "inside": inside}
    return head | parts_of(RECORD, PARTS)


def keep(made: dict[str, Any]) -> None:
    """Write the record, and what of it the package carries."""
    keep_parts(made, PARTS, (RECORD, PACKAGED))


def main() -> None:
    """Make what is missing of one part."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    torch.set_num_threads(1)  # the matrices are small: more threads would wait for each other
    make = {"race": race, "layers": inside, "deep": deep}[options.part]
    alike = ("placement", "layers", *(("start",) if options.part == "deep" else ()))
    wanted = settings(options.part, options.seeds)
    for _, group in itertools.groupby(wanted, key=lambda one: [one[name] for name in alike]):
        done = kept()[options.part]
        lines = [one for one in group if not any(one.items() <= run.items() for run in done)]
        if lines:
            begun = time.process_time()
            make(lines[0]["placement"], lines[0]["layers"], lines)
            made = kept()  # anew: another part may have been measured meanwhile
            made[options.part] += lines
            keep(made)
            told = {name: lines[0][name] for name in alike}
            print(told, f"{time.process_time() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
