"""The thread through the book: which part of the whole model a chapter is about, from one table."""

import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).parent / "thread.toml"
CHAPTERS = Path(__file__).parents[3] / "chapters"


@dataclass(frozen=True)
class ChapterPlace:
    """A chapter's place in the whole model: a line of ``thread.toml``."""

    name: str
    lit: tuple[str, ...]
    part: str
    text: str
    leads: tuple[str, ...] = ()
    needs: tuple[int, ...] = ()
    model: str = "stories_llama"


@functools.cache
def chapter_places() -> dict[int, ChapterPlace]:
    """Return the place of each chapter, by its number."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))["chapters"]
    lists = ("lit", "leads", "needs")
    return {
        int(number): ChapterPlace(**{k: tuple(v) if k in lists else v for k, v in line.items()})
        for number, line in table.items()
    }


def place_of(name: str) -> ChapterPlace | None:
    """Return the place of a chapter by its file's name, None of what is no chapter."""
    number = re.match(r"\d\d(?=_)", name)
    return chapter_places().get(int(number[0])) if number else None


def links(folder: str = "") -> dict[str, str]:
    """Return where the chapter of each part stands, for ``WholeModel(links=...)``, once written."""
    written = {int(path.name[:2]): path.stem for path in CHAPTERS.glob("[0-9][0-9]_*.ipynb")}
    return {
        kind: f"{folder}{written[number]}.html"
        for number, place in chapter_places().items()
        for kind in place.leads
        if number in written
    }
