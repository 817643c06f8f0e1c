"""The desk of the kit's tests, and a hand that waits: a widget draws once a frame."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from browser import PAINTED

if TYPE_CHECKING:
    from desk import Desk
    from playwright.sync_api import Browser, Locator, Page

ACTS = [
    "blur",
    "check",
    "clear",
    "click",
    "dblclick",
    "dispatch_event",
    "drag_to",
    "fill",
    "focus",
    "hover",
    "press",
    "press_sequentially",
    "select_option",
    "set_checked",
    "tap",
    "type",
    "uncheck",
]


@pytest.fixture(scope="session")
def desk(chromium: Browser) -> Desk:
    """Where a primitive of the kit is called alone."""
    from desk import Desk

    return Desk(chromium)


def waits(act: Callable) -> Callable:
    """Return the act, over only when what came of it is drawn."""
    from playwright.sync_api import Error

    @functools.wraps(act)
    def whole(place: Locator, *given, **options):
        done = act(place, *given, **options)
        try:
            place.page.evaluate(PAINTED)
        except Error:  # the act led to another page
            place.page.wait_for_load_state()
        return done

    return whole


def told(emulate: Callable) -> Callable:
    """Return what sets the medium, over only when one frame has found it and the next has told it."""

    @functools.wraps(emulate)
    def whole(page: Page, **media) -> None:
        emulate(page, **media)
        page.evaluate(PAINTED)
        page.evaluate(PAINTED)

    return whole


@pytest.fixture(scope="session", autouse=True)
def _hands() -> Iterator[None]:
    """A test that reads right after a click reads the picture after it, on a slow machine too."""
    from playwright.sync_api import Locator, Page

    with pytest.MonkeyPatch.context() as patch:
        for name in ACTS:
            patch.setattr(Locator, name, waits(getattr(Locator, name)))
        patch.setattr(Page, "emulate_media", told(Page.emulate_media))
        yield
