"""The checkers of chapter 03 accept what is right and say what is wrong."""

import pytest
import torch

from pieces.book.exercises import attention as check


def right(query, keys, values):
    return torch.softmax(keys @ query / len(query) ** 0.5, dim=0) @ values


def overflows(query, keys, values):
    powers = torch.exp(keys @ query / len(query) ** 0.5)
    return (powers / powers.sum()) @ values


def mixed(query, keys, values, *, by=lambda K, S: K**0.5, weigh=lambda s: s.softmax(0), of=None):
    """A right answer with one mistake."""
    weights = weigh(keys @ query / by(len(query), len(keys)))
    return weights if of == "weights" else weights @ (keys if of == "keys" else values)


# With a word of what is said, what usually leads there.
SLIPS = {
    "root of K?": {"by": lambda K, S: 1},
    "it should be its root": {"by": lambda K, S: K},
    "not of S": {"by": lambda K, S: S**0.5},
    "mix by the scores": {"weigh": lambda s: s},
    "mind large scores": {"weigh": torch.exp},
    "must add up to 1": {"weigh": lambda s: (s - s.max()).exp()},
    "mix the values": {"of": "keys"},
    "These are the weights": {"of": "weights"},
}
WRONG = {
    "returns None": lambda query, keys, values: None,
    "raised": lambda query, keys, values: keys @ values,
    "got list": lambda query, keys, values: [1.0],
    "the shape": lambda query, keys, values: right(query, keys, values)[None],
    "4 keys of size 8": lambda query, keys, values: torch.softmax(keys @ query, dim=0) @ values,
    "overflows": overflows,
}


def test_one_query_accepts_a_right_answer(capsys):
    check.one_query(right)
    assert capsys.readouterr().out == "Exercise 3.4: right.\n"


@pytest.mark.parametrize("said", WRONG)
def test_one_query_says_what_is_wrong(said, capsys):
    check.one_query(WRONG[said])
    out = capsys.readouterr().out
    waits = said == "returns None"
    assert out.startswith("Exercise 3.4 waits for your code" if waits else "Exercise 3.4: not yet.")
    assert said in out


@pytest.mark.parametrize("said", SLIPS)
def test_a_usual_mistake_is_named(said, capsys):
    check.one_query(lambda *given: mixed(*given, **SLIPS[said]))
    assert said in capsys.readouterr().out
