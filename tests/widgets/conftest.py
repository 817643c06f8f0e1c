"""The desk of the kit's tests."""

import pytest
from desk import Desk
from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def desk(chromium: Browser) -> Desk:
    """Where a primitive of the kit is called alone."""
    return Desk(chromium)
