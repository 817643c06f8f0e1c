"""Every chapter's page and notebook against the numbers that a chapter keeps."""

import re

import pytest

from browser import book_pages
from chapter_numbers import PAGE, TEXT, Chapter, visited

CHAPTERS = [page for page in book_pages() if re.search(r"/\d\d_", page)]


@pytest.fixture(scope="module", params=CHAPTERS)
def seen(request, tabs, home):
    """A chapter, its page looked at on a desk and on a phone."""
    return visited(tabs, home, request.param)


@pytest.mark.parametrize("number", PAGE, ids=str)
def test_the_page(seen, number):
    value = number.measure(seen)
    assert number.fits(value, seen), number.complaint(value, seen)


@pytest.mark.parametrize("number", TEXT, ids=str)
@pytest.mark.parametrize("name", CHAPTERS)
def test_the_words(name, number):
    chapter = Chapter(name)
    value = number.measure(chapter)
    assert number.fits(value, chapter), number.complaint(value, chapter)
