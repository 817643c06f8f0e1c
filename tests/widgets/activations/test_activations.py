"""Activations: the curves, the gates and the sizes, by every hand, against torch."""

import pytest
import torch
from oracle import check, recorded
from trials import trials
from twins import opened_twin

from browser import put, said, state
from pieces.feedforward import two_thirds
from pieces.widgets import Activations
from widgets.activations.expected import FUNCTIONS, GATES, value_and_slope

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("view", "bends"), ("functions", ["tanh"]), ("functions", ["relu", "relu"]), ("beta", 10.1),
     ("x", -5.01), ("slopes", 1), ("gate", "relu"), ("d_model", 0), ("d_model", 16_385),
     ("multiple_of", 64), ("name", "x")],
)  # fmt: skip
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        Activations(**{trait: value})


def test_says_what_is_shown():
    assert "ReLU, Swish with β = 2, read at x = 1" in repr(
        Activations(functions=["relu", "swish"], beta=2.0, x=1.0)
    )
    assert "GeGLU" in repr(Activations(view="gate", gate="geglu"))
    assert "D = 64" in repr(Activations(view="size", d_model=64))


@pytest.fixture(scope="module")
def twin(chromium):
    with opened_twin(chromium, modules=("activations/bends", "twin/flat")) as opened:
        yield opened


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0, 1.7, 10.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_slopes_are_torchs(twin, name, beta):
    x = torch.cat((torch.linspace(-9, 9, 181), torch.tensor([-40.0, 40.0, 1e-4]))).double()
    script = "a.x.map((x) => [bends.bends[a.name].value(x, a.beta), bends.bends[a.name].slope(x, a.beta)])"
    got = torch.tensor(twin(script, x=x.tolist(), name=name, beta=beta), dtype=torch.float64)
    value, slope = value_and_slope(name, beta, x)
    torch.testing.assert_close(got[:, 0], value, atol=1e-5, rtol=1e-6)
    torch.testing.assert_close(got[:, 1], slope, atol=1e-5, rtol=1e-6)


@pytest.mark.parametrize("name", GATES)
def test_gates_are_torchs(twin, name):
    g = torch.linspace(-5, 5, 41).double()
    got = twin("a.g.map((g) => bends.gates[a.name](g))", g=g.tolist(), name=name)
    torch.testing.assert_close(torch.tensor(got).double(), GATES[name](g), atol=1e-5, rtol=1e-6)


def test_two_thirds_is_the_packages(twin):
    cases = [(f, m) for f in (1, 2, 3, 4, 192, 2048, 16_384, 65_536) for m in (1, 64, 256)]
    got = twin("a.cases.map(([f, m]) => flat.twoThirds(f, m))", cases=cases)
    assert got == [two_thirds(f, m) for f, m in cases]


class TestCurves:
    def test_functions_are_ticked_one_by_one(self, bench):
        widget = Activations()
        with recorded(bench, widget) as page:
            check(page, widget)
            for name in list(FUNCTIONS.values())[1:]:
                page.get_by_label(name, exact=True).check()
            assert state(page, widget)["functions"] == list(FUNCTIONS)
            check(page, widget)
            page.get_by_label("draw the slopes too").check()
            check(page, widget)
            page.get_by_label("β of Swish").press("End")
            check(page, widget)
            for name in FUNCTIONS.values():
                page.get_by_label(name, exact=True).press("Space")
            assert state(page, widget)["functions"] == []
            assert "Tick a function" in said(page)
            check(page, widget)
            assert page.record.errors == []

    def test_read_by_slider_keys_and_press(self, bench):
        widget = Activations(functions=["gelu", "swish"])
        with recorded(bench, widget) as page:
            page.get_by_label("read at x").press("Home")
            assert state(page, widget)["x"] == -5
            check(page, widget)
            chart = page.locator(".p-chart")
            chart.press("ArrowRight")
            assert state(page, widget)["x"] == pytest.approx(-4.95)
            check(page, widget)
            box = chart.bounding_box()
            page.mouse.click(box["x"] + 0.7 * box["width"], box["y"] + 100)
            at = state(page, widget)["x"]
            assert 0.5 < at < 2.5
            page.mouse.move(2, 2)
            assert state(page, widget)["x"] == at, "it stays where it was put"
            check(page, widget)

    def test_by_a_finger(self, bench):
        widget = Activations()
        with recorded(bench, widget, width=390, touch=True) as page:
            box = page.locator(".p-chart").bounding_box()
            page.touchscreen.tap(box["x"] + 0.75 * box["width"], box["y"] + 100)
            assert state(page, widget)["x"] > 0.5
            page.get_by_label("Φ alone").tap()
            check(page, widget)

    def test_beta_is_offered_with_swish_only(self, bench):
        with bench.show(Activations()) as page:
            assert not page.get_by_label("β of Swish").is_visible()
            page.get_by_label("Swish", exact=True).check()
            assert page.get_by_label("β of Swish").is_visible()

    def test_a_slope_of_0_is_said(self, bench):
        widget = Activations(x=-1.0)
        with bench.show(widget) as page:
            assert "no gradient passes" in said(page)
            put(page, widget, x=1.0)
            assert "no gradient passes" not in said(page)


def test_views_and_what_belongs_to_them(bench):
    widget = Activations()
    with recorded(bench, widget) as page:
        page.get_by_role("button", name="Gates").click()
        for gate in GATES:
            page.get_by_label("gate", exact=True).select_option(gate)
            assert state(page, widget)["gate"] == gate
            check(page, widget)
        page.get_by_role("button", name="Size").press("Enter")
        check(page, widget)
        for key in ("Home", "End", "ArrowLeft"):
            page.get_by_label("D, the model’s width").press(key)
            check(page, widget)
        for multiple in ("64", "256", "1"):
            page.get_by_label("two thirds of 4D, rounded").select_option(multiple)
            check(page, widget)
        page.locator(".p-tab").first.click()
        check(page, widget)
        assert page.record.errors == []
