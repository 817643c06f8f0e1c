"""ExpertLoad: how many words each expert gets while a mixture is trained, by its balance loss."""

import functools

from traitlets import default

from pieces.book.measured import record_of
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Real, Result

STEPS, EVERY = 240, 8  # of a run; from one point of it to the next
SETTINGS = ("8 1", "16 1", "8 2")


@functools.cache
def loads() -> dict[str, dict[str, list]]:
    """Return the runs of all seeds by "experts k" and weight: [point][layer][expert]."""
    found: dict[str, dict[str, list]] = {}
    for run in sorted(record_of("expert_load")["runs"], key=lambda run: run["seed"]):
        setting = found.setdefault(f"{run['experts']} {run['k']}", {})
        setting.setdefault(f"{run['balance']:g}", []).append(run["load"])
    return found


class ExpertLoad(PieceWidget):
    """Play the training of small mixtures of experts, without a balance loss and with one.

    It plays measured runs (experiments/expert_load.py, three seeds each): two layers that read the
    stories. Loads are shares of the visits of a batch of some thousand words.

    Args:
        setting: experts and how many a word visits: "8 1", "16 1" or "8 2".
        layer: whose experts are shown, 1 or 2.
        seed: which run, 1 to 3.
        step: how far the training has come, 0 to 240, in steps of 8.
        capacity: the room of an expert in fair shares, 1 to 4.

    Read back:
        load: for each weight of the loss the shares of the experts.
        dropped: for each weight of the loss the share of visits that would find no room.
        measured: the runs that it plays, in thousandths.

    Raises:
        ValueError: an unknown argument or a value that was not measured.
    """

    title = "Who gets the words?"

    setting = Choice("8 1", SETTINGS)
    layer = Count(1, 1, 2)
    seed = Count(1, 1, 3)
    step = Count(0, 0, STEPS, step=EVERY)
    capacity = Real(1.25, 1.0, 4.0, step=0.25)
    load = Result()
    dropped = Result()
    measured = Result()

    @default("measured")
    def _read_measured(self) -> dict[str, dict[str, list]]:
        """The numbers of the record."""
        return loads()

    def describe(self) -> str:
        """Return what is shown."""
        experts, k = self.setting.split()
        visits = f"{experts} experts, of which a word visits {k}"
        return f"{visits}: layer {self.layer}, seed {self.seed}, at step {self.step}"
