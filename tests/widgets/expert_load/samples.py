"""ExpertLoad: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import ExpertLoad

# A widget, and what a reader does with it.
PICTURES = {
    "loads": (lambda: ExpertLoad(step=240), None),
    "loads of sixteen": (lambda: ExpertLoad(setting="16 1", layer=2, seed=3, step=64,
                                            capacity=2.0), None),
}  # fmt: skip
