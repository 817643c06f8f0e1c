"""NormPlacement: the race by every hand, its settings, and the layers; all of them measured runs."""

import pytest
from oracle import check, recorded
from trials import trials

from browser import PAINTED, put, said, state
from pieces.widgets import NormPlacement

TestOracle = trials(__file__)

CURVES = ".p-pane-chart:visible .p-curve-line path"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("view", "blocks"), ("placement", "rms"), ("lr", 0.002), ("lr", True), ("warmup", 20),
     ("layers", 6), ("step", -1), ("step", 161), ("depth", 7), ("depth", "48"), ("start", "small")],
)  # fmt: skip
def test_refuses_what_was_not_measured(trait, value):
    with pytest.raises(ValueError, match=trait):
        NormPlacement(**{trait: value})


def test_says_what_is_shown():
    text = repr(NormPlacement(lr=0.016, warmup=40, layers=2, step=55))
    race = "a race of 2 layers, with a learning rate of 0.016 and 40 steps of warm-up, at step 55"
    assert race in text
    assert "1,000 layers before training, with first weights scaled by β" in repr(
        NormPlacement(view="layers", depth=1000, start="scaled")
    )


class TestRace:
    def test_is_stepped_and_scrubbed(self, bench):
        widget = NormPlacement(step=0)
        with recorded(bench, widget) as page:
            assert "Press Play" in said(page)
            check(page, widget)
            scrub = page.get_by_role("slider", name="the race")
            for hand, step in [
                (lambda: page.get_by_role("button", name="Step forward").click(), 5),
                (lambda: scrub.press("ArrowRight"), 10),
                (lambda: scrub.press("End"), 160),
                (lambda: page.get_by_role("button", name="Step back").click(), 155),
                (lambda: scrub.press("Home"), 0),
            ]:
                hand()
                assert state(page, widget)["step"] == step
                check(page, widget)

    def test_plays_to_its_end(self, bench):
        widget = NormPlacement(step=140)
        with recorded(bench, widget) as page:
            page.emulate_media(reduced_motion="no-preference")
            page.get_by_role("button", name="Play").click()
            page.wait_for_function("document.querySelector('.p-play-at').value === 'step 160'")
            page.get_by_role("button", name="Play").wait_for()
            assert state(page, widget)["step"] == 160
            check(page, widget)

    def test_a_setting_changes_the_runs_and_keeps_the_step(self, bench):
        widget = NormPlacement(step=90)
        with recorded(bench, widget) as page:
            drawn = {page.locator(CURVES).first.get_attribute("d")}
            for name, group, trait, value in [
                ("0.016", "learning rate", "lr", 0.016), ("40 steps", "warm-up", "warmup", 40),
                ("2", "layers", "layers", 2), ("0.001", "learning rate", "lr", 0.001),
            ]:  # fmt: skip
                box = page.get_by_role("group", name=group, exact=True)
                box.get_by_role("button", name=name, exact=True).click()
                now = state(page, widget)
                assert (now[trait], now["step"]) == (value, 90)
                check(page, widget)
                drawn.add(page.locator(CURVES).first.get_attribute("d"))
            assert len(drawn) == 5

    def test_what_was_before_stays_as_a_ghost_of_the_chosen_one(self, bench):
        widget = NormPlacement(step=160, placement="sandwich")
        with recorded(bench, widget) as page:
            was = page.locator('.p-curve-line[data-name="Sandwich"] path').get_attribute("d")
            page.wait_for_timeout(800)
            page.get_by_role("button", name="0.016").click()
            page.evaluate(PAINTED)
            ghosts = page.locator(".p-curve-ghost")
            assert ghosts.evaluate_all("(all) => all.map((g) => g.dataset.name)") == ["Sandwich"]
            assert ghosts.locator("path").get_attribute("d") == was
            caption = page.locator("figcaption:visible").inner_text()
            assert "Dotted: Sandwich before, at rate 0.004, warm-up none, 12 layers" in caption
            page.get_by_role("button", name="0.004").click()
            page.evaluate(PAINTED)
            assert ghosts.count() == 0
            page.wait_for_timeout(800)
            page.get_by_role("button", name="0.016").click()
            check(page, widget)


class TestPlacement:
    @pytest.mark.parametrize("view", ["race", "layers"])
    def test_a_card_is_pressed(self, bench, view):
        widget = NormPlacement(view=view, step=160)
        with recorded(bench, widget) as page:
            for name, place in [("DeepNorm", "deep"), ("Pre", "pre"), ("Sandwich", "sandwich")]:
                page.locator(".p-place", has_text=name).click()
                assert state(page, widget)["placement"] == place
                check(page, widget)

    def test_by_keyboard_and_by_finger(self, bench):
        widget = NormPlacement()
        with recorded(bench, widget, width=390, touch=True) as page:
            page.locator(".p-place").nth(2).press("Enter")
            assert state(page, widget)["placement"] == "sandwich"
            page.locator(".p-place").nth(3).tap()
            assert state(page, widget)["placement"] == "deep"
            check(page, widget)


class TestLayers:
    def test_every_depth_and_start(self, bench):
        widget = NormPlacement()
        with recorded(bench, widget) as page:
            page.get_by_role("button", name="Layer by layer").click()
            assert state(page, widget)["view"] == "layers"
            for depth in (6, 12, 24, 100, 300, 1000, 48):
                page.get_by_role("button", name=f"{depth:,}", exact=True).click()
                assert state(page, widget)["depth"] == depth
                check(page, widget)
            for start in ("all scaled by β", "all plain", "each its own"):
                page.get_by_role("button", name=start).click()
                check(page, widget)
            page.get_by_role("button", name="The race").click()
            check(page, widget)


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    widgets = [NormPlacement(step=160), NormPlacement(view="layers", depth=1000)]
    with bench.show(*widgets, width=width, touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = "(all) => all.every((one) => one.scrollWidth <= one.clientWidth)"
        assert page.locator(".pieces, .p-place, .p-setting").evaluate_all(inside)
        assert page.record.errors == []


def test_set_by_python(bench):
    widget = NormPlacement()
    with recorded(bench, widget) as page:
        put(page, widget, step=160, layers=2)
        check(page, widget)
        put(page, widget, view="layers", depth=12, placement="pre")
        check(page, widget)
