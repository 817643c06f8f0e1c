"""BeyondLength: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import BeyondLength

# A widget, and what a reader does with it.
PICTURES = {
    "beyond": (lambda: BeyondLength(stretch=9, shown=["none", "learned", "alibi", "window"]), None),
    "beyond, refused": (lambda: BeyondLength(stretch=5, shown=["learned"]), None),
    "beyond, slowed": (lambda: BeyondLength(what="scalings", stretch=12, factor="4"), None),
}  # fmt: skip
