"""The desk of the kit's tests."""

import pytest
from playwright.sync_api import Browser

from desk import Desk


@pytest.fixture(scope="session")
def desk(chromium: Browser) -> Desk:
    """Where a primitive of the kit is called alone."""
    return Desk(chromium)
