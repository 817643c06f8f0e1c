"""A page holds the styles of all its widgets: each keeps to its own."""

import re

import pytest

from browser import STATIC

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
