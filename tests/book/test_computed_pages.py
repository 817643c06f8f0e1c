"""Pages that the build computes: parity with transformers, and what a class costs."""

import json
import re

import pytest
from bs4 import BeautifulSoup

import teaching_page
from browser import ROOT
from pieces.book.measured import record_of
from tiny import FAMILIES


@pytest.fixture
def page(site):
    """Return a built page of the appendix as a tree."""

    def tree(name):
        path = site / "chapters" / "appendix" / f"{name}.html"
        return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")

    return tree


def rows(table):
    return [[cell.get_text(" ", strip=True) for cell in row.find_all("td")] for row in table("tr")][
        1:
    ]


def number(text):
    """Return 9.9e-07, of "9.9·10⁻⁷"."""
    digits, power = text.split("·10")
    return float(f"{digits}e{power.translate(str.maketrans('⁻⁰¹²³⁴⁵⁶⁷⁸⁹', '-0123456789'))}")


def test_each_family_is_equal_to_that_of_transformers(page):
    """As the build has computed it: thirteen families, none beyond the limit."""
    found = rows(page("parity")("table")[0])
    assert len(found) == len(FAMILIES) + 2 == 13
    for name, compared, largest in found:
        assert int(compared) == 15, name
        assert 0 < number(largest) <= 1e-5, name
    told = page("parity").find(string=re.compile("The largest:")).strip()
    most = max((largest for *_, largest in found), key=number)
    assert told.endswith(f"The largest: {most}.")
    assert "<!--" not in page("parity").find("article").get_text()


def test_each_record_of_another_device_is_told(page):
    """A run on a GPU keeps the limit, and is told by its tools, its outputs and its largest."""
    files = sorted((ROOT / "benchmarks" / "records").glob("parity_*.json"))
    told = page("parity").find_all(string=re.compile("The same comparison with"))
    assert len(told) == len(files) >= 1
    for text, file in zip(told, files, strict=True):
        record = json.loads(file.read_text(encoding="utf-8"))
        differences = [largest for *_, largest in record["rows"]]
        assert len(differences) == 13
        assert max(differences) <= 1e-5
        assert record["tools"] in text
        assert "NVIDIA" in text
        count, largest = re.search(r"of its (\d+) outputs .* is (\S+),", text).groups()
        assert int(count) == 13 * 15
        assert number(largest) == float(f"{max(differences):.1e}")


def test_each_record_of_speed_is_shown_as_it_is(page):
    tables = page("parity")("table")[1:]
    records = sorted((ROOT / "benchmarks" / "records").glob("models_*.json"))
    assert len(tables) == len(records) >= 1
    for table, file in zip(tables, records, strict=True):
        record = json.loads(file.read_text(encoding="utf-8"))
        shown = [(what, float(ratio)) for what, ratio, _ in rows(table)]
        assert shown == [(row["what"], round(row["ratio"], 2)) for row in record["rows"]]


def test_a_class_costs_what_was_measured(page):
    record = record_of("classroom")
    found = rows(page("teaching")("table")[1])
    for shown, one in zip(found, record["classes"], strict=True):
        numbers = [int(number) for number in re.findall(r"\d+", " ".join(shown))]
        keys = ["students", "student_mb", "hub_mb", "server_s_median", "server_s_longest"]
        keys += ["chapter_s_median", "chapter_s_longest"]
        assert numbers == [int(f"{one[key]:.0f}") for key in keys]


def test_a_thousand_is_arithmetic():
    """Numbers that are easy to check: half a GB each, 20 s of one core for ten servers."""
    full = {"students": 10, "student_mb": 500.0, "hub_mb": 210.0, "server_s_longest": 10.0}
    told = teaching_page.thousand({"machine": {"cores": 2}, "classes": [full, full]})
    assert "300 × 0.50 GB = 150 GB; if all are, 500 GB" in told
    assert "took about 2.0 s of one core" in told
    assert "within 10 minutes keep 1 cores busy; within one minute, 10." in told
