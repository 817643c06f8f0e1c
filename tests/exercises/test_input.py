"""The checkers of chapter 02 accept what is right and say what is wrong."""

import pytest

from pieces.book.exercises import input as check
from pieces.byte_pairs import Merge, cut_into_pieces


def by_passes(word, merges, *, order=1, once=False, end=" "):
    """Each merge in its order, over the whole word."""
    pieces = [*word, *end]
    for left, right in merges[::order]:
        at = 0
        while at + 1 < len(pieces):
            if (pieces[at], pieces[at + 1]) == (left, right):
                pieces[at : at + 2] = [left + right]
                if once:
                    break
            at += 1
    return pieces


def by_package(word, merges):
    (pieces,) = cut_into_pieces(word, [Merge(*pair, 1) for pair in merges])
    return list(pieces)


@pytest.mark.parametrize("answer", [by_passes, by_package])
def test_the_right_answer_is_accepted(answer, capsys):
    check.my_cut(answer)
    assert capsys.readouterr().out == "Exercise 2.4: right.\n"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda word, merges: None, "returns None"),
        (lambda word, merges: by_passes(word, merges, order=-1), "from the last to the first"),
        (lambda word, merges: by_passes(word, merges, once=True), "at each of them"),
        (lambda word, merges: by_passes(word, merges, end=""), "The space that ends the word"),
        (lambda word, merges: [*word, " "], "Nothing has been merged"),
        (lambda word, merges: " ".join(by_passes(word, merges)), "A list of pieces"),
        (lambda word, merges: by_passes(word, merges)[1:], "give the word and its space"),
        (lambda word: [word], "TypeError"),
        (lambda word, merges: [word + " "], "Expected"),
    ],
)
def test_a_wrong_answer_is_diagnosed(answer, said, capsys):
    check.my_cut(answer)
    assert said in capsys.readouterr().out
