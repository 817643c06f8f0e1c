"""The type checker of these tests: it looks at the beginning of each, and lets the rest run."""

import pytest
from jaxtyping import TypeCheckError

import lazily
from checker import past_the_checker
from pieces.attention import masked_softmax
from pieces.masks import causal


def refused_by_type():
    """Whether the type checker looks, and refuses before the package does."""
    with pytest.raises(Exception) as refused:  # noqa: PT011  which one, is the question
        masked_softmax("no tensor")
    return refused.type is TypeCheckError


def test_a_long_test_is_checked_at_its_beginning():
    assert refused_by_type()
    for _ in range(lazily.CHECKS):
        causal(1)
    assert not refused_by_type()
    lazily.check_again()
    assert refused_by_type()


def test_the_next_test_is_checked_again():
    assert refused_by_type()


def test_there_is_a_way_past_it():
    with past_the_checker():
        assert not refused_by_type()
    assert refused_by_type()
