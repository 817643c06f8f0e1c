"""PositionWaves: its codes against torch, its tabs, the step that is the same turn everywhere."""

import pytest
import torch
from oracle import check, recorded
from trials import trials
from twins import opened_twin

from browser import put, said, state
from pieces.positions import Sinusoidal
from pieces.widgets import PositionWaves
from pieces.widgets.position_waves import VIEWS

TestOracle = trials(__file__)


@pytest.fixture(scope="module")
def twin(chromium):
    with opened_twin(chromium, modules=("twin/position_twin",)) as opened:
        yield opened


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("d", 0), ("d", 7), ("d", 66), ("base", 1), ("base", 2e6), ("length", 7), ("length", 129),
     ("column", -1), ("column", 64), ("position", 128), ("k", 128), ("k", 1.5), ("view", "waves")],
)  # fmt: skip
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        PositionWaves(**{trait: value})


def test_says_what_is_shown():
    text = repr(PositionWaves(d=8, base=100, length=20, column=3, position=5, k=2))
    assert "20 positions in 8 columns, with base 100; column 3, and positions 5 and 7" in text


@pytest.mark.parametrize(("d", "base"), [(2, 10.0), (6, 12345.0), (7, 100.0), (64, 1e6)])
def test_the_codes_are_those_of_the_package(twin, d, base):
    got = twin("position_twin.sinusoidal(a.p, a.d, a.base)", p=list(range(200)), d=d, base=base)
    wanted = Sinusoidal(d, base=base)(torch.arange(200), torch.float64)
    torch.testing.assert_close(torch.tensor(got, dtype=torch.float64), wanted, atol=1e-9, rtol=0)


@pytest.mark.parametrize("view", VIEWS)
def test_by_its_tabs_and_controls(bench, view):
    widget = PositionWaves(d=8, length=24, column=3, position=6, k=5)
    with recorded(bench, widget) as page:
        page.locator(f'[data-view="{view}"]').click()
        assert state(page, widget)["view"] == view
        check(page, widget)
        for label in ("columns D", "base", "positions", "column", "position p"):
            for key in ("End", "Home"):
                page.get_by_label(label, exact=True).press(key)
                check(page, widget)
        assert page.get_by_label("step k").is_visible() == (view != "wave")
        assert page.record.errors == []


def test_a_step_is_the_same_turn_at_each_position(bench):
    widget = PositionWaves(d=12, length=40, view="shift", k=7)
    turns = "(all) => all.map((one) => one.textContent)"
    with recorded(bench, widget) as page:
        seen, hands = set(), set()
        for position in (0, 3, 17, 32):
            put(page, widget, position=position)
            seen.add(tuple(page.locator(".p-clock b").evaluate_all(turns)))
            hands.add(page.locator(".p-hand").first.get_attribute("x2"))
            check(page, widget)
        assert (len(seen), len(hands)) == (1, 4)


def test_press_the_pictures(bench):
    widget = PositionWaves(d=8, length=16, k=3)
    with recorded(bench, widget, touch=True, width=390) as page:
        board = page.locator(".p-board").first
        box = board.bounding_box()
        board.tap(position={"x": box["width"] - 3, "y": box["height"] - 3})
        now = state(page, widget)
        assert (now["column"], now["position"]) == (7, 12), "p + k stays in the text"
        page.get_by_role("button", name="A step").tap()
        page.get_by_role("button", name="pair 1:").tap()
        assert state(page, widget)["column"] == 2
        check(page, widget)
        page.get_by_role("button", name="Two positions").tap()
        board = page.locator(".p-board").nth(1)
        board.focus()
        for key in ("Home", "ArrowDown", "ArrowRight", "ArrowRight", "Enter"):
            board.press(key)
        now = state(page, widget)
        assert (now["position"], now["k"]) == (1, 1)
        assert said(page).startswith("Positions 1 and 2:")
        board.press("Escape")
        check(page, widget)


def test_a_cell_tells_its_formula(bench):
    with recorded(bench, PositionWaves(d=8, length=16)) as page:
        board = page.locator(".p-board").first
        board.focus()
        for key in ("Home", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
            board.press(key)
        told = page.locator(".p-tip").first.inner_text()
        assert told == "cos(1 / 10,000^(2/8)) = 0.995"


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    widgets = [PositionWaves(view=view, d=d) for view in VIEWS for d in (2, 64)]
    with bench.show(*widgets, width=width, touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = "(all) => all.every((one) => one.scrollWidth <= one.clientWidth)"
        assert page.locator(".pieces").evaluate_all(inside)
        assert page.record.errors == []
