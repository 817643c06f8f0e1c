"""The numbers that a chapter keeps: short, playable at once, quiet, in one alphabet, readable."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import chapter_text as words
from chapter_page import DESK, PHONE, Page, measure
from notebook_lines import count

LONG = {12, 15}  # chapters with twice the matter


@dataclass(frozen=True)
class Chapter:
    """One chapter: its notebook, and its page on a desk and on a phone."""

    name: str
    desk: Page | None = None
    phone: Page | None = None

    @cached_property
    def book(self):
        """The notebook."""
        return words.notebook(self.name)

    @property
    def number(self) -> int:
        """3, of "chapters/03_attention"."""
        return int(self.name.rpartition("/")[2][:2])

    @cached_property
    def code(self) -> dict[str, int]:
        """The lines of the notebook's code: all, the idea, the longest cell."""
        return count(self.book)

    @property
    def limit(self) -> int:
        """How long the page may be, in px."""
        return 18_000 if self.number in LONG else 14_000

    @cached_property
    def sentences(self) -> tuple[float, float]:
        """The mean length of a sentence, and the share of short ones."""
        return words.sentence_numbers(self.book)


@dataclass(frozen=True)
class Number:
    """One number of a chapter: how it is measured, and whether it will do."""

    name: str
    measure: Callable[[Chapter], Any]
    fits: Callable[[Any, Chapter], bool]
    rule: str
    of_page: bool = True
    which: Callable[[Chapter], list[str]] | None = None  # what to look at where it does not fit

    def __str__(self) -> str:
        """Its name, as a test shows it."""
        return self.name

    def complaint(self, value: Any, chapter: Chapter) -> str:
        """Return what is wrong with a value that does not fit, and where to look."""
        where = f": {self.which(chapter)}" if self.which else ""
        return f"{self.name}: {value}, must be {self.rule}{where}"


def nothing(found, chapter) -> bool:
    """Nothing was found."""
    return not found


def at_most(limit: float) -> Callable[[Any, Chapter], bool]:
    """Return whether a number is small enough."""
    return lambda value, chapter: value <= limit


PAGE = (
    Number(
        "top of the first widget, desk (px)",
        lambda c: round(c.desk.first_widget),
        at_most(330),
        "at most 330",
    ),
    Number(
        "top of the first widget, phone (px)",
        lambda c: round(c.phone.first_widget),
        at_most(1500),
        "at most 1,500",
    ),
    Number(
        "length of the page, desk (px)",
        lambda c: c.desk.length,
        lambda value, c: value <= c.limit,
        "at most 14,000 (chapters 12 and 15: 18,000)",
    ),
    Number(
        "widgets, share of the page",
        lambda c: round(c.desk.widget_share, 3),
        lambda value, c: value >= 0.1,
        "at least 0.10",
    ),
    Number(
        "longest open block of code (lines)",
        lambda c: c.desk.longest_block,
        lambda value, c: value[0] <= 16,
        "at most 16",
    ),
    Number(
        "open code, share of the page",
        lambda c: round(c.desk.code_share, 3),
        at_most(0.15),
        "at most 0.15",
    ),
    Number(
        "wider than its place on a phone",
        lambda c: c.phone.wide,
        nothing,
        "nothing",
    ),
    Number(
        "width of the page on a phone (px)",
        lambda c: c.phone.page_width,
        at_most(PHONE[0]),
        f"at most {PHONE[0]}",
    ),
    Number(
        "jumps between headings",
        lambda c: words.heading_jumps(c.desk.headings),
        nothing,
        "none",
    ),
)
TEXT = (
    Number(
        "checks in open code",
        lambda c: words.shown_checks(c.book),
        nothing,
        "none",
        of_page=False,
    ),
    Number(
        "letters that the notation page does not have",
        lambda c: words.strange_letters(c.book, c.number),
        nothing,
        "none",
        of_page=False,
    ),
    Number(
        "mean length of a sentence (words)",
        lambda c: round(c.sentences[0], 1),
        lambda value, c: 13 <= value <= 18,
        "13 to 18",
        of_page=False,
    ),
    Number(
        "sentences of five words or fewer, share",
        lambda c: round(c.sentences[1], 3),
        at_most(0.12),
        "at most 0.12",
        of_page=False,
        which=lambda c: words.short_sentences(c.book),
    ),
    Number(
        "code of the notebook (lines)",
        lambda c: c.code["all"],
        at_most(160),
        "at most 160",
        of_page=False,
    ),
    Number(
        "code that is the idea, share",
        lambda c: c.code["idea"] / c.code["all"],
        lambda value, c: value >= 0.5,
        "at least 0.5; tests/book/notebook_lines.py says what counts",
        of_page=False,
    ),
    Number(
        "longest cell of code (lines)",
        lambda c: c.code["longest"],
        at_most(16),
        "at most 16",
        of_page=False,
    ),
)


def visited(tabs, address: str, name: str) -> Chapter:
    """Open a chapter's page once on a desk and once on a phone."""
    seen = []
    for width, height in (DESK, PHONE):
        url = f"{address}/{name}.html"
        with tabs.opened(url, width=width, height=height) as page:
            seen.append(measure(page))
    return Chapter(name, *seen)
