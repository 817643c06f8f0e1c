"""NormPlacement: four places for a norm race each other, and are looked into layer by layer."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from traitlets import TraitType, default

from pieces.book.measured import record_of
from pieces.checks import require
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Result

PLACEMENTS = ("post", "pre", "sandwich", "deep")
CALLED = dict(zip(PLACEMENTS, ("Post", "Pre", "Sandwich", "DeepNorm"), strict=True))
RATES, WARMUPS, LAYERS = (0.001, 0.004, 0.016), (0, 40), (2, 12)
DEPTHS = (6, 12, 24, 48, 100, 300, 1000)
STEPS, STRETCH = 160, 5  # of a run; of a point of its curve


class Among(TraitType):
    """One of a few numbers: those that were measured."""

    def __init__(self, default: int | float, options: Sequence[int | float]):
        self.options = tuple(options)
        super().__init__(default_value=default)
        self.tag(sync=True)

    def limits(self) -> dict[str, Any]:
        """Return what the page needs to know of its options."""
        options = {"options": list(self.options), "default": self.default_value}
        return {"kind": "among"} | options

    def validate(self, obj: Any, value: Any) -> int | float:
        """Return `value`, or raise `ValueError` where it is none of the options."""
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        rule = f"one of {', '.join(f'{n:g}' for n in self.options)}"
        require(
            number and value in self.options, self.name, value, rule, "only these were measured"
        )
        return value


@functools.cache
def runs() -> dict[str, dict[str, list]]:
    """Return the runs by what was set, a list for the seeds; of a layer stream and gradient."""
    record = record_of("norm_placement")
    race, layers = {}, {}
    for run in record["race"]:
        key = f"{run['placement']} {run['layers']} {run['lr']:g} {run['warmup']}"
        race.setdefault(key, []).append(run["curve"])
    for run in record["layers"]:
        key = f"{run['placement']} {run['layers']} {run['start']}"
        layers.setdefault(key, []).append([run["at"], run["activation"], run["gradient"]])
    return {"race": race, "layers": layers}


class NormPlacement(PieceWidget):
    """Race Post, Pre, Sandwich and DeepNorm, or look at their streams and gradients by layer.

    It plays measured runs (experiments/norm_placement.py, three seeds each): small models that
    learn to copy six symbols. Only what was measured can be set. In the race, models of width 16,
    DeepNorm has the small start that belongs to it; the layers are those of models of width 32
    before training.

    Args:
        view: "race" or "layers".
        placement: whose block is described, and drawn thick: one of "post", "pre", "sandwich",
            "deep".
        lr: the learning rate of the race, 0.001, 0.004 or 0.016.
        warmup: steps in which the learning rate climbs, 0 or 40.
        layers: blocks of the models that race, 2 or 12.
        step: how far the race has come, 0 to 160, in steps of 5.
        depth: blocks of the models that are looked into: 6, 12, 24, 48, 100, 300 or 1000.
        start: "own" for first weights as each is meant to begin, plain but for DeepNorm's;
            "plain" for all, or "scaled" for all: made small by DeepNorm's β.

    Read back:
        losses: of each placement its seeds' losses at that step, in nats; empty at step 0.
        sizes: of each placement the stream after the last layer, and the gradient of the first
            and of the last one; each a median over the seeds.
        measured: the runs that it plays, a list of curves for each setting, and of layers, their
            streams and their gradients.

    Raises:
        ValueError: an unknown argument or a value that was not measured.
    """

    title = "Where the norm stands"

    view = Choice("race", ("race", "layers"))
    placement = Choice("post", PLACEMENTS)
    lr = Among(0.004, RATES)
    warmup = Among(0, WARMUPS)
    layers = Among(12, LAYERS)
    step = Count(0, 0, STEPS, step=STRETCH)
    depth = Among(48, DEPTHS)
    start = Choice("own", ("own", "plain", "scaled"))
    losses = Result()
    sizes = Result()
    measured = Result()

    @default("measured")
    def _read_measured(self) -> dict[str, dict[str, list]]:
        """The numbers of the record."""
        return runs()

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return how many charts it shows: on a phone they stand one below the other."""
        return 2 if state.get("view") == "layers" else 1

    def describe(self) -> str:
        """Return what is shown."""
        if self.view == "layers":
            starts = {
                "own": "of their own",
                "plain": "plain for all",
                "scaled": "scaled by β for all",
            }
            layers = (
                f"{self.depth:,} layers before training, with first weights {starts[self.start]}"
            )
            return f"{layers}; the sentence is about {CALLED[self.placement]}"
        warm = f"{self.warmup} steps of warm-up" if self.warmup else "no warm-up"
        rate = f"a learning rate of {self.lr:g} and {warm}"
        return f"a race of {self.layers} layers, with {rate}, at step {self.step}"
