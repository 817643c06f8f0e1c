"""FlashTiles: played and stepped, by every hand; its end is the attention of the package."""

import pytest
import torch
from oracle import check, recorded
from trials import trials
from twins import opened_twin

from browser import put, said, state
from pieces.attention import attention, flash_attention
from pieces.widgets import FlashTiles

TestOracle = trials(__file__)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("given", "named"),
    [({"rows": 0}, "rows"), ({"columns": 13}, "columns"), ({"mask": "window"}, "mask"),
     ({"step": -1}, "step"), ({"step": 146}, "step"), ({"row": 13}, "row"), ({"Q": [[1.0] * 7]}, "Q"), ({"Q": []}, "Q"),
     ({"Q": [[0.0]] * 13}, "Q"), ({"K": [[1.0] * 3] * 8}, "K"), ({"V": [[1.0] * 4] * 7}, "V"),
     ({"Q": [[21.0] * 4]}, "Q"), ({"late": 1}, "late"), ({"words": ["a"] * 13}, "words")],
)  # fmt: skip
def test_refuses(given, named):
    with pytest.raises(ValueError, match=named):
        FlashTiles(**given)


def test_stepped_to_the_end_it_is_attention(bench):
    widget = FlashTiles(step=0)
    Q, K, V = (torch.tensor(m)[None, None].double() for m in (widget.Q, widget.K, widget.V))
    with recorded(bench, widget) as page:
        on = page.get_by_role("button", name="Step forward")
        for step in range(1, 18):
            on.click()
            assert state(page, widget)["step"] == step
            check(page, widget)
        assert on.is_disabled()
        assert page.locator(".p-play-at").inner_text() == "divided"
        output = torch.tensor(state(page, widget)["output"]).double()
    torch.testing.assert_close(output, attention(Q, K, V)[0][0, 0])
    torch.testing.assert_close(output, flash_attention(Q, K, V, block_size=2)[0, 0])


def test_plays_to_the_end_and_rests(bench):
    widget = FlashTiles(step=0, rows=8, columns=4)
    with recorded(bench, widget) as page:
        page.get_by_role("button", name="Play").click()
        page.wait_for_function("document.querySelector('.p-play-at').value === 'divided'")
        page.get_by_role("button", name="Play").wait_for()
        assert said(page).startswith("Each o has been divided")
        check(page, widget)


def test_a_long_last_key_raises_the_largest_score_late(bench):
    widget = FlashTiles(step=4)
    with recorded(bench, widget) as page:
        page.get_by_label("a long last key").check()
        check(page, widget)
        page.get_by_label("queries in a block").press("End")
        page.get_by_label("keys in a block").press("Home")
        assert state(page, widget)["tiles"] == 8
        check(page, widget)


def test_a_row_is_chosen_by_finger_and_keyboard(bench):
    widget = FlashTiles(step=6)
    with recorded(bench, widget, width=390, touch=True) as page:
        page.locator('[data-cell="3,0"]').tap()
        assert state(page, widget)["row"] == 4
        page.mouse.move(1, 1)
        page.locator(".p-tile-query").nth(2).focus()
        page.keyboard.press("Enter")
        assert state(page, widget)["row"] == 3
        check(page, widget)


def test_a_row_that_waits_is_marked_at_once_and_let_go(bench):
    """Pressed before its block comes, a row is marked and told when; the next press lets it go."""
    widget = FlashTiles(step=9)
    with recorded(bench, widget) as page:
        ran = page.locator(".p-tile-query").nth(6)
        ran.click()
        check(page, widget)
        assert said(page).endswith("“ran” has to wait: its row begins with tile 13.")
        for _ in range(4):
            page.get_by_role("button", name="Step forward").click()
        assert "For “ran” the largest score so far" in said(page)
        check(page, widget)
        ran.click()
        assert state(page, widget)["row"] == 0
        check(page, widget)


def test_fewer_tiles_keep_the_wish(bench):
    """A larger block has fewer tiles: the wished step is kept, the end is shown."""
    widget = FlashTiles(step=14)
    with recorded(bench, widget) as page:
        put(page, widget, rows=8, columns=8)
        assert page.locator(".p-play-at").inner_text() == "divided"
        assert state(page, widget)["step"] == 14
        check(page, widget)
        put(page, widget, rows=2, columns=2)
        assert page.locator(".p-play-at").inner_text() == "tile 14 of 16"


@pytest.fixture(scope="module")
def twin(chromium):
    with opened_twin(chromium, modules=("flash_tiles/tiled",)) as opened:
        yield opened


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (5, 4), (12, 12)], ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_its_numbers_are_torchs(twin, size, causal):
    drawn = torch.Generator().manual_seed(sum(size))
    Q, K, V = (torch.randn(n, 5, generator=drawn, dtype=torch.float64) for n in (9, 11, 11))
    got = twin("tiled.after(a, 999).output", Q=Q.tolist(), K=K.tolist(), V=V.tolist(),
               rows=size[0], columns=size[1], causal=causal)  # fmt: skip
    mask = torch.ones(9, 11).tril(2).bool() if causal else None
    wanted = attention(Q[None, None], K[None, None], V[None, None], mask=mask)[0][0, 0]
    torch.testing.assert_close(torch.tensor(got, dtype=torch.float64), wanted, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    wide = [[-10.5] * 6] * 12
    widgets = [FlashTiles(step=9), FlashTiles(Q=wide, K=wide, V=wide, step=7, rows=4, columns=4)]
    with bench.show(*widgets, width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = "(all) => all.every((c) => c.scrollWidth <= c.clientWidth + 1)"
        assert page.locator(".p-kept, .p-tiles, .p-work").evaluate_all(inside)
