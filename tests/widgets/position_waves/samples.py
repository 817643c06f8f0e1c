"""PositionWaves: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import PositionWaves

# What may be told as a power of ten, by where it stands.
NO_CHANCE = r"Each position|Wavelength"
# A widget, and what a reader does with it.
PICTURES = {
    "waves": (lambda: PositionWaves(d=12, length=30, column=5, position=7), None),
    "likeness": (lambda: PositionWaves(d=8, base=100, length=90, view="similarity", k=9), None),
    "far apart": (lambda: PositionWaves(length=128, position=6, view="similarity", k=108), None),
    "turns": (lambda: PositionWaves(d=10, length=20, column=3, view="shift", k=4), None),
}  # fmt: skip
