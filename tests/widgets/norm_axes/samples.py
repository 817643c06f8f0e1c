"""NormAxes: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import NormAxes

BEFORE = [[2, -1, 4, 3], [1, 0, -2, 5], [6, 2, 3, 1], [-3, 1, 0, 2], [4, -2, 1, 1], [0, 3, 5, -4]]

AFTER = [[2, -1, 4, 3], [1, 7.5, -2, 5], *BEFORE[2:]]

NORM = {"X": AFTER, "before": BEFORE, "words": list("uvwxyz"), "texts": 2, "row": 2, "column": 2,
        "gain": [1.5, 2.0, -1.0, 1.0], "shift": [0.5, -0.5, 0.0, 1.0]}  # fmt: skip

# What may be told as a power of ten, by where it stands: epsilon, which is asked for as 1e−5.
NO_CHANCE = r""
# A widget, and what a reader does with it.
PICTURES = {
    "batch norm": (lambda: NormAxes(kind="batch", **NORM), None),
    "layer norm": (lambda: NormAxes(kind="layer", eps=0.1, **NORM), None),
    "rms norm": (lambda: NormAxes(kind="rms", eps=1.0, **NORM), None),
    "text norm": (lambda: NormAxes(kind="text", **NORM | {"row": 5, "column": 1}), None),
    "hand norm": (lambda: NormAxes(X=[[1, 2, 3], [4, 5, 6]], kind="layer", column=3), None),
}  # fmt: skip
