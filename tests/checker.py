"""A way past the type checker of the tests, to the package's own words about what is wrong."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import jaxtyping
import pytest


@contextmanager
def past_the_checker() -> Iterator[None]:
    """What is called here runs as it does for the package's users: no type is checked."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", before)


def refused(call: Callable[[], object], error: type[Exception], text: str) -> None:
    """Hold that a call raises this error, which begins with this text and names a remedy."""
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(text)
    assert "Remedy: " in str(caught.value)
