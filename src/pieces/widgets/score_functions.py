"""ScoreFunctions: four ways to compare a query with its keys, and what softmax makes of them."""

from typing import Any

from pieces.checks import require
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Real, Result

SCORES = ("scaled_dot", "dot", "additive", "bilinear")


class PowerOfTwo(Count):
    """An integer from `low` to `high` that is a power of two."""

    def validate(self, obj: Any, value: Any) -> int:
        """Return `value`, or raise `ValueError` where it is no power of two in range."""
        value = super().validate(obj, value)
        power = value & (value - 1) == 0
        require(power, self.name, value, "a power of two", "choose 1, 2, 4, 8, …")
        return value


class ScoreFunctions(PieceWidget):
    """Drag a query among its keys; choose the score, the size D and the temperature.

    The vectors are drawn in the browser from `seed`, N(0, 1) in every coordinate.
    The plane shows their first two coordinates; those of the query are `query_x` and `query_y`.
    The weights of the additive and the bilinear score are random, as in a layer before training;
    the bilinear matrix is the product of two projections to 16 numbers.

    Args:
        score: one of "scaled_dot", "dot", "additive", "bilinear".
        D: the number of coordinates, a power of two from 1 to 1024.
        temperature: what scores are divided by before the softmax, 0.1 to 10.
        n_keys: 2 to 12.
        seed: which vectors are drawn, 0 to 9999.
        query_x, query_y: the query's first two coordinates, −3 to 3; with D = 1 only the first.

    Read back:
        weights: the weights of the keys.
        entropy: of the weights, in nats.
        gradient: the Frobenius norm of the softmax Jacobian.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Score functions"

    score = Choice("scaled_dot", SCORES)
    D = PowerOfTwo(16, 1, 1024)
    temperature = Real(1.0, 0.1, 10.0)
    n_keys = Count(6, 2, 12)
    seed = Count(2894, 0, 9999)
    query_x = Real(1.0, -3.0, 3.0)
    query_y = Real(0.5, -3.0, 3.0)
    weights = Result()
    entropy = Result()
    gradient = Result()

    def describe(self) -> str:
        """Return the settings in words."""
        return (
            f"{self.score} score, D = {self.D}, {self.n_keys} keys, temperature {self.temperature}"
        )
