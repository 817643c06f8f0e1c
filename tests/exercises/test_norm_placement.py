"""The checkers of chapter 11 accept what is right and say what is wrong."""

import pytest
import torch

from pieces.book.exercises import norm_placement as check


def solution(connection, d_model, *, sublayer=torch.zeros_like, x=None, turned=False):
    """The right answer, or with one mistake."""
    x = 5 + 3 * torch.arange(d_model, dtype=torch.float64)[None] if x is None else x(d_model)
    return torch.allclose(connection(x, sublayer), x, atol=1e-4) == turned


def by_size(connection, d_model):
    """The same, by two inputs of different size: a norm makes them equal."""
    x = torch.randn(2, 3, d_model)
    small, large = connection(x, torch.zeros_like), connection(10 * x, torch.zeros_like)
    return torch.tensor(torch.allclose(small, large, atol=1e-2))


@pytest.mark.parametrize("answer", [solution, by_size])
def test_the_right_answer_is_accepted(capsys, answer):
    check.normalises_stream(answer)
    assert capsys.readouterr().out == "Exercise 11.4: right.\n"


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        ({"sublayer": lambda x: x}, "let it add nothing"),
        ({"x": lambda D: torch.zeros(1, D)}, "one that a norm would change"),
        ({"turned": True}, "The other way round"),
    ],
)
def test_a_usual_mistake_is_named(slip, said, capsys):
    check.normalises_stream(lambda *given: solution(*given, **slip))
    assert said in capsys.readouterr().out


def test_an_x_without_a_mean_is_asked_for(capsys):
    def by_mean(connection, d_model):
        x = 5.0 + torch.arange(d_model)[None]
        return bool(connection(x, torch.zeros_like).mean().abs() < 1e-3)

    check.normalises_stream(by_mean)
    assert "Not every norm takes the mean away" in capsys.readouterr().out


def test_who_looks_at_what_goes_in_is_sent_to_what_comes_out(capsys):
    def by_input(connection, d_model):
        seen, x = [], 5 + 3 * torch.arange(d_model, dtype=torch.float64)[None]
        connection(x, lambda inner: seen.append(inner) or torch.zeros_like(inner))
        return torch.equal(seen[0], x)

    check.normalises_stream(by_input)
    assert "look at what comes out, not at what goes in" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda connection, d_model: None, "returns None"),
        (lambda connection, d_model: "Post", "expected True or False, got str"),
        (lambda connection, d_model: hasattr(connection.norm, "bias"), "AttributeError"),
        (lambda connection: True, "TypeError"),
    ],
)
def test_nonsense_is_answered_kindly(answer, said, capsys):
    check.normalises_stream(answer)
    assert said in capsys.readouterr().out
