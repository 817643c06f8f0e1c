"""How long a chapter takes and what it builds on: counted, and said where a reader chooses."""

import json
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

import reading_time
from browser import ROOT
from pieces.book.thread import chapter_places, place_of

CHAPTERS = sorted((ROOT / "chapters").glob("[0-9][0-9]_*.ipynb"))


@pytest.mark.parametrize(
    ("words", "code", "minutes"),
    [
        (2000, "", 10),
        (2400, "", 10),
        (2600, "", 15),
        (0, 'ask("3.2")', 5),
        (0, 'ask("3.2")\nask("3.1")\ncheck.scores(mine)\nasked = 1', 10),
        (0, "Alignment(text='a')\nview = MaskExplorer()\nx = torch.Tensor(3)", 0),
        (1000, "Aa(1)\nBb(1)\nCc(1)\nDd.from_model(1)\nEe(1)", 10),
    ],
)
def test_words_questions_and_widgets_are_counted(tmp_path, words, code, minutes):
    cells = [("markdown", "## Head\n" + "word " * words), ("code", code)]
    told = {"cells": [{"cell_type": kind, "source": [text]} for kind, text in cells]}
    file = tmp_path / "x.ipynb"
    file.write_text(json.dumps(told), encoding="utf-8")
    assert reading_time.minutes(file) == minutes


def test_formulas_and_addresses_are_no_words():
    text = "See [it](https://a.b/c_d) where\n$$\na + b = c\n$$\n**bold** `code`"
    assert reading_time.MARKS.sub(" ", text).split() == ["See", "it", "where", "bold", "code"]


def test_a_sentence_for_each_number_of_chapters():
    path, place = CHAPTERS[0], chapter_places()[1]
    ends = [reading_time.told(path, replace(place, needs=n)).partition(" minutes")[2]
            for n in ((), (3,), (3, 4), (3, 4, 9))]  # fmt: skip
    assert ends == [
        "",
        "; builds on chapter 3",
        "; builds on chapters 3 and 4",
        "; builds on chapters 3, 4 and 9",
    ]


def test_a_chapter_builds_on_earlier_ones():
    for number, place in chapter_places().items():
        assert all(1 <= other < number for other in place.needs), number


def test_it_is_said_on_the_front_page_and_in_the_chapter(site):
    index = BeautifulSoup((site / "index.html").read_text(encoding="utf-8"), "html.parser")
    front = [one.get_text() for one in index.select(".front-part .front-time")]
    told = [reading_time.told(path, place_of(path.stem)) for path in CHAPTERS]
    assert front == told
    for path, words in zip(CHAPTERS, told, strict=True):
        text = (site / "chapters" / f"{path.stem}.html").read_text(encoding="utf-8")
        marks = BeautifulSoup(text, "html.parser").select(".here-time")
        assert [mark.get_text() for mark in marks] == [words, words], path
