"""Fixtures of all unit tests: one thread, one seed, one device, and a way past the type checker.

The process that hands the tests out to others loads none of what they need: torch takes seconds.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Iterator

import pytest

import lazily
from checker import past_the_checker

torch = lazily.Module("torch")
pytest_plugins = ["browser"]
COMPILES_FROM = (2, 12)


def pytest_configure(config: pytest.Config) -> None:
    """One thread and one way of drawing examples, in each process that runs tests."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return
    from hypothesis import settings

    torch.set_num_threads(1)
    torch.backends.cudnn.allow_tf32 = False  # a recurrent network on a GPU is held to float32 too
    settings.register_profile("pieces", deadline=None, derandomize=True)
    settings.load_profile("pieces")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """An older torch runs the package, and does not compile it whole."""
    if tuple(map(int, torch.__version__.split(".")[:2])) < COMPILES_FROM:
        for item in items:
            if re.search("compile|export", item.name):
                item.add_marker(pytest.mark.skip(reason="needs torch 2.12 to compile or export"))


def pytest_collection_finish() -> None:
    """What was loaded stays: the search for what nobody holds need not go through it each time."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def _checked() -> None:
    """Each test begins with its types checked, whatever the one before it has left."""
    lazily.check_again()


@pytest.fixture(scope="session")
def device() -> torch.device:
    """Where the tests run: PIECES_TEST_DEVICE=cuda runs the same tests on a GPU."""
    return torch.device(os.environ.get("PIECES_TEST_DEVICE", "cpu"))


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Run the package as its users do, without jaxtyping and beartype.

    For tests of our own error messages (the type checker would refuse the input first), for
    torch.compile and torch.export (which would trace the checker), and for tests that train or
    build for long, of pieces whose types the other tests check.
    """
    with past_the_checker():
        if "torch._dynamo" in sys.modules:  # which takes seconds to load
            torch.compiler.reset()  # what was compiled with the checker, or too often, is void
        yield
