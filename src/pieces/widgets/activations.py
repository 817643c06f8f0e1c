"""Activations: the bends of a feed-forward network, the gates made of them, and what they cost."""

from collections.abc import Mapping
from typing import Any

from pieces.checks import require
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Real, Switch, Words

VIEWS = ("curves", "gate", "size")
FUNCTIONS = ("relu", "gelu", "gelu_tanh", "swish", "cdf")
GATES = ("reglu", "geglu", "swiglu", "glu", "bilinear")
CALLED = {  # in a sentence
    "relu": "ReLU",
    "gelu": "GELU",
    "gelu_tanh": "GELU by tanh",
    "swish": "Swish",
    "cdf": "Φ alone",
    "reglu": "ReGLU",
    "geglu": "GeGLU",
    "swiglu": "SwiGLU",
    "glu": "GLU",
    "bilinear": "a bilinear gate",
}
MULTIPLES = ("1", "64", "256")


class Functions(Words):
    """Some of the functions that there are, each at most once."""

    def limits(self) -> dict[str, Any]:
        """Return which there are."""
        return super().limits() | {"options": list(FUNCTIONS)}

    def validate(self, obj: Any, value: Any) -> list[str]:
        """Return `value` as a list, or raise `ValueError` where one is unknown or named twice."""
        value = super().validate(obj, value)
        known = len(set(value)) == len(value) and set(value) <= set(FUNCTIONS)
        require(known, self.name, value, f"some of {', '.join(FUNCTIONS)}", "name each once")
        return value


class Activations(PieceWidget):
    """Lay activations over each other, read value and slope; see a gate; count the weights.

    Args:
        view: "curves", "gate" (what a gate lets through) or "size" (the weights of each network).
        functions: the curves: some of "relu", "gelu", "gelu_tanh", "swish", "cdf" (Φ itself).
        beta: β of Swish(x) = x sigmoid(β x), 0 to 10.
        x: where value and slope are read, −5 to 5.
        slopes: whether the slopes are drawn as well, dashed.
        gate: one of "reglu", "geglu", "swiglu", "glu", "bilinear".
        d_model: D of the view "size", 1 to 16384; the width of two matrices is 4 D.
        multiple_of: "1", "64" or "256": the multiple to which the gated width, cut to a whole
            number, is taken up.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Bends and gates"

    view = Choice("curves", VIEWS)
    functions = Functions(("relu",), most=len(FUNCTIONS))
    beta = Real(1.0, 0.0, 10.0)
    x = Real(-1.0, -5.0, 5.0, step=0.05)
    slopes = Switch(False)
    gate = Choice("swiglu", GATES)
    d_model = Count(512, 1, 16_384)
    multiple_of = Choice("1", MULTIPLES)

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return how high the view is, in rem."""
        return {"gate": 41, "size": 28}.get(str(state.get("view")), 42)

    def describe(self) -> str:
        """Return what is shown in words."""
        if self.view == "curves":
            drawn = ", ".join(CALLED[name] for name in self.functions) or "nothing"
            beta = f" with β = {self.beta:g}" if "swish" in self.functions else ""
            return f"{drawn}{beta}, read at x = {self.x:g}".replace("-", "−")
        if self.view == "gate":
            return f"what {CALLED[self.gate]} lets pass, for each gate and each number"
        return f"the weights of feed-forward layers with D = {self.d_model:,}"
