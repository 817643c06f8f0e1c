"""Print the numbers of one chapter: `python tests/book/measure_page.py chapters/03_attention`.

The words are measured in the notebook; places and sizes on the page in `_build/html`, as it was
built last. Ends with 1 where a number is out of its bounds.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.sync_api import sync_playwright

from browser import ARGUMENTS, ROOT, Tabs, executable
from chapter_numbers import PAGE, TEXT, Chapter, visited


def chapter(name: str) -> Chapter:
    """Return a chapter, with its page where it is built."""
    site = ROOT / "_build" / "html"
    if not (site / f"{name}.html").exists():
        print(f"{site / name}.html is not built: the words only, and after `make book` the rest")
        return Chapter(name)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=list(ARGUMENTS))
        seen = visited(Tabs(browser), site.as_uri(), name)
        browser.close()
    return seen


def lines(value) -> list[str]:
    """Return a value as a few lines."""
    if isinstance(value, dict):
        return [str(len(value)), *(f"  {key}: {' '.join(at.split())}" for key, at in value.items())]
    if isinstance(value, list):
        return [str(len(value)), *(f"  {' '.join(str(one).split())}" for one in value)]
    return [f"{value:.3g}" if isinstance(value, float) else str(value)]


def report(one: Chapter) -> bool:
    """Print each number and whether it fits. Returns whether all do."""
    good = True
    for number in (*TEXT, *(PAGE if one.desk else ())):
        value = number.measure(one)
        fits = number.fits(value, one)
        good &= fits
        first, *rest = lines(value)
        if number.which and not fits:
            rest += lines(number.which(one))[1:]
        print(
            f"{'ok ' if fits else 'NO '} {number.name}: {first}   ({number.rule})",
            *rest,
            sep="\n      ",
        )
    return good


if __name__ == "__main__":
    names = [name.removesuffix(".ipynb").removesuffix(".html") for name in sys.argv[1:]]
    sys.exit(sum(not report(chapter(name)) for name in names))
