"""One profile of the browser for a module: what Jupyter is made of comes once, compiled once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext


@pytest.fixture(scope="module")
def profile(chromium: Browser) -> Iterator[BrowserContext]:
    """Where the pages of a module are opened, one after another."""
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    yield context
    context.close()
