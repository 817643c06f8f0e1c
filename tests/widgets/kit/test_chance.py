"""Numbers for people: decimals as far as they are read, then a power of ten; none for a chance."""

import math

import pytest
from charted import written
from oracle import number, says
from twins import opened_twin


@pytest.fixture(scope="module")
def twin(chromium):
    with opened_twin(chromium, modules=("kit/dom",)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("p", "two", "four"),
    [(0, "0.00", "0.0000"), (1, "1.00", "1.0000"), (0.43, "0.43", "0.4300"), (0.005, "0.01", "0.0050"),
     (0.0043, "0.0043", "0.0043"), (1e-4, "0.0001", "0.0001"), (7.4e-5, "<\u00a00.0001", "0.0001"),
     (7.4e-7, "<\u00a00.0001", "<\u00a00.0001")],
)  # fmt: skip
def test_a_probability_is_written_out(twin, p, two, four):
    assert twin("[dom.chance(a.p), dom.chance(a.p, 4)]", p=p) == [two, four]


@pytest.mark.parametrize(
    ("value", "two", "four"),
    [(0, "0.00", "0.0000"), (-0.0, "0.00", "0.0000"), (1.5, "1.50", "1.5000"), (-0.0043, "−0.0043", "−0.0043"),
     (0.005, "0.01", "0.0050"), (0.00043, "0.00043", "0.0004"), (-0.0001, "−0.00010", "−0.0001"),
     (7.4e-5, "7.4·10⁻⁵", "0.0001"), (-3.2e-12, "−3.2·10⁻¹²", "−3.2·10⁻¹²"), (999.99, "999.99", "999.9900"), (999.996, "1,000.00", "999.9960"),
     (-1000, "−1,000.00", "−1,000.0000"), (9999.4, "9,999.40", "9,999.4000"),
     (9999.6, "10,000", "10,000"), (-62831.85, "−62,832", "−62,832"), (999999.7, "1.0·10⁶", "1.0·10⁶"),
     (-4.27e23, "−4.3·10²³", "−4.3·10²³"), (float("inf"), "∞", "∞"), (float("-inf"), "−∞", "−∞"), (float("nan"), "–", "–")],
)  # fmt: skip
def test_a_number_is_written_in_decimals_where_one_would(twin, value, two, four):
    assert twin("[dom.format(a.value), dom.format(a.value, 4)]", value=value) == [two, four]
    if math.isfinite(value):
        assert [written(value), written(value, 4)] == [two, four]  # as the tests of widgets expect
        assert says(two, value, 2)
        assert says(four, value, 4)


@pytest.mark.parametrize(
    "text", ["1e-5", "3.2e−8", "1,23", "12,345,6", "10⁻⁵", "1.5·10", "--1", ""]
)
def test_what_is_written_otherwise_is_no_number(text):
    with pytest.raises(AssertionError):
        number(text)
