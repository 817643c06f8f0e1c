"""What an annotation may say of a number, a name, a list: each note, kept and broken."""

from typing import Annotated, Literal

import pytest

from pieces.checks import (
    Compared,
    DivisorOf,
    EvenSize,
    Filled,
    Natural,
    NotNegative,
    Once,
    OneOf,
    Positive,
    Probability,
    Range,
    Share,
    Size,
    agreed,
    checked,
    divided,
    one_of,
)

KINDS = {
    "Size": (Size, [1, 7], [0, -1], [1.0, True, "1", None]),
    "Natural": (Natural, [0, 7], [-1], [1.0, True, "1", None]),
    "EvenSize": (EvenSize, [2, 8], [0, 3], [2.0, True]),
    "Positive": (Positive, [1, 0.5], [0, -1.0, float("nan"), float("inf")], ["1", True, None]),
    "NotNegative": (NotNegative, [0, 0.5], [-0.1], ["1", False]),
    "Share": (Share, [0, 0.5], [1, -0.1, 1.5], ["0", False]),
    "Probability": (Probability, [1, 0.5], [0, 1.1], ["1", True]),
    "bool": (bool, [True, False], [], ["no", "False", 0, 1, None]),
    "Literal": (Literal["left", "right"], ["left"], ["middle", 3, None], []),
    "OneOf": (Annotated[str, OneOf({"a": 1, "b": 2})], ["a"], ["c"], [1]),
    "Filled": (Annotated[list[int], Filled()], [[0]], [[]], ["a", 3]),
    "Once": (Annotated[list[int], Once()], [[1, 2], []], [[1, 1]], [3]),
    "Filled text": (Annotated[str, Filled()], ["a"], ["", "  "], [3, None]),
    "tuple": (tuple[Share, Share], [(0.1, 0.2), [0, 0]], [(0.1, 1)], [(0.1,), 3, ("a", 0)]),
    "or None": (Size | None, [None, 1], [0], ["1", 1.0]),
    "in a Range": (Annotated[int, Range(2, at_most=3)], [2, 3], [1, 4], [2.0]),
}


def taking(kind):
    def call(n):
        return n

    call.__annotations__["n"] = kind
    return checked(call)


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_takes_what_fits_and_refuses_the_rest(name):
    kind, fits, other_size, other_type = KINDS[name]
    call = taking(kind)
    for value in fits:
        assert call(value) is value
    for bad, error in ((other_size, ValueError), (other_type, TypeError)):
        for value in bad:
            with pytest.raises(error, match=r"^n(\[\d\])? = .*Remedy: "):
                call(value)


@checked
def related(
    n: Size,
    part: Annotated[Size, DivisorOf("n")] = 1,
    top: Annotated[Size, Compared("at most", "n")] | None = None,
    above: Annotated[Size, Compared("above", "top")] = 9,
):
    return n


def test_numbers_may_depend_on_each_other():
    assert related(6, 3, 6, 7) == 6
    assert related(6, above=1) == 6  # with no top given, nothing to compare
    for wrong, said in (
        ({"part": 4}, "part = 4: must divide n = 6"),
        ({"top": 7}, "top = 7: must be at most n = 6"),
        ({"top": 4, "above": 4}, "above = 4: must be above top = 4"),
    ):
        with pytest.raises(ValueError, match=said):
            related(6, **wrong)


def test_divided_agreed_and_one_of_say_what_is_wrong():
    assert divided(d_model=8, n_heads=2) == 4
    with pytest.raises(ValueError, match="n_heads = 0: must divide d_model = 8"):
        divided(d_model=8, n_heads=0)
    assert one_of("name", "a", {"a": 3}) == 3
    assert one_of("n", 2, (1, 2)) == 2
    with pytest.raises(ValueError, match=r"name = 'c': must be one of a, b\. Remedy"):
        one_of("name", "c", {"a": 3, "b": 4})
    agreed("real", a=1, b=1.0, c="has none")
    with pytest.raises(ValueError, match=r"b\.real = 2: must be 1, as of a"):
        agreed("real", a=1, b=2)
