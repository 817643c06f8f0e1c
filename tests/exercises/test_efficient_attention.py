"""The checkers of chapter 7 accept what is right and say what is wrong."""

import pytest
import torch

from pieces.book.exercises import efficient_attention as check


def right(m, total, o, scores, values):
    new = torch.maximum(m, scores.max())
    shrink, powers = (m - new).exp(), (scores - new).exp()
    return new, total * shrink + powers.sum(), o * shrink + powers @ values


def in_loops(m, total, o, scores, values):
    """Key by key."""
    for score, value in zip(scores, values, strict=True):
        m, total, o = right(m, total, o, score[None], value[None])
    return m, total, o


@pytest.mark.parametrize("answer", [right, in_loops])
def test_the_right_answer_is_accepted(capsys, answer):
    check.one_more(answer)
    assert capsys.readouterr().out == "Exercise 7.4: right.\n"


def slip(*, total=True, o=True, level=True, carry=True):
    """A right answer with one mistake."""

    def answer(m, old_total, old_o, scores, values):
        new = torch.maximum(m, scores.max())
        shrink = (m - new).exp()
        powers = (scores - (new if level else scores.max())).exp()
        if not carry:
            return new, powers.sum(), powers @ values
        sum_ = old_total * (shrink if total else 1) + powers.sum()
        return new, sum_, old_o * (shrink if o else 1) + powers @ values

    return answer


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        ({"total": False, "o": False}, "What was summed before is not shrunk"),
        ({"o": False}, "The output so far is not shrunk"),
        ({"total": False}, "The sum so far is not shrunk"),
        ({"level": False}, "the tile's own largest score"),
        ({"carry": False}, "the tile alone"),
    ],
)
def test_a_usual_mistake_is_named(mistake, said, capsys):
    check.one_more(slip(**mistake))
    assert said in capsys.readouterr().out


def divided(m, total, o):
    return m, total, o / total


def test_a_list_will_do(capsys):
    check.one_more(lambda *given: list(right(*given)))
    assert capsys.readouterr().out == "Exercise 7.4: right.\n"


def test_who_has_the_total_and_the_output_right_is_not_told_that_they_are_wrong(capsys):
    check.one_more(lambda *given: (given[3].max(), *right(*given)[1:]))
    said = capsys.readouterr().out
    assert "m, after" in said
    assert "shrunk" not in said


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda *given: None, "returns None"),
        (lambda m, total, o, scores, values: m, "return three things"),
        (lambda m, *rest: (m, m, m), "expected"),
        (lambda m, total, o, scores, values: (m.item(), total, o), "expected a torch.Tensor"),
        (lambda m, total, o, scores, values: (m, total, o[:1]), "expected"),
        (lambda *given: list(slip()(*given)[:2]), "Please return three things"),
        (lambda *given: divided(*slip()(*given)), "That is o / total"),
        (lambda m: m, "TypeError"),
    ],
)
def test_nonsense_is_answered_kindly(answer, said, capsys):
    check.one_more(answer)
    assert said in capsys.readouterr().out
