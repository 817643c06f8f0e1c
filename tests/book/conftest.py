"""The built site: made once if it is missing or older than its sources, and served from here."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import served
from building import SITE, alone, is_stale, make_book


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site; PIECES_SITE names another one."""
    if given := os.environ.get("PIECES_SITE"):
        return Path(given)
    with alone():  # the first process builds it, the others find it built
        if is_stale():
            make_book()
    return SITE


@pytest.fixture(scope="session")
def home(site: Path) -> Iterator[str]:
    """The address of the served site."""
    with served(site) as address:
        yield address


@pytest.fixture
def address(request, site: Path, home: str) -> str:
    """The site's address, "http" or "disk" as the test's parameter says."""
    return home if request.param == "http" else site.as_uri()
