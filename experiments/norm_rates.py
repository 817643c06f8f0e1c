"""Each placement of the norm at its own best learning rate and warm-up, in a short and a long run.

    python experiments/norm_rates.py choose     # seeds that only choose, on a grid of rates
    python experiments/norm_rates.py judge      # five other seeds, each placement at what it chose

The models, the task and Adam are those of norm_placement.py. What has the lowest loss at the end,
on average over the seeds that choose, is what a placement is judged with. A rate or a warm-up at
the edge of its grid is refused, but for no warm-up at all and one that lasts the whole run: within
the run a longer one climbs as this one does towards a lower rate. ``end`` is the mean of the last
ten steps.

The long run is that of Post with twelve layers, which the short one leaves at the guess; the others
have learned by then.
"""

import itertools
import statistics
from pathlib import Path
from typing import Any

from kept import MEASURED, keep_parts, one_part, parts_of
from norm_placement import NARROW, PLACEMENTS, started, usual
from side_by_side import BATCH, BETAS, side_by_side

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "experiments" / "records" / "norm_rates.json"
PACKAGED = MEASURED / "norm_rates.json"

PARTS = ("choose", "judge")
SHORT, LONG, LAST = 160, 1000, 10
LAYERS = (2, 12)
RATES, WARMUPS = (5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2, 3.2e-2, 6.4e-2), (0, 20, 40, 80)
WIDER = {"sandwich": (120, 160)}  # of twelve layers, where the best stood at the edge
DEEP_RATES, DEEP_WARMUPS = (2e-3, 4e-3, 8e-3, 1.6e-2, 3.2e-2), (0, 40, 80)
LONG_RATES, LONG_WARMUPS = (1e-3, 2e-3, 4e-3, 8e-3), (100, 200, 400, 600, 800, 1000)
CHOOSING = (100, 101, 102, 103, 104)
SEEDS = tuple(range(5))
SHORT_POINTS, LONG_POINTS = 32, 50  # of a curve
Setting = dict[str, Any]


def grid(placement: str, layers: int, steps: int) -> list[Setting]:
    """What is tried for a placement: the whole grid where models are cheap, and for deep Post.

    The other three learn in few steps, deep as well, and at larger rates than Post.
    """
    if steps == LONG:
        rates, warmups = LONG_RATES, LONG_WARMUPS
    elif placement == "post" or layers == min(LAYERS):
        rates, warmups = RATES, WARMUPS
    else:
        rates, warmups = DEEP_RATES, DEEP_WARMUPS + WIDER.get(placement, ())
    kind = {"placement": placement, "layers": layers, "steps": steps}
    return [kind | {"lr": lr, "warmup": w} for lr, w in itertools.product(rates, warmups)]


def searched() -> list[list[Setting]]:
    """The grids, one for each placement and depth, and for Post in the long run."""
    short = [grid(place, layers, SHORT) for layers in LAYERS for place in PLACEMENTS]
    return [*short, grid("post", max(LAYERS), LONG)]


def judged() -> list[Setting]:
    """The races that are judged."""
    short = [(place, layers, SHORT) for layers in LAYERS for place in PLACEMENTS]
    keys = ("placement", "layers", "steps")
    return [dict(zip(keys, one, strict=True)) for one in [*short, ("post", max(LAYERS), LONG)]]


def run(settings: list[Setting], seeds: tuple[int, ...], points: int) -> list[Setting]:
    """The settings, each trained from each seed. All are of one placement, depth and length."""
    lines = [one | {"seed": seed} for one in settings for seed in seeds]
    place, layers, steps = (lines[0][key] for key in ("placement", "layers", "steps"))
    models = [started(line["seed"], place, layers, usual(place), **NARROW) for line in lines]
    side_by_side(models, steps, lines, stretch=steps // points)
    return lines


def choose(made: dict[str, Any]) -> None:
    """Make the grids that are not there yet: of each setting, where its seeds ended."""
    for settings in searched():
        done = [{key: one[key] for key in settings[0]} for one in made["choose"]]
        waiting = [one for one in settings if one not in done]
        if waiting:
            lines = run(waiting, CHOOSING, waiting[0]["steps"] // LAST)
            for one in waiting:
                ends = [ended(line) for line in lines if one.items() <= line.items()]
                made["choose"].append(one | {"seeds": list(CHOOSING), "end": ends})
            keep(made)
            print(waiting[0], flush=True)


def ended(line: Setting) -> float | None:
    """The loss at the end; None where the numbers ended before."""
    whole = len(line["curve"]) * LAST == line["steps"]
    return line["curve"][-1] if whole else None


def best(made: dict[str, Any], placement: str, layers: int, steps: int) -> Setting:
    """The rate and warm-up that a placement chose. Raises: ValueError if it is at an edge."""
    own = [one for one in made["choose"] if is_of(one, placement, layers, steps)]
    finite = [one for one in own if None not in one["end"]]
    found = min(finite, key=lambda one: statistics.fmean(one["end"]))
    rates, warmups = ({one[key] for one in own} for key in ("lr", "warmup"))
    natural = found["warmup"] in (0, steps)
    at_edge = found["lr"] in (min(rates), max(rates))
    at_edge |= found["warmup"] in (min(warmups), max(warmups)) and not natural
    if at_edge:
        what = f"{placement}, {layers} layers, {steps} steps"
        raise ValueError(f"{what}: the best, {found}, is at the edge; widen the grid")
    return {"lr": found["lr"], "warmup": found["warmup"]}


def is_of(one: Setting, placement: str, layers: int, steps: int) -> bool:
    """Whether a line is of this race."""
    return (one["placement"], one["layers"], one["steps"]) == (placement, layers, steps)


def judge(made: dict[str, Any]) -> None:
    """Make the judged runs that are missing, with their curves."""
    for race in judged():
        setting = race | best(made, **race)
        old = [one for one in made["judge"] if is_of(one, **race)]
        if {one["seed"] for one in old if setting.items() <= one.items()} == set(SEEDS):
            continue
        made["judge"] = [one for one in made["judge"] if one not in old]
        made["judge"] += run(
            [setting], SEEDS, SHORT_POINTS if race["steps"] == SHORT else LONG_POINTS
        )
        keep(made)
        print(setting, flush=True)


def kept() -> dict[str, Any]:
    """The record so far."""
    about = {"name": "norm_rates", "about": " ".join(__doc__.split()), "task": "Copy(16, 6)"}
    sizes = {"d_model": NARROW["D"], "n_heads": NARROW["n_heads"], "d_ff": 4 * NARROW["D"]}
    training = {"optimizer": f"Adam, betas {BETAS}", "batch_size": BATCH, **sizes}
    return about | {"training": training} | parts_of(RECORD, PARTS)


def keep(made: dict[str, Any]) -> None:
    """Write the record, and what of it the package carries."""
    keep_parts(made, PARTS, (RECORD, PACKAGED))


def main() -> None:
    """Make what is missing of one part."""
    one_part(__doc__, {"choose": choose, "judge": judge}, kept())


if __name__ == "__main__":
    main()
