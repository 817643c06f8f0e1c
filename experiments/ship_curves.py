"""Puts the measured curves of positions into the package, for chapter 12 and its widget.

    python experiments/ship_curves.py

Reads records/extrapolation.json and records/rotary_scaling.json, and writes
src/pieces/book/measured/positions.json: nothing in it is typed by hand.
"""

import json
from pathlib import Path
from typing import Any

from extrapolation import TASK, held_out
from kept import MEASURED, written

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "experiments" / "records"
SHIPPED = MEASURED / "positions.json"
ABOUT = (
    "Distance to the floor in nats a word, at each length of the text: of every seed a curve. "
    "Written by experiments/ship_curves.py from extrapolation.json and rotary_scaling.json."
)
BESIDE = {"learned": ("untrained_rows", "last_row")}  # other readings of the same models


def load(name: str) -> dict[str, Any]:
    """A record."""
    return json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))


def rounded(curve: list[float | None]) -> list[float | None]:
    """What a picture can show."""
    return [None if x is None else round(x, 3) for x in curve]


def grouped(runs: list[dict[str, Any]], key: str, what: str = "excess") -> dict[str, Any]:
    """The curves of each name, one for each seed, in the order of seeds."""
    found: dict[str, Any] = {}
    for run in sorted(runs, key=lambda run: run["seed"]):
        found.setdefault(run[key], []).append(rounded(run[what]))
    return found


def content() -> dict[str, Any]:
    """Everything that the widget plays."""
    positions, scalings = load("extrapolation"), load("rotary_scaling")
    runs = positions["runs"]
    curves = grouped(runs, "scheme")
    for scheme, ways in BESIDE.items():
        own = [run for run in runs if run["scheme"] == scheme]
        curves |= {way: grouped(own, "scheme", way)[scheme] for way in ways}
    factors = sorted({run["factor"] for run in scalings["runs"]} - {1})
    of = lambda factor: [run for run in scalings["runs"] if run["factor"] in (1, factor)]  # noqa: E731
    return {
        "about": ABOUT,
        "lengths": positions["lengths"],
        "trained": positions["trained_length"],
        "floor": rounded(positions["floor"]),
        "parameters": min(run["parameters"] for run in runs),
        "seeds": sorted({run["seed"] for run in runs}),
        "positions": curves,
        "window": grouped(runs, "scheme", "window"),
        "scalings": {str(factor): grouped(of(factor), "scaling") for factor in factors},
        "text": " ".join(TASK.vocabulary[n] for n in held_out()[0][1].tolist()),
    }


if __name__ == "__main__":
    SHIPPED.write_text(written(content()), encoding="utf-8")
    print(f"{SHIPPED.name}: {SHIPPED.stat().st_size} bytes")
