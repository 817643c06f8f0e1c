"""The checker of chapter 15 accepts what is right and says what is wrong."""

import pytest

from pieces.book.exercises import llama as check


def size(c, *, matrices=3, norms=1, per_block=2, head=True, tied=True, shared=True, output=True,
         own=True):  # fmt: skip
    """The right answer, or with one mistake."""
    D, L, H = c.d_model, c.n_layers, c.n_heads
    G = (c.n_kv_heads or H) if shared else H
    K = (c.head_dim if own else None) or D // H
    attention = D * K * (H * (1 + output) + 2 * G)
    block = attention + matrices * D * c.d_ff + per_block * D
    tables = 1 + (head and not (c.tied and tied))
    return tables * c.vocab_size * D + L * block + norms * D


def test_the_right_answer_is_accepted(capsys):
    check.my_size(size)
    assert capsys.readouterr().out == "Exercise 15.4: right.\n"


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        ({"head": False}, "The head is missing"),
        ({"norms": 0}, "The last norm is missing"),
        ({"per_block": 1}, "Each block has two norms"),
        ({"norms": 0, "per_block": 0}, "All norms are missing"),
        ({"matrices": 2}, "three matrices, not two"),
        ({"tied": False}, "count it once"),
        ({"shared": False}, "Keys and values have n_kv_heads heads"),
        ({"output": False}, "output projection"),
        ({"own": False}, "A head has c.head_dim numbers"),
    ],
)
def test_a_usual_mistake_is_named(slip, said, capsys):
    check.my_size(lambda c: size(c, **slip))
    printed = capsys.readouterr().out
    assert printed.startswith("Exercise 15.4: not yet.")
    assert said in printed


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda c: None, "returns None"),
        (lambda c: float(size(c)), "a whole number"),
        (lambda c: 7, "off by −"),
        (lambda c: c.width, "AttributeError"),
    ],
)
def test_nonsense_is_answered_kindly(answer, said, capsys):
    check.my_size(answer)
    assert said in capsys.readouterr().out
