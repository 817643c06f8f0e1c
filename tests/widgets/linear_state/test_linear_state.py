"""LinearState: read on and on, asked for the first name, typed key by key."""

import pytest
from oracle import check, recorded
from trials import trials

from browser import put, said, state
from pieces.widgets import LinearState

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("size", 1), ("size", 17), ("step", 25), ("asked", 0), ("text", "a" * 401)],
)  # fmt: skip
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        LinearState(**{trait: value})


def test_read_on_and_on_the_square_forgets_and_the_cache_does_not(bench):
    widget = LinearState(step=0)
    with recorded(bench, widget) as page:
        on = page.get_by_role("button", name="Step forward")
        kept = []
        while not on.is_disabled():
            on.click()
            check(page, widget)
            now = state(page, widget)
            kept.append((now["numbers"], now["known"]))
        assert [one[0] for one, _ in kept] == [16 * n for n in range(1, 17)]
        assert {one[1] for one, _ in kept} == {64}
        assert kept[2][1] == [3, 3]
        cache, square = kept[-1][1]
        assert cache == 16
        assert square < 10


def test_a_name_said_long_ago_is_asked_for_by_finger_and_by_key(bench):
    widget = LinearState(step=12)
    with recorded(bench, widget, width=390, touch=True) as page:
        for name in ("Anna", "Finn", "Tom"):
            page.get_by_role("button", name=f"Ask for {name}").tap()
            check(page, widget)
            assert f"Asked for {name}" in said(page)
        page.get_by_role("button", name="Ask for Lily").focus()
        page.keyboard.press("Enter")
        assert state(page, widget)["asked"] == 3


def test_typed_key_by_key_nothing_is_lost(bench):
    widget = LinearState(step=3)
    with recorded(bench, widget) as page:
        field = page.get_by_label("Pairs of a name")
        field.fill("")
        check(page, widget)
        for letter in "Jo sun, Al mo":
            field.press_sequentially(letter)
            check(page, widget)
        assert field.input_value() == "Jo sun, Al mo"
        field.press_sequentially("on")
        check(page, widget)


def test_the_field_stays_where_it_is_while_its_text_is_empty(bench):
    widget = LinearState(step=3)
    with recorded(bench, widget) as page:
        field = page.get_by_label("Pairs of a name")
        before = field.bounding_box()["y"]
        field.fill("")
        check(page, widget)
        assert abs(field.bounding_box()["y"] - before) < 40
        field.press_sequentially("Jo sun")
        check(page, widget)
        assert page.locator(".p-typing").get_attribute("style") in ("", None)


def test_a_larger_square_keeps_more(bench):
    widget = LinearState(step=16)
    with recorded(bench, widget) as page:
        known = []
        for size in (4, 8, 16):
            put(page, widget, size=size)
            check(page, widget)
            known.append(state(page, widget)["known"][1])
        assert known[0] < known[1] < known[2]


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    with bench.show(LinearState(step=16), width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
