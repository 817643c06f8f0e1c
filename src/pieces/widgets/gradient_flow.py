"""GradientFlow: how large the signal and the gradient are at each layer of a random stack."""

from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Real, Result, Switch

DEEPEST = 64
NORMS = ("none", "pre", "post")
SUBLAYERS = ("linear", "relu", "opposed")


class GradientFlow(PieceWidget):
    """Send a signal through a stack of random layers, and a gradient back.

    Nothing is trained. The stream is 64 wide; each layer has a matrix W of its own, with entries
    from N(0, 1/64), drawn in the page from `seed`. The signal goes in with size 1 (root mean
    square), and so does the gradient at the other end. The norm is RMSNorm without a gain.

    Args:
        depth: layers, 1 to 64.
        gain: g, by which each sublayer multiplies what it gives, 0 to 2.
        skip: whether each layer adds its input to what its sublayer gives.
        norm: "none"; "pre", before each sublayer; or "post", after each layer.
        sublayer: "linear", g·W x; "relu", g·√2·W max(0, x); "opposed", −g·x.
        seed: which weights are drawn, 1 to 99.
        layer: the place that is read out: after this layer; 0 is the input.

    Read back:
        forward: the size of the signal at the input and after each layer.
        backward: the size of the gradient at the same places.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "What arrives through many layers?"

    depth = Count(8, 1, DEEPEST)
    gain = Real(0.5, 0, 2, 0.05)
    skip = Switch(True)
    norm = Choice("none", NORMS)
    sublayer = Choice("linear", SUBLAYERS)
    seed = Count(1, 1, 99)
    layer = Count(0, 0, DEEPEST)
    forward = Result()
    backward = Result()

    def describe(self) -> str:
        """Return what the stack is made of."""
        skips = "with" if self.skip else "without"
        norm = "no norm" if self.norm == "none" else f"{self.norm}-norm"
        layers = f"{self.depth} layer{'s' * (self.depth > 1)}"
        return f"{layers} {skips} skips, {self.sublayer}, gain {self.gain:g}, {norm}"
