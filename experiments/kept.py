"""Records of experiments that ship no weights: many small runs, each kept as soon as it is done."""

import json
import re
import statistics
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pieces.train import TrainConfig

POINTS = 25  # of a loss curve


def comparable(config: TrainConfig) -> dict[str, Any]:
    """The settings that all runs share."""
    fields = asdict(config) | {"betas": list(config.betas)}
    return {name: value for name, value in fields.items() if name not in ("seed", "steps")}


def curve(losses: list[float]) -> list[list[float]]:
    """Pairs of step and mean loss until then, from stretches of equal length."""
    length = max(1, len(losses) // POINTS)
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
