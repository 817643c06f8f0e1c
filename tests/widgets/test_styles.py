"""A page holds the styles of all its widgets: each keeps to its own."""

import re
from pathlib import Path

import pytest

from browser import STATIC

ROOT = Path(__file__).parents[2]
# The kit's styles are for all; every other sheet lies in the folder of its widget.
OWN = [file for file in sorted(STATIC.rglob("*.css")) if file.parent.name != "kit"]


def foreign(text: str, name: str) -> list[str]:
    """Return the selectors that name neither the widget's frame nor its place on a page."""
    homes = (f".pieces-{name.replace('_', '-')}", f'[data-widget="{name}"]')
    plain = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    rules = [found.strip() for found in re.findall(r"([^{}]+)\{", plain)]
    single = [one for rule in rules if rule[:1] != "@" for one in re.split(r",(?![^(]*\))", rule)]
    return [one.strip() for one in single if not any(home in one for home in homes)]


@pytest.mark.parametrize("file", OWN, ids=lambda file: file.stem)
def test_no_rule_reaches_another_widget(file):
    assert foreign(file.read_text(encoding="utf-8"), file.parent.name) == []


def test_a_rule_for_all_is_seen():
    text = ".pieces-one .p-way { } @media print { .pieces .p-way, .pieces-one b { } } /* .p {} */"
    assert foreign(text, "one") == [".pieces .p-way"]
    assert len(OWN) > 10


def asked_of_all(text: str) -> list[str]:
    """Return each `:has()` for which a browser looks whenever any node comes or goes below it.

    That is so where its argument has a pseudo-class, and where its subject is the whole page.
    """
    plain = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = []
    for at in re.finditer(r"([\w.#-]*):has\(", plain):
        depth, end = 1, at.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(plain[end], 0)
            end += 1
        if ":" in plain[at.end() : end] or "article" in at[1] or at[1] in ("html", "body", "main"):
            found.append(plain[at.start() : end])
    return found


@pytest.mark.parametrize(
    "file", [*STATIC.rglob("*.css"), *(ROOT / "_static").glob("*.css")], ids=lambda file: file.stem
)
def test_no_rule_is_asked_whenever_anything_changes(file):
    """Such rules cost a control a millisecond or two, whatever its widget."""
    assert asked_of_all(file.read_text(encoding="utf-8")) == []


def test_a_rule_that_is_asked_of_all_is_seen():
    text = ".a:has(> b:not([open])) i { } .bd-article:has(.x) { } .c:has(> .d[open]):hover { }"
    assert asked_of_all(text) == [".a:has(> b:not([open]))", ".bd-article:has(.x)"]
