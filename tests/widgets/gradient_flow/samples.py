"""GradientFlow: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import GradientFlow


def taken_away(page):
    """A reader waits, and takes the skips away: what was stays as a ghost."""
    page.wait_for_timeout(800)
    page.get_by_role("checkbox").uncheck()


# What may be told as a power of ten, by where it stands: the size of a gradient.
NO_CHANCE = r""
# A widget, and what a reader does with it.
PICTURES = {
    "flow": (lambda: GradientFlow(layer=3), None),
    "flow deep": (lambda: GradientFlow(depth=64, skip=False, layer=40), None),
    "flow pre": (lambda: GradientFlow(depth=20, norm="pre", sublayer="relu", gain=1.2, seed=7,
                                      layer=5), None),
    "flow post": (lambda: GradientFlow(depth=12, norm="post", gain=1.5, layer=12), None),
    "flow plain pre": (lambda: GradientFlow(depth=6, norm="pre", skip=False, layer=2), None),
    "flow nothing": (lambda: GradientFlow(depth=4, norm="post", skip=False, gain=0, layer=2), None),
    "flow nothing, pre": (lambda: GradientFlow(depth=4, norm="pre", skip=False, gain=0, layer=2), None),
    "flow opposed": (lambda: GradientFlow(depth=10, sublayer="opposed", gain=0.7, layer=4), None),
    "flow ghost": (lambda: GradientFlow(depth=16), taken_away),
}  # fmt: skip
