"""ScoreFunctions: four ways to compare a query with its keys, and what softmax makes of them."""

from collections.abc import Mapping
from typing import Any

from pieces.checks import require
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Count, Matrix, Numbers, Real, Result, Text, Words

SCORES = ("scaled_dot", "dot", "additive", "bilinear")


class PowerOfTwo(Count):
    """An integer from `low` to `high` that is a power of two."""

    def limits(self) -> dict[str, Any]:
        """Return its range, and that it is a power."""
        return super().limits() | {"power": True}

    def validate(self, obj: Any, value: Any) -> int:
        """Return `value`, or raise `ValueError` where it is no power of two in range."""
        value = super().validate(obj, value)
        power = value & (value - 1) == 0
        require(power, self.name, value, "a power of two", "choose 1, 2, 4, 8, …")
        return value


class Points(Matrix):
    """Places in the plane, any number of them, none included."""

    def limits(self) -> dict[str, Any]:
        """Return what a matrix tells, and that there may be none."""
        return super().limits() | {"empty": True}

    def validate(self, obj: Any, value: Any) -> list[list[float]]:
        """Return `value` as a list of [x, y], or raise `ValueError`."""
        return (
            [] if isinstance(value, (list, tuple)) and not value else super().validate(obj, value)
        )


class ScoreFunctions(PieceWidget):
    """Drag a query among its keys and see their values averaged.

    It opens with a story: three keys with two coordinates each, their names and values, and
    places between them to ask about. The score, the number of coordinates K, the temperature and
    the number of keys can be changed. Coordinates beyond the first two, and keys beyond the
    story's, are drawn in the browser from `seed`, N(0, 1). They stay the same when K changes.
    The weights of the additive and the bilinear score are random, as in a layer before training;
    the bilinear matrix is the product of two projections to 16 numbers.

    Args:
        score: one of "scaled_dot", "dot", "additive", "bilinear".
        K: the number of coordinates, a power of two from 1 to 1024.
        temperature: what scores are divided by before the softmax, 0.1 to 10.
        n_keys: 2 to 12.
        seed: which vectors are drawn, 0 to 9999.
        query_x, query_y: the query's first two coordinates, −3 to 3; with K = 1 only the first.
        names, values, keys_at: what the first keys are called, their values, and where they stand.
        unit: what the values are counted in.
        places, places_at: names of places to ask about, and where they stand.

    Read back:
        weights: the weights of the keys.
        output: their values, averaged by these weights.
        entropy: of the weights, in nats.
        gradient: the Frobenius norm of the softmax Jacobian.

    Raises:
        ValueError: an unknown argument, a value out of range, lists that do not fit together.
    """

    title = "A query among its keys"

    score = Choice("scaled_dot", SCORES)
    K = PowerOfTwo(2, 1, 1024)
    temperature = Real(1.0, 0.1, 10.0)
    n_keys = Count(3, 2, 12)
    seed = Count(2894, 0, 9999)
    query_x = Real(0.6, -3.0, 3.0)
    query_y = Real(0.5, -3.0, 3.0)
    names = Words(("on foot", "by bike", "by car"), most=12)
    values = Numbers((24, 9, 5))
    keys_at = Points(((-2.3, -0.9), (0.0, 1.6), (2.1, -0.8)), columns=2, bound=3.0)
    unit = Text("min", longest=12)
    places = Words(("jogging", "by scooter", "by bus"), most=6)
    places_at = Points(((-1.7, 1.2), (1.7, 1.2), (0.0, -1.7)), columns=2, bound=3.0)
    weights = Result()
    output = Result()
    entropy = Result()
    gradient = Result()

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        for name, told, owner in (
            ("values", len(self.values), "names"),
            ("keys_at", len(self.keys_at), "names"),
            ("places_at", len(self.places_at), "places"),
        ):
            wanted = len(getattr(self, owner))
            rule, remedy = f"one for each of the {wanted} {owner}", "give as many"
            require(told == wanted, name, getattr(self, name), rule, remedy)

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return the rows of its table, one for each key: on a phone it stands below the plane."""
        keys = state.get("n_keys")
        return keys if isinstance(keys, int) and 2 <= keys <= 12 else None

    def describe(self) -> str:
        """Return the settings in words."""
        called = {"scaled_dot": "scaled dot-product", "dot": "dot-product"}.get(
            self.score, self.score
        )
        numbers = f"{self.K} numbers" if self.K > 1 else "one number"
        keys = f"{self.n_keys} keys of {numbers} each"
        return f"the {called} score, {keys}, at a temperature of {self.temperature:g}"
