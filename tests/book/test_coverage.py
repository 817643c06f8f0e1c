"""The accounts with the source texts: each item and each erratum has a place that speaks of it.

The places are looked up in the built pages. What stands there is compared letter by letter, without
blanks, signs and the difference of large and small.
"""

import re

import pytest
from bs4 import BeautifulSoup

from browser import ROOT

FOLDER = ROOT / "chapters" / "appendix"
PAGE = (FOLDER / "coverage.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| (?P<item>[SE][\d-]+) \| (?P<what>.+?) \| (?P<place>.+?) \| (?P<words>.+?) \|$", re.M
)
LINK = re.compile(r"\[[^]]+\]\((?P<page>[\w./]+?)(?:\.ipynb|\.md)#(?P<anchor>[\w-]+)\)")
OWN = re.compile(r"\{ref\}`[^<]+<(?P<anchor>e-\d\d)>`")  # an entry that only its own page settles
ITEMS = {"S0": 81, "S1": 46, "S2": 113, "S3": 23, "S4": 19}
ERRATA = 88
ROWS = [match.groupdict() for match in ROW.finditer(PAGE)]


def letters(text):
    """Return what is compared."""
    return re.sub(r"[\W_]+", "", text.casefold())


@pytest.fixture(scope="module")
def place(site):
    """Return the text of a part of a built page, None if there is no such part."""
    pages = {}

    def text(page, anchor):
        path = (site / "chapters" / "appendix" / f"{page}.html").resolve()
        if path not in pages:
            assert path.exists(), path
            pages[path] = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        found = pages[path].find(id=anchor)
        while found is not None and found.name in {"span", "h1", "h2", "h3", "summary"}:
            found = found.parent
        return None if found is None else letters(found.get_text(" "))

    return text


def test_nothing_is_unmapped():
    """Each item and each erratum, once, in the order of the texts."""
    items = [f"{text}-{n:02}" for text, most in ITEMS.items() for n in range(1, most + 1)]
    assert [row["item"] for row in ROWS] == items + [f"E-{n:02}" for n in range(1, ERRATA + 1)]


@pytest.mark.parametrize("text", [*ITEMS, "E"])
def test_the_place_is_there_and_speaks_of_it(place, text):
    lost = []
    for row in [row for row in ROWS if row["item"].startswith(text)]:
        link = LINK.fullmatch(row["place"]) or OWN.fullmatch(row["place"])
        assert link, row
        told = place(link.groupdict().get("page", "errata"), link["anchor"])
        assert told is not None, row
        for words in row["words"].split(" · "):
            assert len(letters(words)) >= 4, row
            if letters(words) not in told:
                lost.append((row["item"], row["place"], words))
    assert lost == []


def test_a_missing_passage_would_be_seen(place):
    """Not one of the words stands all over the book: another chapter's summary has hardly any."""
    strange = place("../07_efficient_attention", "summary")
    found = [w for row in ROWS for w in row["words"].split(" · ") if letters(w) in strange]
    assert len(found) <= len(ROWS) // 50


def test_every_erratum_is_told_and_sends_to_its_place(place):
    """The entry stands on its page, in the table too, and its links lead somewhere."""
    page = (FOLDER / "errata.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[(E-\d\d)\]\(#e-\d\d\) \|", page, re.M)
    assert listed == [f"E-{n:02}" for n in range(1, ERRATA + 1)]
    entries = dict(re.findall(r"^\((e-\d\d)\)=\n(.*?)(?=^\(e-\d\d\)=|\Z)", page, re.M | re.S))
    assert sorted(entry.upper() for entry in entries) == listed
    for name, entry in entries.items():
        shown = entry.partition("**Shown in**")[2]
        assert shown, name
        for link in re.finditer(r"\((\.\./\w+)\.ipynb#([\w-]+)\)", shown):
            assert place(link[1], link[2]), (name, link[0])
