"""The records that come with the package, by name."""

import json
from pathlib import Path
from typing import Any

from pieces.checks import one_of

NAMES = (
    "activations",
    "agreement",
    "assembled_wrongly",
    "associative_recall",
    "attention_cost",
    "bend_speed",
    "classroom",
    "expert_load",
    "expert_speed",
    "hidden_units",
    "llama_switches",
    "longer_stories",
    "norm_placement",
    "norm_rates",
    "norm_speed",
    "positions",
    "recall",
    "residual_stacks",
    "workbench",
)


def record_of(name: str) -> dict[str, Any]:
    """The record of an experiment, as its script left it: each run with its seed and its numbers.

    Each call reads it anew. Raises: ValueError if there is none of this name.
    """
    file = Path(__file__).parent / f"{one_of('name', name, NAMES)}.json"
    return json.loads(file.read_text(encoding="utf-8"))
