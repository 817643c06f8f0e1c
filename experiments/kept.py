"""Records of experiments that ship no weights: many small runs, each kept as soon as it is done."""

import argparse
import json
import math
import re
import statistics
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from pieces.train import TrainConfig

MEASURED = Path(__file__).parents[1] / "src" / "pieces" / "book" / "measured"  # what is shipped
POINTS = 25  # of a loss curve


def comparable(config: TrainConfig) -> dict[str, Any]:
    """The settings that all runs share."""
    fields = asdict(config) | {"betas": list(config.betas)}
    return {name: value for name, value in fields.items() if name not in ("seed", "steps")}


def curve(losses: list[float], points: int = POINTS) -> list[list[float]]:
    """Pairs of step and mean loss until then, from stretches of equal length."""
    length = max(1, len(losses) // points)
    starts = range(0, len(losses) - length + 1, length)
    return [[s + length, round(statistics.fmean(losses[s : s + length]), 4)] for s in starts]


def earlier(place: Path, about: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs of a record made in the very same way; others are no longer of interest."""
    if not place.exists():
        return []
    old = json.loads(place.read_text(encoding="utf-8"))
    told = ("about", "runs")
    made = ({k: v for k, v in one.items() if k not in told} for one in (old, about))
    return old["runs"] if next(made) == next(made) else []


def missing(
    place: Path, about: dict[str, Any], wanted: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The runs that the record does not hold yet: a run that was broken off costs itself alone."""
    known = earlier(place, about)
    return [run for run in wanted if not any(run.items() <= one.items() for one in known)]


def by_rate(runs: list[dict[str, Any]], model: str, seeds: tuple[int, ...]) -> dict[float, float]:
    """How far above the floor a model ends at each rate, on average over the seeds that choose.

    A rate that not all of them have tried is left out; a run that ended in no number counts as ∞.
    """
    found: dict[float, list[float]] = {}
    for run in runs:
        if run["model"] == model and run["seed"] in seeds:
            above = run["above_floor"]
            found.setdefault(run["lr"], []).append(math.inf if above is None else above)
    whole = {lr: ends for lr, ends in found.items() if len(ends) == len(seeds)}
    return {lr: statistics.fmean(ends) for lr, ends in sorted(whole.items())}


def keep_run(place: Path, about: dict[str, Any], run: dict[str, Any], key: tuple[str, ...]) -> None:
    """Put a run into the record, in place of an earlier one of the same key."""
    name = [run[part] for part in key]
    runs = [one for one in earlier(place, about) if [one[part] for part in key] != name]
    place.parent.mkdir(exist_ok=True)
    waiting = place.with_suffix(".part")  # a machine that stops here leaves the old record whole
    waiting.write_text(written({**about, "runs": [*runs, run]}), encoding="utf-8")
    waiting.replace(place)


def written(record: dict[str, Any]) -> str:
    """A record as a text, every list of numbers on one line."""
    text = json.dumps(record, indent=1, ensure_ascii=False)
    numbers = r"\[\s*([^\[\]{}\"]*?)\s*\]"
    return re.sub(numbers, lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


def parts_of(place: Path, parts: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """The runs of a record by its parts, none where there is no record yet."""
    old = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    return {part: old.get(part, []) for part in parts}


def keep_parts(made: dict[str, Any], parts: tuple[str, ...], places: tuple[Path, ...]) -> None:
    """Write a record of several parts, a line a run, whole or not at all, in each of its places."""
    lines = {part: [json.dumps(run) for run in made[part]] for part in parts}
    head = json.dumps({k: v for k, v in made.items() if k not in lines}, indent=1)[:-2]
    body = ",\n".join(f' "{k}": [\n  ' + ",\n  ".join(v) + "\n ]" for k, v in lines.items())
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_suffix(".draft")
        draft.write_text(f"{head},\n{body}\n}}\n", encoding="utf-8")
        draft.replace(place)


def one_part(told: str, makes: dict[str, Callable[[dict], None]], record: dict[str, Any]) -> None:
    """Make what is missing of the part of a record that the command line names."""
    parser = argparse.ArgumentParser(description=told.split("\n")[0])
    parser.add_argument("part", choices=makes)
    make = makes[parser.parse_args().part]
    torch.set_num_threads(1)  # the matrices are small: more threads would wait for each other
    make(record)


def each_run(
    told: str,
    kind: str,
    among: Iterable[str],
    seeds: list[int],
    steps: int,
    record: tuple[Path, dict[str, Any]],
    one: Callable[..., dict[str, Any]],
) -> None:
    """Each run that is not in the record yet, seed by seed, kept as soon as it is done.

    A run is one `kind` of model, "scheme" or "model", with a seed and so many steps: `one` of them.
    """
    parser = argparse.ArgumentParser(description=told)
    parser.add_argument(f"--{kind}s", nargs="+", default=list(among), choices=list(among))
    parser.add_argument("--seeds", type=int, nargs="+", default=seeds)
    parser.add_argument("--steps", type=int, default=steps)
    asked = vars(parser.parse_args())
    runs = [
        {kind: name, "seed": seed, "steps": asked["steps"]}
        for seed in asked["seeds"]
        for name in asked[f"{kind}s"]
    ]
    for run in missing(*record, runs):
        outcome = one(**run)
        keep_run(*record, outcome, (kind, "seed", "steps"))
        print(json.dumps({k: v for k, v in outcome.items() if k != "curve"}), flush=True)
