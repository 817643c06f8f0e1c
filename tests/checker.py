"""A way past the type checker of the tests."""

from collections.abc import Iterator
from contextlib import contextmanager

import jaxtyping


@contextmanager
def past_the_checker() -> Iterator[None]:
    """What is called here runs as it does for the package's users: no type is checked."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", before)
