"""What every experiment does: train from each seed, measure held out, keep weights and record.

    run(Experiment(...))        called by each script; `--help` shows what it takes

The longest run of seed 0 is the one shipped, whatever the other seeds bring. All runs stand in
experiments/records/<name>.json; one of the same seed and steps replaces its earlier self.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from kept import comparable, curve
from pieces.losses import Loss, next_token_loss
from pieces.tasks import Task
from pieces.train import Draw, TrainConfig, train
from pieces.trained import load, pack, path_of, unpack
from pieces.trained.file import with_record
from pieces.trained.kinds import kind_of_model, plain

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "experiments" / "records"
UNFINISHED = ROOT / "_build" / "experiments"
SHIPPED_SEED = 0
MEGABYTE = 1_000_000
POINTS = 40  # of a loss curve

Measure = Callable[[nn.Module], dict[str, float]]


@dataclass(frozen=True)
class Part:
    """A stretch of a training, with a learning rate that climbs and falls once."""

    config: TrainConfig
    draw: Draw


@dataclass(frozen=True)
class Experiment:
    """One trained model: what is built, on what it is trained, and how it is judged.

    ``measure(model)`` gives at least loss and floor, in nats a token, of held-out text.
    ``examine(model)`` is for what is asked of the shipped weights of every seed besides;
    ``lessons`` are what a model learns before the last part, which is ``config`` and ``draw``.
    ``begun_from`` names a shipped model whose weights ``build`` takes for a beginning.
    """

    name: str
    about: str
    task: Task
    build: Callable[[], nn.Module]
    draw: Draw
    measure: Measure
    config: TrainConfig
    loss: Loss = next_token_loss
    precision: str = "int8"
    examine: Callable[[nn.Module], dict[str, Any]] = lambda model: {}
    arguments: dict[str, Any] = field(default_factory=dict)
    lessons: tuple[Part, ...] = ()
    begun_from: str | None = None


def run(experiment: Experiment) -> None:
    """Train from each seed of the command line, and keep what comes of it at once."""
    options = asked(experiment)
    for seed in options.seeds:
        print(f"{experiment.name}, seed {seed}", flush=True)
        config = replace(experiment.config, seed=seed, steps=options.steps)
        model, outcome = trained(experiment, config)
        keep(experiment, model, outcome)
        told = {name: value for name, value in outcome.items() if name != "curve"}
        print(json.dumps(told, indent=1), flush=True)


def asked(experiment: Experiment) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=experiment.about)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    steps = experiment.config.steps
    told = f"of the last part, {steps} if left out; weights of fewer are not shipped over more"
    parser.add_argument("--steps", type=int, default=steps, help=told)
    return parser.parse_args()


def trained(experiment: Experiment, config: TrainConfig) -> tuple[nn.Module, dict[str, Any]]:
    """One run, resumed if it was broken off, and what came of it."""
    torch.manual_seed(config.seed)
    model = experiment.build()
    UNFINISHED.mkdir(parents=True, exist_ok=True)
    lessons = [replace(x, config=replace(x.config, seed=config.seed)) for x in experiment.lessons]
    parts = [*lessons, Part(config, experiment.draw)]
    places = [place_of(experiment, config, n) for n in range(len(parts))]
    resumed, start = any(place.exists() for place in places), time.process_time()
    losses = []
    for part, place in zip(parts, places, strict=True):
        saving = {"checkpoint": place, "save_every": 100, "progress": sys.stderr.isatty()}
        losses += train(model, part.draw, part.config, loss=experiment.loss, **saving).losses
    seconds = time.process_time() - start
    model.eval()
    shipped = as_shipped(experiment, model)
    outcome = {
        "seed": config.seed,
        "steps": len(losses),
        "parts": [{"steps": one.config.steps, "lr": one.config.lr} for one in parts],
        **beginning(experiment),
        **experiment.measure(shipped),
        "loss_float32": experiment.measure(model)["loss"],
        "precision": experiment.precision,
        "parameters": sum(p.numel() for p in model.parameters()),
        "cpu_seconds": None if resumed else round(seconds),
        **experiment.examine(shipped),
        "curve": curve(losses, POINTS),
    }
    for place in places:
        place.unlink()
    return model, outcome


def beginning(experiment: Experiment) -> dict[str, Any]:
    """The shipped model whose weights a run began from, and how long that had been trained."""
    if experiment.begun_from is None:
        return {}
    record = load(experiment.begun_from).record
    return {
        "begun_from": {"name": experiment.begun_from, "seed": record.seed, "steps": record.steps}
    }


def place_of(experiment: Experiment, config: TrainConfig, part: int) -> Path:
    """Where a part of a run is kept until the whole is done."""
    lesson = f"-lesson{part}" if part < len(experiment.lessons) else ""
    return UNFINISHED / f"{experiment.name}-{config.seed}-{config.steps}{lesson}.pt"


def as_shipped(experiment: Experiment, model: nn.Module) -> nn.Module:
    """The model as a reader will get it: packed and unpacked."""
    return unpack(packed(experiment, model, {})).model


def packed(experiment: Experiment, model: nn.Module, record: dict[str, Any]) -> bytes:
    """The file of the model."""
    options = {"arguments": experiment.arguments, "precision": experiment.precision}
    return pack(model, experiment.task, record, **options)


def keep(experiment: Experiment, model: nn.Module, outcome: dict[str, Any]) -> None:
    """Write the record, and the weights if this is the run to be shipped."""
    RECORDS.mkdir(exist_ok=True)
    place = RECORDS / f"{experiment.name}.json"
    built = experiment.build()
    record = {
        "name": experiment.name,
        "about": " ".join(experiment.about.split()),
        "kind": kind_of_model(built),
        "config": plain(built.config),
        "training": comparable(experiment.config),
        "lessons": [{"steps": x.config.steps} | comparable(x.config) for x in experiment.lessons],
    }
    runs = [run for run in earlier(place, record) if run_of(run) != run_of(outcome)] + [outcome]
    runs.sort(key=lambda run: (-run["steps"], run["seed"]))
    record["runs"] = runs
    text = json.dumps(record, indent=1, ensure_ascii=False)
    place.write_text(text + "\n", encoding="utf-8")
    ship(experiment, model, outcome, runs)


def earlier(place: Path, record: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs of the same model, trained in the same way; others are no longer of interest."""
    if not place.exists():
        return []
    old = json.loads(place.read_text(encoding="utf-8"))
    same = all(old.get(name) == record[name] for name in ("kind", "config", "training", "lessons"))
    return old["runs"] if same else []


def run_of(outcome: dict[str, Any]) -> tuple[int, int]:
    """What tells one run from another."""
    return outcome["seed"], outcome["steps"]


def ship(
    experiment: Experiment, model: nn.Module, outcome: dict[str, Any], runs: list[dict[str, Any]]
) -> None:
    """Write the file: the weights if this run is the one, and in any case the latest record."""
    path = path_of(experiment.name)
    candidates = [run for run in runs if run["seed"] == SHIPPED_SEED]
    if not candidates:
        return
    longest = max(candidates, key=lambda run: run["steps"])
    record = {name: value for name, value in longest.items() if name != "curve"}
    short = ("seed", "steps", "parts", "begun_from", "loss", "floor", "loss_float32", "heads")
    record["seeds"] = [{name: run[name] for name in short if name in run} for run in runs]
    if longest is outcome:
        data = packed(experiment, model, record)
    else:
        data = with_record(path.read_bytes(), record)
    if len(data) > MEGABYTE:
        raise ValueError(f"{path.name} = {len(data)} bytes: at most {MEGABYTE} are shipped")
    path.write_bytes(data)
