"""What an editor struck does not come back, in chapters, questions, widgets and the package."""

import re
import subprocess

import pytest

from browser import ROOT

# Phrases that no native reader would say, or their kin. Each stands for a way of going wrong: the
# order of another language, dropped verbs, words of another trade.
STRUCK = (
    r"how like is",
    r"became classics",
    r"is to be handed",
    r"no worse a",
    r"an even guess",
    r"(?:ended|end|answer|answers) (?:both )?alike",
    r"the one to code wants",
    r"per cent of (?:the|all|queries|draws)\b",
    r"in per cent, please",
    r"% are to expert",
    r"an expert a machine",
    r"measured trainings",
    r"parameters that (?:are there|work)\b",
    r"(?:has|have) (?:its|their) turn\b|\bits turn below",
    r"below stands? ",
    r"turn(?:s|ed)? the signs",
    r"nobody normalis",
    r"(?:schemes|models|widths) bear\b",
    r"whoever guesses",
    r"loud for everyone",
    r"in its turn",
)
READ = re.compile(
    r"(?:chapters/.*\.(?:ipynb|md)|index\.md|README\.md|CONTRIBUTING\.md|CHANGELOG\.md"
    r"|src/pieces/.*\.(?:py|toml|js))"
)
APART = ("src/pieces/book/libraries/",)  # of other people


def pages():
    """Return the files of the book that hold words for readers."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [
        name
        for name in listed.stdout.splitlines()
        if READ.fullmatch(name) and not name.startswith(APART) and (ROOT / name).is_file()
    ]


def test_what_was_struck_stays_away():
    pattern = re.compile("|".join(STRUCK), re.IGNORECASE)
    found = []
    for name in pages():
        text = (ROOT / name).read_text(encoding="utf-8")
        found += [f"{name}: {match[0]}" for match in pattern.finditer(text)]
    assert found == []


@pytest.mark.parametrize(
    "struck",
    ["How like is a query to a key?", "It is no worse a score.", "Two more seeds ended alike."],
)
def test_the_rules_find_what_was_struck(struck):
    assert re.search("|".join(STRUCK), struck, re.IGNORECASE)


def test_each_chapter_says_what_its_sources_are():
    """Where S0 to S4 are spoken of, the list of the five texts is one link away."""
    for path in sorted((ROOT / "chapters").glob("[0-9][0-9]_*.ipynb")):
        text = path.read_text(encoding="utf-8")
        first = re.search(r"\[?\bS[0-4]\b", text)
        line = text[first.start() :].partition("\n")[0]
        assert "errata.md#the-source-texts)" in line, f"{path.name}: {line[:80]}"
