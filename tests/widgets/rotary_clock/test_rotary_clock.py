"""RotaryClock: two words by every hand, the turns of torch, and what a distance alone decides."""

import pytest
import torch
from drawn_numbers import gaussian
from oracle import check, recorded
from playwright.sync_api import expect
from trials import trials
from twins import opened_twin

from browser import PAINTED, put, said, state
from pieces.positions import Interleaved, Rotary
from pieces.widgets import RotaryClock
from pieces.widgets.rotary_clock import BASES, SCALINGS, SENTENCE
from widgets.rotary_clock.expected import DIM, score_curves, scores, thetas_of

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("i", -1), ("i", 16), ("j", 2.5), ("pair", 8), ("base", 10_000), ("base", "7"), ("skip", 961),
     ("view", "clock"), ("pairing", "thirds"), ("scaling", "ntk"), ("factor", 0),
     ("max_seq_len", 8), ("peak", 61), ("tokens", ["a"] * 17)],
)  # fmt: skip
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        RotaryClock(**{trait: value})


def test_says_what_is_shown():
    text = repr(RotaryClock(i=6, j=2, pair=3, scaling="yarn", factor=4))
    words = "the query “dog” and the key “fox” on clock 3, base 10,000"
    assert f"{words}, slowed by YaRN, factor 4" in text
    assert "slowed" not in repr(RotaryClock())


@pytest.fixture(scope="module")
def twin(chromium):
    with opened_twin(chromium, modules=("twin/rotary", "rotary_clock/rotary_clock")) as opened:
        yield opened


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("scaling", SCALINGS)
def test_its_frequencies_are_torchs(twin, base, scaling):
    for factor, trained, skip in [(1, 32, 0), (8, 32, 240), (3, 500, 900), (16, 1024, 7)]:
        s = {"tokens": SENTENCE, "skip": skip, "scaling": scaling, "base": base}
        s |= {"factor": factor, "max_seq_len": trained}
        got = twin("rotary_clock.speeds({ ...a, trained: a.max_seq_len })", dim=DIM, **s)["thetas"]
        wanted = thetas_of(s)
        torch.testing.assert_close(torch.tensor(got).double(), wanted, atol=1e-7, rtol=1e-5)


@pytest.mark.parametrize("name", ["halves", "interleaved"])
def test_its_turn_is_torchs(twin, name):
    layout = Interleaved() if name == "interleaved" else None
    rotary = Rotary(DIM, base=100.0, layout=layout)
    x = gaussian(5, 3 * DIM).reshape(1, 1, 3, DIM)
    places = torch.tensor([0, 7, 311])
    script = """a.x.map((row, n) => rotary.rotate(row, a.places[n],
      rotary.plainFrequencies(16, 100), a.name))"""
    got = twin(script, x=x[0, 0].tolist(), places=places.tolist(), name=name)
    wanted = rotary.rotate(x, x, places)[0][0, 0]
    torch.testing.assert_close(torch.tensor(got).double(), wanted, atol=1e-5, rtol=0)


def test_its_scores_are_torchs(twin):
    s = {"tokens": SENTENCE, "skip": 100, "scaling": "yarn", "base": "10000", "factor": 8}
    s |= {"max_seq_len": 32, "peak": 23}
    got = twin(
        """rotary_clock.scoreCurves(a.thetas, rotary_clock.vectors(a.dim),
          { peak: 23, until: 128, amount: a.amount })""",
        dim=DIM,
        thetas=thetas_of(s).tolist(),
        amount=1.2079441541679836,
    )
    random, ones, built = score_curves(s, 128)
    for name, wanted in (("random", torch.stack(random)), ("ones", ones), ("built", built)):
        torch.testing.assert_close(torch.tensor(got[name]).double(), wanted, atol=1e-5, rtol=0)
    assert int(built.argmax()) == 23


@pytest.mark.parametrize(("name", "flat"), [("halves", 1), ("interleaved", 1), ("mixed", 0)])
def test_only_the_bug_knows_where_the_words_stand(twin, name, flat):
    s = {"tokens": SENTENCE, "skip": 0, "scaling": "none", "base": "10000"}
    got = torch.tensor(twin("rotary_clock.shifted(a.thetas, rotary_clock.vectors(16)[0], a.name, 4)",
                            thetas=thetas_of(s).tolist(), name=name)).double()  # fmt: skip
    q, k = gaussian(301, 2 * DIM).reshape(2, DIM)
    shift = torch.arange(65)
    wanted = scores(q, k, shift + 4, shift, thetas_of(s), layout=name)
    torch.testing.assert_close(got, wanted, atol=1e-5, rtol=0)
    assert (float(got.max() - got.min()) < 1e-9) == flat


class TestWords:
    def middle(self, page, grip):
        page.evaluate(PAINTED)
        box = page.locator(f"[data-grip={grip}] rect").first.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def drag(self, page, grip, slots):
        x, y = self.middle(page, grip)
        room = page.locator(".p-track").bounding_box()["width"] / len(SENTENCE)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + slots * room, y, steps=6)
        page.mouse.up()

    def test_by_the_mouse(self, bench):
        widget = RotaryClock()
        with recorded(bench, widget) as page:
            self.drag(page, "i", 3)
            assert (state(page, widget)["i"], state(page, widget)["j"]) == (9, 2)
            check(page, widget)
            self.drag(page, "j", -1)
            assert (state(page, widget)["i"], state(page, widget)["j"]) == (9, 1)
            page.locator(".p-slot[data-at='5'] .p-slot-hit").click()
            assert state(page, widget)["i"] == 5
            check(page, widget)

    @pytest.mark.parametrize("line", [".p-chip-word", ".p-place", ".p-chip-name"])
    def test_a_press_anywhere_on_a_coloured_word_takes_that_word(self, bench, line):
        """Its word, its number and its name: three heights, and each of them is the word."""
        widget = RotaryClock(i=5, j=3)
        with recorded(bench, widget) as page:
            room = page.locator(".p-track").bounding_box()["width"] / len(SENTENCE)

            def drag(grip, slots):
                x, _ = self.middle(page, grip)
                at = state(page, widget)[grip]
                inside = (
                    f".p-slot[data-at='{at}'] " if line == ".p-place" else f"[data-grip={grip}] "
                )
                box = page.locator(inside + line).bounding_box()
                y = box["y"] + box["height"] / 2
                for off in (-0.4, 0.4):  # near both edges of the word's place
                    hit = "([x, y]) => document.elementFromPoint(x, y).closest('[data-grip]')"
                    found = page.evaluate(f"{hit}?.dataset.grip", [x + off * room, y])
                    assert found == grip, f"{found} lies under the pointer"
                page.mouse.move(x, y)
                page.mouse.down()
                page.mouse.move(x + slots * room, y, steps=6)
                page.mouse.up()
                return state(page, widget)["i"], state(page, widget)["j"]

            assert drag("i", 2) == (7, 3)
            assert drag("j", 1) == (7, 4)
            self.drag(page, "both", 1)
            assert drag("i", -2) == (6, 5)
            assert drag("i", -4) == (2, 2)
            check(page, widget)

    def test_a_drag_from_a_plain_word_calls_nobody(self, bench):
        widget = RotaryClock()
        with recorded(bench, widget) as page:
            boxes = [
                page.locator(f".p-slot[data-at='{n}'] .p-slot-hit").bounding_box() for n in (9, 4)
            ]
            (a, y), (b, _) = [(one["x"] + one["width"] / 2, one["y"] + 20) for one in boxes]
            page.mouse.move(a, y)
            page.mouse.down()
            page.mouse.move(b, y, steps=4)
            page.mouse.up()
            assert (state(page, widget)["i"], state(page, widget)["j"]) == (6, 2)

    def test_both_together_change_no_angle(self, bench):
        widget = RotaryClock()
        between = "(all) => all.map((p) => p.getAttribute('d').split('A')[1].split(' ')[2])"
        with recorded(bench, widget) as page:
            page.locator("[data-grip=both]").press("ArrowRight")
            before = state(page, widget)["positions"]
            self.drag(page, "both", 2)
            now = state(page, widget)
            assert now["positions"] == [before[0] + 2, before[1] + 2]
            assert "Both words have moved by 3" in said(page)
            assert "no angle" in said(page)
            assert page.locator(".p-between").evaluate_all(between)
            check(page, widget)
            put(page, widget, base="100")
            assert said(page).startswith("“"), "another speed changes the angles"
            put(page, widget, base="10000")
            self.drag(page, "both", 9)
            assert (state(page, widget)["i"], state(page, widget)["j"]) == (10, 6)

    def test_by_the_keyboard(self, bench):
        widget = RotaryClock()
        with recorded(bench, widget) as page:
            for grip, key, i, j in [("i", "ArrowRight", 7, 2), ("j", "ArrowUp", 7, 3),
                                    ("both", "ArrowLeft", 6, 2), ("i", "Home", 0, 0),
                                    ("j", "End", 10, 10), ("both", "Home", 0, 0)]:  # fmt: skip
                page.locator(f"[data-grip={grip}]").press(key)
                assert (state(page, widget)["i"], state(page, widget)["j"]) == (i, j)
            check(page, widget)

    def test_a_key_never_stands_behind_its_query(self, bench):
        widget = RotaryClock(i=2, j=9)
        with recorded(bench, widget) as page:
            assert (state(page, widget)["i"], state(page, widget)["j"]) == (2, 2)
            put(page, widget, tokens=["a", "b"])
            assert state(page, widget)["i"] == 1
            check(page, widget)

    def test_by_a_finger(self, bench):
        with bench.show(RotaryClock(), width=390, touch=True) as page:
            page.locator(".p-slot[data-at='8'] .p-slot-hit").tap()
            expect(page.locator("[data-grip=i]")).to_have_attribute("aria-valuenow", "8")
            page.locator(".p-clock-button[data-pair='5']").tap()
            expect(page.locator(".p-clock-button[aria-pressed=true] b")).to_have_text("clock 5")


def test_every_view_by_its_controls(bench):
    widget = RotaryClock()
    with recorded(bench, widget) as page:
        page.get_by_label("base").select_option("100")
        check(page, widget)
        page.get_by_role("button", name="score").click()
        page.get_by_label("largest at distance").press("End")
        assert state(page, widget)["peak"] == 60
        check(page, widget)
        page.get_by_role("button", name="which two").click()
        page.get_by_label("pairs").select_option("mixed")
        check(page, widget)
        page.get_by_role("button", name="longer texts").click()
        page.get_by_label("scaling", exact=True).select_option("dynamic")
        page.get_by_label("words between").press("End")
        page.get_by_label("factor").press("ArrowLeft")
        page.get_by_label("words in training").press("ArrowRight")
        now = state(page, widget)
        assert (now["skip"], now["factor"], now["max_seq_len"]) == (960, 7, 64)
        check(page, widget)


def test_what_slows_and_what_does_not(bench):
    widget = RotaryClock(view="scaling", skip=200, base="10000")
    with recorded(bench, widget) as page:
        told = {}
        for scaling in SCALINGS:
            put(page, widget, scaling=scaling)
            check(page, widget)
            told[scaling] = said(page)
        assert "0 of the 8 clocks keep their speed" in told["linear"]
        assert "1 of the 8 clocks keeps its speed" in told["llama3"]
        assert len(set(told.values())) >= 4


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    views = ("angles", "score", "pairs", "scaling")
    widgets = [RotaryClock(view=view, skip=900 * (view == "scaling")) for view in views]
    with bench.show(*widgets, width=width, touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate(PAINTED)
        assert page.record.errors == []
