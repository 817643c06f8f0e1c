"""The checker of chapter 16 accepts what is right and says what is wrong."""

from dataclasses import replace

import pytest

from pieces.book.exercises import model_table as check
from pieces.book.figures import model_table as figures
from pieces.zoo import Architecture, assemble, counted


def row(c, **changes):
    """The right answer, or with one field changed."""
    right = Architecture(
        n_layers=c["num_hidden_layers"],
        n_heads=c["num_attention_heads"],
        d_model=c["hidden_size"],
        d_ff=c["intermediate_size"],
        vocab_size=c["vocab_size"],
        n_kv_heads=c.get("num_key_value_heads"),
        head_dim=c.get("head_dim"),
        norm="RMSNorm",
        position="RoPE",
        feed_forward="SwiGLU",
        head="tied" if c["tie_word_embeddings"] else "own",
    )
    return replace(right, **changes)


def test_the_right_answer_is_accepted(capsys):
    check.my_row(row)
    assert capsys.readouterr().out == "Exercise 16.4: right.\n"


def test_the_cases_have_what_another_lacks_and_count_as_published():
    configs = [check.published(name) for name in check.CASES]
    assert {"head_dim" in c for c in configs} == {"num_key_value_heads" in c for c in configs}
    assert {c["tie_word_embeddings"] for c in [*configs, check.tied()]} == {True, False}
    assemble(row(check.tied()))
    for name, c in zip(check.CASES, configs, strict=True):
        assert figures.total(row(c)) == counted(name)["total"]


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        ({"n_kv_heads": None}, "num_key_value_heads"),
        ({"head_dim": None}, "head_dim"),
        ({"head": "tied"}, "any other is"),
        ({"head": "own"}, "A tied head"),
        ({"norm": "LayerNorm"}, "RMSNorm"),
        ({"position": "learned"}, "rotary"),
        ({"feed_forward": "GELU"}, "SwiGLU"),
        ({"d_ff": 7}, "intermediate_size"),
        ({"n_layers": 1}, "n_layers is 1"),
        ({"biases": "all"}, "biases is 'all'"),
    ],
)
def test_a_usual_mistake_is_named(slip, said, capsys):
    check.my_row(lambda c: row(c, **slip))
    printed = capsys.readouterr().out
    assert printed.startswith("Exercise 16.4: not yet.")
    assert said in printed


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda c: None, "returns None"),
        (lambda c: 7, "expected an Architecture"),
        (lambda c: c["width"], "KeyError"),
        (lambda c: row(c, n_heads=0), "n_heads = 0"),
    ],
)
def test_nonsense_is_answered_kindly(answer, said, capsys):
    check.my_row(answer)
    assert said in capsys.readouterr().out
