"""NormPlacement: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import NormPlacement

# What may be told as a power of ten, by where it stands: a loss in nats.
NO_CHANCE = r""
# A widget, and what a reader does with it.
PICTURES = {
    "norms": (lambda: NormPlacement(placement="sandwich", step=60), None),
    "norms at the end": (lambda: NormPlacement(placement="deep", layers=2, lr=0.016, warmup=40,
                                               step=160), None),
    "norms inside": (lambda: NormPlacement(view="layers", placement="pre", depth=24), None),
    "norms deep": (lambda: NormPlacement(view="layers", depth=300, start="scaled",
                                         placement="deep"), None),
}  # fmt: skip
