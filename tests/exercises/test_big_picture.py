"""The checkers of chapter 01 accept what is right and say what is wrong."""

import pytest

from pieces.book.exercises import big_picture as check


def by_sets(kernel, dilations):
    """Collect the places that one result depends on."""
    places = {0}
    for gap in dilations:
        places = {p + gap * k for p in places for k in range(kernel)}
    return len(range(min(places), max(places) + 1))


def by_formula(kernel, dilations):
    return 1 + (kernel - 1) * sum(dilations)


@pytest.mark.parametrize("answer", [by_formula, by_sets])
def test_the_right_answer_is_accepted(capsys, answer):
    check.my_receptive_field(answer)
    assert capsys.readouterr().out == "Exercise 1.4: right.\n"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda k, d: None, "returns None"),
        (lambda k, d: 1 + k // 2 * sum(d), "That is one side alone"),
        (lambda k, d: 1 + k * sum(d), "reaches k − 1 further"),
        (lambda k, d: (k - 1) * sum(d), "The word itself counts too"),
        (lambda k, d: k * sum(d), "Windows overlap"),
        (lambda k, d: 1 + (k - 1) * len(d), "dilations are not used"),
        (lambda k, d: k ** len(d), "Many ways lead to the same word"),
        (lambda k, d: "seven", "expected 31, got 'seven'"),
        (lambda k, d: d[9], "raised IndexError"),
    ],
)
def test_my_receptive_field_says_what_is_wrong(answer, said, capsys):
    check.my_receptive_field(answer)
    assert said in capsys.readouterr().out
