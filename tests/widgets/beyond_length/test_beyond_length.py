"""BeyondLength: it plays the numbers of the records, by every hand."""

import pytest
from oracle import check, recorded
from trials import trials

from browser import PAINTED, put, said, state
from pieces.widgets import BeyondLength
from pieces.widgets.beyond_length import SCALINGS, SCHEMES
from widgets.beyond_length.expected import NAMES, record

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("what", "norms"), ("stretch", -1), ("stretch", 16), ("factor", 8), ("shown", "rotary")],
)
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        BeyondLength(**{trait: value})


def test_says_what_is_shown():
    text = repr(BeyondLength(shown=["alibi", "yarn"], stretch=3))
    assert "ways to tell positions: ALiBi, over a text of 64 words" in text
    assert "slower clocks, by the factor 8: YaRN, over" in repr(
        BeyondLength(what="scalings", shown=["alibi", "yarn"])
    )


def test_it_has_every_number_of_the_records():
    has = BeyondLength().measured
    whole = record("extrapolation")
    assert (has["trained"], has["lengths"]) == (whole["trained_length"], whole["lengths"])
    assert (has["trained"], has["lengths"]) == (32, [16 * (n + 1) for n in range(16)])
    assert set(has["positions"]) == set(SCHEMES)
    for run in whole["runs"]:
        at = has["seeds"].index(run["seed"])
        fields = {"excess": run["scheme"], "untrained_rows": "untrained_rows"}
        fields["last_row"] = "last_row"
        for field, name in fields.items():
            wanted = [None if x is None else round(x, 3) for x in run.get(field, [])]
            assert not wanted or has["positions"][name][at] == wanted
        assert has["window"][run["scheme"]][at] == [round(x, 3) for x in run["window"]]
    for run in record("rotary_scaling")["runs"]:
        for factor in [run["factor"]] if run["factor"] > 1 else [2, 4, 8]:
            own = has["scalings"][str(factor)][run["scaling"]][has["seeds"].index(run["seed"])]
            assert own == [round(x, 3) for x in run["excess"]]
    assert all(set(found) == set(SCALINGS) for found in has["scalings"].values())


class TestPlayer:
    def test_by_the_buttons(self, bench):
        widget = BeyondLength()
        with recorded(bench, widget) as page:
            for stretch in (2, 3):
                page.get_by_role("button", name="Step forward").click()
                assert state(page, widget)["stretch"] == stretch
                check(page, widget)
            page.get_by_role("button", name="Step back").click()
            assert state(page, widget)["stretch"] == 2

    def test_by_the_keyboard_to_the_end(self, bench):
        widget = BeyondLength(shown=["none", "learned", "rotary"])
        with recorded(bench, widget) as page:
            page.get_by_role("slider", name="length of the text").press("End")
            assert state(page, widget)["stretch"] == 15
            check(page, widget)
            assert "learned has no row for word 33" in said(page)

    def test_played(self, bench):
        widget = BeyondLength(stretch=12)
        with recorded(bench, widget) as page:
            page.get_by_role("button", name="Play").click()
            wait = "(id) => window.pieces.model(id).get('stretch') === 15"
            page.wait_for_function(wait, arg=widget.model_id)
            check(page, widget)
            assert page.get_by_role("button", name="Play").count() == 1

    def test_set_by_python(self, bench):
        widget = BeyondLength()
        with recorded(bench, widget) as page:
            for stretch in (15, 0, 6):
                put(page, widget, stretch=stretch)
                check(page, widget)


class TestSchemes:
    def test_each_is_switched_on_and_off(self, bench):
        widget = BeyondLength(shown=[], stretch=7)
        with recorded(bench, widget) as page:
            assert said(page) == "Switch a scheme on."
            for n, name in enumerate((*SCHEMES, "window")):
                page.get_by_role("checkbox", name=NAMES[name], exact=True).click()
                assert state(page, widget)["shown"][-1] == name
                if n % 3 == 2:
                    check(page, widget)
            page.get_by_role("checkbox", name="ALiBi").click()
            assert "alibi" not in state(page, widget)["shown"]
            check(page, widget)

    def test_scalings_by_a_finger(self, bench):
        widget = BeyondLength(stretch=15)
        with recorded(bench, widget, width=390, touch=True) as page:
            page.get_by_role("button", name="RoPE, slowed").tap()
            page.get_by_role("checkbox", name="NTK-aware").tap()
            check(page, widget)
            page.get_by_label("factor of the scaling").select_option("2")
            check(page, widget)

    def test_an_unknown_name_is_left_out(self, bench):
        widget = BeyondLength(shown=["rotary", "toString", "rotary"])
        with recorded(bench, widget) as page:
            assert state(page, widget)["shown"] == ["rotary"]
            check(page, widget)


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    widgets = [BeyondLength(what=what, stretch=15) for what in ("positions", "scalings")]
    with bench.show(*widgets, width=width, touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate(PAINTED)
        assert page.record.errors == []
