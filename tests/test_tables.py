"""Tables: what is read, as text and on the page, is what was put in."""

import math

import pytest
import torch
from bs4 import BeautifulSoup
from IPython.core.formatters import DisplayFormatter

from pieces.book import plot, scientific

ROWS = [["plain", 0.584, 4], ["uneven <b>", -1.0, 363_000], ["both & none", -0.0004, 9_999]]
HEADERS = ["keys", "hit rate", "parameters"]


def soup(table):
    return BeautifulSoup(table._repr_html_(), "html.parser")


def test_the_text_in_full():
    assert repr(plot.table(ROWS, HEADERS, caption="Who is found?")) == (
        "Who is found?\n\n"
        "keys           hit rate    parameters\n"
        "-----------  ----------  ------------\n"
        "plain              0.58             4\n"
        "uneven <b>        −1.00       363,000\n"
        "both & none        0.00         9,999"
    )


def test_the_page_holds_the_same_cells():
    table = soup(plot.table(ROWS, HEADERS, caption="Who <is> found?")).table
    assert table.caption.text == "Who <is> found?"
    assert [th.text for th in table.thead.select("tr > th[scope=col]")] == HEADERS
    assert [th.text for th in table.tbody.select("tr > th[scope=row]:first-child")] == [
        row[0] for row in ROWS
    ]
    cells = [[td.text for td in row.select("td")] for row in table.tbody.select("tr")]
    assert cells == [["0.58", "4"], ["−1.00", "363,000"], ["0.00", "9,999"]]
    for row in table.select("tr"):
        assert ["number" in cell.get("class", []) for cell in row.find_all(("th", "td"))] == [
            False,
            True,
            True,
        ]
    assert not table.find("b"), "what stands in a cell is text"


@pytest.mark.parametrize(
    ("column", "aligned"),
    [
        (["64", "−0.25", "363,000", "< 0.01"], True),
        (["20 %", "5\u00a0%", "–", ""], True),
        (["192", "39.5 billion"], True),
        (["13B", "7B"], False),
        (["0.61 (0.49 to 1.00)", "0.50"], False),
        (["3.6·10⁻¹⁵", "0.62"], True),
        (["", "–"], False),
        (["no", 4], True),
    ],
)
def test_numbers_that_came_as_texts_stand_right_as_well(column, aligned):
    table = plot.table([["a", cell] for cell in column], ["name", "value"])
    cells = soup(table).select("tbody td")
    assert ["number" in cell.get("class", []) for cell in cells] == [aligned] * len(column)
    ends = {len(line) for line in repr(table).splitlines()[2:] if line != "a"}
    assert len(ends) == 1 or not aligned


def test_it_can_be_reached_and_has_a_name():
    (region,) = soup(plot.table(ROWS, HEADERS)).select("[role=region][tabindex='0']")
    assert region["aria-label"] == "keys, hit rate, parameters"
    assert not region.select("caption")
    named = soup(plot.table(ROWS, HEADERS, caption='"Odd" & <even>'))
    assert named.select_one("[role=region]")["aria-label"] == '"Odd" & <even>'


def test_a_notebook_gets_both():
    table = plot.table(ROWS, HEADERS)
    data, _ = DisplayFormatter().format(table)
    assert data["text/plain"] == repr(table)
    assert "<table>" in data["text/html"]


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (2, 2, "2"),
        (2.0, 2, "2.00"),
        (0.125, 1, "0.1"),
        (12_345.678, 1, "12,345.7"),
        (-12_345, 2, "−12,345"),
        (-0.001, 2, "0.00"),
        (-0.0, 0, "0"),
        (math.inf, 2, "∞"),
        (-math.inf, 2, "−∞"),
        (math.nan, 2, "not a number"),
        ("1e5", 2, "1e5"),
        ("-3", 2, "-3"),
        ("", 2, ""),
    ],
)
def test_a_cell_is_read_as_one_writes_it(value, digits, text):
    table = soup(plot.table([["x", value]], ["a", "b"], digits=digits))
    assert table.td.text == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (3.5527e-15, 2, "3.6·10⁻¹⁵"),
        (2e-8, 2, "2·10⁻⁸"),
        (-9.96e-8, 2, "−1·10⁻⁷"),
        (13_781, 2, "1.4·10⁴"),
        (1.6e-10, 1, "2·10⁻¹⁰"),
        (0.00012, 2, "0.00012"),
        (-0.617, 2, "−0.62"),
        (0.0, 2, "0"),
        (-0.0, 2, "0"),
        (7, 1, "7"),
    ],
)
def test_a_small_number_has_a_power_of_ten(value, digits, text):
    assert scientific(value, digits) == text


def test_digits_for_each_column_and_numbers_as_headers():
    table = plot.table([["x", 0.5, 0.5]], ["K", 4, 64.0], digits=[0, 1, 3])
    page = soup(table)
    assert [td.text for td in page.select("td")] == ["0.5", "0.500"]
    assert [th.text for th in page.select("thead th")] == ["K", "4", "64"]


def test_a_column_with_a_gap_is_one_of_numbers_still():
    page = soup(plot.table([["x", "–"], ["y", 3]], ["a", "b"]))
    assert all("number" in td["class"] for td in page.select("td"))


GOOD = {"rows": [["a", 1]], "headers": ["x", "y"]}


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"rows": []}, ValueError, "rows = .*must not be empty"),
        ({"rows": "ab"}, TypeError, "rows = 'ab'"),
        ({"rows": ["ab"]}, ValueError, r"rows\[0\] = 'ab': must be a list of 2"),
        ({"rows": [["a", 1], ["b"]]}, ValueError, r"rows\[1\] = .*must be a list of 2"),
        ({"rows": [["a", True]]}, TypeError, "cell = True: must be"),
        ({"rows": [["a", None]]}, TypeError, "cell = None: must be"),
        ({"rows": [["a", torch.tensor(1)]]}, TypeError, r"cell = tensor\(1\): must be"),
        ({"rows": [["a", [1]]]}, TypeError, r"cell = \[1\]: must be"),
        ({"headers": []}, ValueError, "headers = .*must not be empty"),
        ({"headers": "xy"}, TypeError, "headers = 'xy'"),
        ({"headers": ["x", None]}, TypeError, "cell = None"),
        ({"digits": -1}, ValueError, "digits = -1: must be at least 0"),
        ({"digits": True}, TypeError, "digits = True"),
        ({"digits": [1]}, ValueError, r"digits = \[1\]: must be a list of 2"),
        ({"digits": [1, 1.5]}, TypeError, "digits = 1.5: must be an int"),
        ({"digits": [1, -1]}, ValueError, "digits = -1: must be at least 0"),
        ({"caption": 3}, TypeError, "caption = 3: must be a str"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_does_not_fit_is_refused(change, error, said):
    with pytest.raises(error, match=f"{said}.*Remedy: "):
        plot.table(**GOOD | change)
