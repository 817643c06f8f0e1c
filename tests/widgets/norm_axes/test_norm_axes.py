"""NormAxes: a number moved by every hand, what moves with it under each norm, and its twin."""

import pytest
import torch
from oracle import check, recorded
from trials import trials
from twins import opened_twin

from browser import PAINTED, put, said, state
from pieces.norms import BatchNorm, layer_norm, rms_norm
from pieces.widgets import NormAxes
from pieces.widgets.norm_axes import KINDS, TOKENS, X

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("given", "named"),
    [({"kind": "group"}, "kind"), ({"X": [[21.0]]}, "X"), ({"X": [[0.0] * 7]}, "X"),
     ({"X": [[0.0]] * 7}, "X"), ({"X": []}, "X"), ({"before": [[1.0]]}, "before"),
     ({"words": ["a"]}, "words"), ({"texts": 3}, "texts"), ({"X": [[1]] * 3, "texts": 2}, "texts"),
     ({"row": 0}, "row"), ({"X": [[1, 2]], "row": 2}, "row"), ({"X": [[1, 2]], "column": 3}, "column"),
     ({"eps": 0.0}, "eps"), ({"eps": 2.0}, "eps"), ({"gain": [1.0]}, "gain"),
     ({"gain": [6.0] * 4}, "gain"), ({"shift": [1.0] * 5}, "shift"), ({"bias": 1}, "bias")],
)  # fmt: skip
def test_refuses(given, named):
    with pytest.raises(ValueError, match=named):
        NormAxes(**given)


def test_takes_any_table_and_says_it():
    widget = NormAxes(X=torch.eye(2), kind="rms", row=2)
    assert (widget.words, widget.texts) == ([], 1), "the words of the page are not of this table"
    assert "RMSNorm over 2 × 2 numbers; the chosen cell is row 2, column 1, which holds 0" in repr(
        widget
    )


def test_each_of_its_texts_has_its_share_of_the_rows():
    assert "over 2 texts of 3 × 4 numbers each" in repr(NormAxes())


def moved_in(page, widget):
    """Return the rows and the columns in which the result has moved."""
    moved = torch.tensor(state(page, widget)["moved"]).view(-1, 2)
    return set(moved[:, 0].tolist()), set(moved[:, 1].tolist())


def choose(page, kind):
    page.get_by_label("norm", exact=True).select_option(kind)


class TestOneNumber:
    def test_slid_it_moves_a_column_or_a_row(self, bench):
        widget = NormAxes(row=3, column=3)
        with recorded(bench, widget) as page:
            slider = page.get_by_label("slide it")
            for _ in range(30):
                slider.press("ArrowRight")
            now = state(page, widget)
            assert now["X"][2][2] == pytest.approx(6.0)
            assert now["before"] == [[float(x) for x in row] for row in X], "a drag is one change"
            for kind, rows, columns in (
                ("batch", 6, 1),
                ("layer", 1, 4),
                ("rms", 1, 4),
                ("text", 3, 4),
            ):
                choose(page, kind)
                found = moved_in(page, widget)
                assert (len(found[0]), len(found[1])) == (rows, columns), kind
                check(page, widget)
            page.get_by_role("button", name="Undo").click()
            now = state(page, widget)
            assert (now["X"][2][2], now["before"], now["moved"]) == (3, [], [])
            check(page, widget)

    def test_after_a_rest_a_new_change_begins(self, bench):
        widget = NormAxes()
        with recorded(bench, widget) as page:
            page.get_by_label("type it").fill("5")
            assert state(page, widget)["before"][0][0] == 2
            page.wait_for_timeout(800)
            page.get_by_label("type it").fill("7")
            assert state(page, widget)["before"][0][0] == 5
            check(page, widget)

    def test_typed_nonsense_is_not_used(self, bench):
        widget = NormAxes()
        with recorded(bench, widget) as page:
            field = page.get_by_label("type it")
            for bad in ("many", "21", "1e9", ""):
                field.fill(bad)
                assert field.get_attribute("aria-invalid") == "true"
                assert state(page, widget)["X"][0][0] == 2

    def test_is_chosen_by_mouse_finger_and_keyboard(self, bench):
        widget = NormAxes()
        with recorded(bench, widget, width=390, touch=True) as page:
            for board, (i, j) in ((0, (2, 1)), (1, (4, 3))):
                place = page.locator(".p-board").nth(board)
                width = place.bounding_box()["width"]
                left = {0: 0.27, 1: 0.14}[board] * width
                step = (width - left) / 4
                place.tap(position={"x": left + (j + 0.5) * step, "y": 18 + (i + 0.5) * step})
                assert [state(page, widget)[t] for t in ("row", "column")] == [i + 1, j + 1]
            place = page.locator(".p-board").first
            for key in ["Escape", "ArrowDown", "ArrowRight", "Enter"]:
                place.press(key)
            assert [state(page, widget)[t] for t in ("row", "column")] != [5, 4]
            page.locator('.p-little[data-cell="5,2"]').tap()
            assert [state(page, widget)[t] for t in ("row", "column")] == [6, 3]
            page.get_by_label("slide it").focus()
            check(page, widget)

    def test_hovered_shows_its_own_arithmetic_and_changes_nothing(self, bench):
        widget = NormAxes(kind="layer")
        with recorded(bench, widget) as page:
            before = state(page, widget)
            page.locator('.p-little[data-cell="3,1"]').hover()
            page.wait_for_function("document.querySelector('.p-say').textContent.includes('Tom')")
            assert {
                k: v for k, v in state(page, widget).items() if k not in ("mean", "spread")
            } == {k: v for k, v in before.items() if k not in ("mean", "spread")}
            page.mouse.move(5, 5)
            page.wait_for_function("document.querySelector('.p-say').textContent.includes('Lily')")
            check(page, widget)


class TestRows:
    def test_doubled_or_moved_which_norm_notices(self, bench):
        """LayerNorm notices neither, RMSNorm the shift, BatchNorm both and in all rows."""
        for button, moves in (("Row × 2", {"layer": 0, "rms": 0, "batch": 6}),
                              ("Row + 3", {"layer": 0, "rms": 1, "batch": 6})):  # fmt: skip
            widget = NormAxes(kind="layer", eps=1e-12)
            with recorded(bench, widget) as page:
                page.get_by_role("button", name=button).click()
                for kind, rows in moves.items():
                    choose(page, kind)
                    assert len(moved_in(page, widget)[0]) == rows, (button, kind)
                    assert ("moves nothing" in said(page)) == (rows == 0)
                    check(page, widget)

    def test_no_row_leaves_the_range(self, bench):
        widget = NormAxes(row=3)
        with recorded(bench, widget) as page:
            twice = page.get_by_role("button", name="Row × 2")
            twice.click()
            page.evaluate(PAINTED)
            assert twice.is_disabled() is (state(page, widget)["X"][2][0] > 10)
            assert max(state(page, widget)["X"][2]) == 12


class TestSettings:
    def test_the_hand_example(self, bench):
        widget = NormAxes(gain=[2, 1, 1, 1])
        with recorded(bench, widget) as page:
            page.get_by_role("button", name="[[1, 2, 3], [4, 5, 6]]").click()
            now = state(page, widget)
            assert (now["X"], now["gain"], now["texts"]) == ([[1, 2, 3], [4, 5, 6]], [], 1)
            torch.testing.assert_close(torch.tensor(now["result"]), torch.tensor([[-1.0] * 3, [1.0] * 3]),
                                       atol=1e-5, rtol=0)  # fmt: skip
            choose(page, "layer")
            rows = torch.tensor(state(page, widget)["result"])
            torch.testing.assert_close(
                rows, torch.tensor([[-1.2247, 0, 1.2247]] * 2), atol=1e-4, rtol=0
            )
            check(page, widget)
            page.get_by_role("button", name="With padding").click()
            choose(page, "batch")
            assert "padding among them" in said(page)
            check(page, widget)
            page.get_by_role("button", name="Two texts").click()
            assert state(page, widget)["words"] == list(TOKENS)
            check(page, widget)

    def test_gain_shift_and_eps_are_of_the_feature(self, bench):
        widget = NormAxes(column=2, kind="layer")
        with recorded(bench, widget) as page:
            page.get_by_label("gain γ").press("ArrowRight")
            page.get_by_label("shift β").press("ArrowLeft")
            now = state(page, widget)
            assert (now["gain"], now["shift"]) == ([1, 1.1, 1, 1], [0, -0.1, 0, 0])
            check(page, widget)
            page.get_by_label("ε", exact=True).press("End")
            assert state(page, widget)["eps"] == 1
            check(page, widget)
            page.get_by_label("ε", exact=True).press("Home")
            assert state(page, widget)["eps"] == 1e-12
            choose(page, "rms")
            page.evaluate(PAINTED)
            assert not page.get_by_label("shift β").is_visible(), "RMSNorm has none"
            check(page, widget)

    def test_set_by_python(self, bench):
        widget = NormAxes()
        with recorded(bench, widget) as page:
            put(page, widget, X=[[3, 4], [0, 1]], before=[], words=["a", "b"], texts=2, kind="rms")
            check(page, widget)
            put(page, widget, before=[[3, 4], [0, -9]], row=2)
            check(page, widget)
            put(page, widget, X=[[5.5]], kind="batch")
            check(page, widget)


@pytest.fixture(scope="module")
def twin(chromium):
    with opened_twin(chromium, modules=("norm_axes/norms",)) as opened:
        yield opened


@pytest.mark.parametrize("shape", [(2, 3), (6, 4), (4, 1), (2, 6)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("eps", [1e-12, 1e-5, 1.0])
def test_its_numbers_are_torchs(twin, shape, kind, eps):
    gen = torch.Generator().manual_seed(sum(shape))
    x = 3 * torch.randn(shape, generator=gen, dtype=torch.float64)
    gain, shift = torch.randn((2, shape[1]), generator=gen, dtype=torch.float64)
    got = twin("norms.normalised(a.X, a.kind, a)", X=x.tolist(), kind=kind, eps=eps, texts=2,
               gain=gain.tolist(), shift=shift.tolist())  # fmt: skip
    wanted = {
        "batch": lambda: BatchNorm(shape[1], eps=eps).double()(x),
        "layer": lambda: layer_norm(x, eps),
        "rms": lambda: rms_norm(x, eps),
        "text": lambda: layer_norm(x.view(2, -1), eps).view_as(x),
    }[kind]()
    wanted = wanted * gain + (0 if kind == "rms" else shift)
    torch.testing.assert_close(
        torch.tensor(got, dtype=torch.float64), wanted.detach(), atol=1e-9, rtol=1e-7
    )


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    widgets = [
        NormAxes(before=[[-1.0] * 4] * 6),
        NormAxes(X=[[-20.0] * 6] * 6, kind="text", texts=2),
    ]
    with recorded(bench, *widgets, width=width, touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = "(all) => all.every((one) => one.scrollWidth <= one.clientWidth)"
        assert page.locator(".pieces, .p-framed, .p-pane, .p-work").evaluate_all(inside)
        check(page, widgets[0])
