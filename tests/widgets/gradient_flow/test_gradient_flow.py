"""GradientFlow: the moment, every control, and the place that is read out."""

import pytest
import torch
from gradient_flow.expected import flows
from oracle import check, recorded
from trials import trials

from browser import PAINTED, put, said, state
from pieces.widgets import GradientFlow

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("depth", 0), ("depth", 65), ("gain", -0.1), ("gain", 2.5), ("skip", 1), ("norm", "rms"),
     ("sublayer", "tanh"), ("seed", 0), ("layer", 65), ("width", 3)],
)  # fmt: skip
def test_refuses_what_it_cannot_show(trait, value):
    with pytest.raises(ValueError, match=trait):
        GradientFlow(**{trait: value})


def test_says_what_the_stack_is_made_of():
    text = repr(GradientFlow(depth=64, skip=False, gain=0.8, norm="pre"))
    assert "64 layers without skips, linear, gain 0.8, pre-norm" in text


def test_the_moment(bench):
    """Deep, and without skips: the gradient is gone; with them it is back."""
    widget = GradientFlow()
    with recorded(bench, widget) as page:
        page.get_by_role("slider", name="layers", exact=True).press("End")
        assert state(page, widget)["depth"] == 64
        check(page, widget)
        skips = page.get_by_role("checkbox", name="skip connections")
        skips.uncheck()
        assert "paler than a screen can show" in said(page)
        check(page, widget)
        lost = state(page, widget)["backward"][0]
        skips.check()
        assert "gradient grows" in said(page)
        check(page, widget)
        assert lost < 1e-15 < 1 < state(page, widget)["backward"][0]


class TestControls:
    def test_gain_key_by_key(self, bench):
        widget = GradientFlow(gain=1)
        with recorded(bench, widget) as page:
            gain = page.get_by_role("slider", name="gain g of a sublayer")
            for key, value in [("ArrowRight", 1.05), ("ArrowLeft", 1), ("Home", 0), ("End", 2)]:
                gain.press(key)
                assert state(page, widget)["gain"] == value
                check(page, widget)

    @pytest.mark.parametrize("skip", [True, False])
    def test_every_norm_and_sublayer(self, bench, skip):
        widget = GradientFlow(skip=skip, gain=0.8, layer=3)
        with recorded(bench, widget) as page:
            for norm in ("Pre, before f", "Post, after +", "none"):
                page.get_by_label("norm").select_option(label=norm)
                for sublayer in ("relu", "opposed", "linear"):
                    page.get_by_label("sublayer", exact=True).select_option(sublayer)
                    check(page, widget)

    def test_nothing_arrives_where_the_sublayer_undoes_its_input(self, bench):
        widget = GradientFlow(sublayer="opposed", gain=1)
        with recorded(bench, widget) as page:
            assert "exactly 0" in said(page)
            assert state(page, widget)["backward"] == [0.0] * 8 + [1.0]
            check(page, widget)

    def test_other_weights_are_other_numbers(self, bench):
        widget = GradientFlow(seed=98)
        with recorded(bench, widget) as page:
            found = [state(page, widget)["forward"]]
            for seed in (99, 1):
                page.get_by_role("button", name="Other weights").click()
                assert state(page, widget)["seed"] == seed
                check(page, widget)
                found.append(state(page, widget)["forward"])
            assert len({tuple(one) for one in found}) == 3


class TestPlace:
    def test_pointed_at_pressed_and_let_go(self, bench):
        widget = GradientFlow(layer=2)
        with recorded(bench, widget) as page:
            lamp = page.locator(".p-flow g[data-role=score] .p-lamp").nth(6)
            work = page.locator(".p-flow-work")
            lamp.hover(force=True)
            page.evaluate(PAINTED)
            assert work.inner_text().startswith("After layer 6:")
            assert state(page, widget)["layer"] == 2
            page.mouse.move(5, 5)
            page.evaluate(PAINTED)
            assert work.inner_text().startswith("After layer 2:")
            check(page, widget)
            lamp.click(force=True)
            page.mouse.move(5, 5)
            assert state(page, widget)["layer"] == 6
            check(page, widget)

    def test_by_the_keys_of_the_chart(self, bench):
        widget = GradientFlow(layer=2)
        with recorded(bench, widget) as page:
            chart = page.locator(".p-chart")
            for key, layer in [("ArrowRight", 3), ("End", 8), ("ArrowLeft", 7), ("Home", 0)]:
                chart.press(key)
                assert state(page, widget)["layer"] == layer
                check(page, widget)

    def test_a_place_beyond_the_last_layer_is_the_last(self, bench):
        widget = GradientFlow(layer=20, depth=5)
        with recorded(bench, widget) as page:
            assert state(page, widget)["layer"] == 5
            check(page, widget)

    def test_what_was_before_stays_as_a_ghost(self, bench):
        widget = GradientFlow(depth=12, gain=1)
        with recorded(bench, widget) as page:
            # Its clock stands, so that all is one change, however slow the machine.
            page.evaluate("() => { const now = performance.now(); performance.now = () => now; }")
            page.get_by_label("norm").select_option("pre")
            page.evaluate(PAINTED)
            assert page.locator(".p-curve-ghost").count() == 2
            assert (
                "dotted: before (12 layers, skips, g · W x, g = 1, no norm)"
                in page.locator("figcaption").inner_text()
            )
            check(page, widget)
            page.get_by_label("norm").select_option("none")
            page.evaluate(PAINTED)
            assert page.locator(".p-curve-ghost").count() == 0
            check(page, widget)


def test_table_view(bench):
    widget = GradientFlow(depth=3)
    with recorded(bench, widget) as page:
        page.locator("summary").click()
        check(page, widget)


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone_and_works_by_finger(bench, width):
    widget = GradientFlow(depth=64)
    with recorded(bench, widget, width=width, touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_role("checkbox").tap()
        assert state(page, widget)["skip"] is False
        check(page, widget)


def test_set_by_python(bench):
    widget = GradientFlow()
    with recorded(bench, widget) as page:
        put(page, widget, depth=1, norm="post", layer=1)
        check(page, widget)
        put(page, widget, depth=30, gain=0, norm="none")
        check(page, widget)


def test_the_laws_hold_on_average():
    """Over many draws: 8 layers of gain 0.5, with skips; and the plain stack."""
    for skip, wanted in ((True, 1.25**8), (False, 0.25**8)):
        squares = [
            torch.tensor(flows(8, 0.5, skip, "none", "linear", seed))[:, [-1, 0]].diag() ** 2
            for seed in range(1, 100)
        ]
        mean = torch.stack(squares).mean(0) / wanted
        assert mean.sub(1).abs().max() < 0.2
