"""HeadSplitter: its steps by every hand, its numbers against torch, and what a silent head reaches."""

import itertools

import pytest
import torch
from oracle import check, recorded
from trials import trials
from twins import opened_twin

from browser import PAINTED, put, said, state
from pieces.widgets import HeadSplitter
from pieces.widgets.head_splitter import STEPS
from widgets.head_splitter.expected import numbers

TestOracle = trials(__file__)

# The random numbers of the largest table that a reader can choose.
RANDOM = "head_splitter.random({ B: 2, T: 6, heads: 4, head_dim: 4 })"
LINES = ["q = self.query(x)", "q = q.view(B, T, H, K)", "q = q.transpose(1, 2)",
         "o, _ = attention(q, k, v)", "o = o.transpose(1, 2)", "o = o.reshape(B, T, D)",
         "y = self.output(o)"]  # fmt: skip
MARKS = """() => window.drawn(document.querySelector(".p-pane-blocks:not([hidden]) canvas"))
  .filter(({ kind }) => kind === "text").map(({ text, at }) => [Number(text), ...at.map((x) => Math.round(x))])"""
RINGED = """() => {
  const pane = document.querySelector(".p-pane-blocks:not([hidden])");
  const marks = window.drawn(pane.querySelector("canvas"));
  const leak = getComputedStyle(pane).getPropertyValue("--p-leak").trim().toLowerCase();
  return marks.filter(({ kind, colour }) => kind === "ring" && colour === leak).map(({ box: [x, y, x2, y2] }) =>
    Number(marks.find(({ kind, at }) => kind === "text" && Math.abs(at[0] - (x + x2) / 2) < 2
      && Math.abs(at[1] - (y + y2) / 2) < 2).text));
}"""


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("trait", "value"),
    [("B", 0), ("B", 3), ("T", 0), ("T", 7), ("heads", 0), ("heads", 5), ("head_dim", 0),
     ("head_dim", 5), ("head_dim", 1.5), ("step", -1), ("step", 7), ("silenced", -1),
     ("silenced", 5), ("n_heads", 2)],
)  # fmt: skip
def test_refuses(trait, value):
    with pytest.raises(ValueError, match=trait):
        HeadSplitter(**{trait: value})


def test_says_what_is_shown():
    text = repr(HeadSplitter(B=2, T=3, heads=4, head_dim=2, step=3, silenced=2))
    sizes = "a tensor [2, 3, 8] in 4 heads of size 2"
    assert f"{sizes}, at the step “attend”, with head 2 silenced" in text
    assert "silenced" not in repr(HeadSplitter())


class TestSteps:
    def test_by_the_player(self, bench):
        widget = HeadSplitter(B=2, T=3, heads=3, head_dim=2)
        with recorded(bench, widget) as page:
            sentences = {said(page)}
            for step in range(1, len(STEPS)):
                page.get_by_role("button", name="Step forward").click()
                assert state(page, widget)["step"] == step
                check(page, widget)
                sentences.add(said(page))
            assert len(sentences) == len(STEPS)
            page.get_by_role("button", name="Step back").click()
            assert state(page, widget)["step"] == 5

    def test_by_a_line_of_code(self, bench):
        widget = HeadSplitter()
        with recorded(bench, widget) as page:
            assert page.locator(".p-line code").all_inner_texts() == LINES
            for step in (6, 1, 3, 0):
                page.get_by_role("button", name=LINES[step]).click()
                assert state(page, widget)["step"] == step
                check(page, widget)

    def test_by_the_keyboard(self, bench):
        widget = HeadSplitter()
        with recorded(bench, widget) as page:
            scrub = page.get_by_role("slider", name="steps")
            for key, step in [("ArrowRight", 1), ("End", 6), ("ArrowLeft", 5), ("Home", 0)]:
                scrub.press(key)
                assert state(page, widget)["step"] == step
            line = page.get_by_role("button", name=LINES[4])
            for key, step in [("Enter", 4), ("Tab", 4), ("Space", 5)]:
                (line if key == "Enter" else page.locator(":focus")).press(key)
                assert state(page, widget)["step"] == step
            check(page, widget)

    def test_by_a_finger(self, bench):
        widget = HeadSplitter()
        with recorded(bench, widget, width=390, touch=True) as page:
            page.get_by_role("button", name="Step forward").tap()
            assert state(page, widget)["step"] == 1
            page.get_by_role("button", name=LINES[5]).tap()
            assert state(page, widget)["step"] == 5
            check(page, widget)

    def test_played_no_block_leaps_where_queries_become_outputs(self, bench):
        widget = HeadSplitter(T=3, heads=3, head_dim=2, step=1)
        watch = f"""() => {{ window.seen = []; const look = () => {{
          const caption = document.querySelector(".p-pane-blocks:not([hidden]) figcaption").textContent;
          seen.push([caption, JSON.stringify(({MARKS})().sort((a, b) => a[0] - b[0]))]);
          requestAnimationFrame(look); }}; requestAnimationFrame(look); }}"""
        with recorded(bench, widget) as page:
            page.emulate_media(reduced_motion="no-preference")
            page.evaluate(watch)
            page.get_by_role("button", name="Play").click()
            page.wait_for_function("document.querySelector('.p-play-at').value === '5'")
            page.get_by_role("button", name="Pause").click()
            seen = page.evaluate("seen")
            swaps = [(a, b) for a, b in itertools.pairwise(seen) if a[0] != b[0]]
            assert len(swaps) == 1
            assert swaps[0][0][1] == swaps[0][1][1]
            assert len({places for _, places in seen}) > 10, "it glides"
            check(page, widget)

    def test_a_size_moved_on_the_way_does_not_turn_it_back(self, bench):
        widget = HeadSplitter()
        with recorded(bench, widget) as page:
            page.emulate_media(reduced_motion="no-preference")
            page.get_by_role("button", name=LINES[1]).click()
            page.wait_for_timeout(150)
            put(page, widget, T=5)
            assert state(page, widget)["step"] in (0, 1)
            page.wait_for_function(
                "(id) => window.pieces.model(id).get('step') === 1", arg=widget.model_id
            )
            check(page, widget)

    def test_a_line_pressed_ends_the_playing(self, bench):
        widget = HeadSplitter()
        with recorded(bench, widget) as page:
            page.emulate_media(reduced_motion="no-preference")
            page.get_by_role("button", name="Play").click()
            page.wait_for_timeout(300)
            page.get_by_role("button", name=LINES[5]).click()
            page.wait_for_timeout(2600)
            assert state(page, widget)["step"] == 5
            assert page.get_by_role("button", name="Pause").count() == 0
            check(page, widget)

    def test_what_stands_below_stays_while_shapes_follow_each_other(self, bench):
        widget = HeadSplitter(T=6)
        picture = ".p-pane-blocks:not([hidden]) canvas"
        high = f"() => document.querySelector('{picture}').getBoundingClientRect().height"
        with recorded(bench, widget) as page:
            tall = page.evaluate(high)
            held = page.evaluate(  # all in one go: soon the room is given up
                "async ([id, all]) => { const m = window.pieces.model(id); const held = [];"
                " for (const T of all) { m.set('T', T); m.save_changes();"
                f" await ({PAINTED})(); held.push(({high})()); }} return held; }}",
                [widget.model_id, [2, 3]],
            )
            assert held == [tall, tall]
            check(page, widget)
            page.wait_for_function(f"({high})() < {tall}")
            less = page.evaluate(high)
            check(page, widget)
            assert less < tall - 20
            put(page, widget, T=6)
            page.evaluate(PAINTED)
            assert page.evaluate(high) == tall, "at once"
            page.set_viewport_size({"width": 400, "height": 800})
            page.evaluate(PAINTED)
            page.evaluate(PAINTED)
            small = page.evaluate(high)
            page.wait_for_timeout(600)
            assert page.evaluate(high) == small, "another width keeps no room"

    def test_a_size_change_keeps_it(self, bench):
        widget = HeadSplitter(step=4)
        with recorded(bench, widget) as page:
            for label in ("texts B", "tokens T", "heads H", "head size K"):
                for key in ("Home", "End"):
                    page.get_by_label(label).press(key)
                    assert state(page, widget)["step"] == 4
                    check(page, widget)

    def test_set_by_python_while_it_stands(self, bench):
        widget = HeadSplitter()
        with recorded(bench, widget) as page:
            for step in (5, 2, 6):
                put(page, widget, step=step)
                check(page, widget)


@pytest.fixture(scope="module")
def twin(chromium):
    with opened_twin(chromium, modules=("head_splitter/head_splitter",)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("B", "T", "H", "K", "silenced"),
    [(1, 1, 1, 1, 0), (2, 6, 4, 4, 0), (1, 5, 3, 2, 2), (2, 3, 4, 1, 4), (2, 1, 2, 3, 1),
     (1, 4, 1, 4, 1), (2, 6, 3, 3, 0), (1, 2, 4, 3, 3)],
)  # fmt: skip
def test_its_numbers_are_torchs(twin, B, T, H, K, silenced):
    s = {"B": B, "T": T, "heads": H, "head_dim": K, "silenced": silenced, "step": 0}
    given = "{ B: a.B, T: a.T, H: a.heads, K: a.head_dim, D: a.heads * a.head_dim, silenced: a.silenced }"
    script = f"head_splitter.computed({given}, {RANDOM})"
    got = twin(script, **s)
    wanted = numbers(LINES, s)
    for name, step in (("asked", 0), ("heads", 5), ("output", 6)):
        torch.testing.assert_close(
            torch.tensor(got[name], dtype=torch.float64), wanted[step].flatten(), atol=1e-9, rtol=0
        )


def test_more_tokens_leave_the_queries_of_the_first(twin):
    given = "{ B: 1, T: a.T, H: 2, K: 3, D: 6, silenced: 0 }"
    script = f"head_splitter.computed({given}, {RANDOM}).asked"
    assert twin(script, T=6)[:12] == twin(script, T=2)


class TestSilence:
    def test_reaches_its_own_columns_and_after_the_mix_all(self, bench):
        B, T, H, K, n = 2, 3, 3, 2, 2
        widget = HeadSplitter(B=B, T=T, heads=H, head_dim=K)
        own = {i for i in range(B * T * H * K) if i // K % H == n - 1}
        with recorded(bench, widget) as page:
            page.get_by_label("silence head").press("ArrowRight")
            page.get_by_label("silence head").press("ArrowRight")
            for step in range(7):
                put(page, widget, step=step)
                now = state(page, widget)
                ringed = page.evaluate(RINGED)
                wanted = set() if step < 3 else own if step < 6 else set(range(B * T * H * K))
                assert set(ringed) == wanted
                assert (now["silenced"], now["changed"]) == (n, len(wanted))
                check(page, widget)
            put(page, widget, silenced=0)
            assert page.evaluate(RINGED) == []

    def test_is_limited_to_the_heads_there_are(self, bench):
        widget = HeadSplitter(heads=4, silenced=4, step=5)
        with recorded(bench, widget) as page:
            page.get_by_label("heads H").press("Home")
            page.get_by_label("heads H").press("ArrowRight")
            now = state(page, widget)
            assert (now["heads"], now["silenced"]) == (2, 1)
            assert page.get_by_label("silence head").get_attribute("max") == "2"
            put(page, widget, silenced=4)
            assert state(page, widget)["silenced"] == 2
            check(page, widget)


def test_the_table_tells_the_numbers_of_the_picture(bench):
    widget = HeadSplitter(T=2, heads=2, head_dim=2)
    with recorded(bench, widget) as page:
        page.locator("details summary").click()
        for step in range(7):
            put(page, widget, step=step)
            check(page, widget)  # the oracle reads the table too
            assert page.locator(".p-tables table").count() == 1


@pytest.mark.parametrize("width", [320, 390])
def test_fits_a_phone(bench, width):
    widgets = [
        HeadSplitter(step=step, **sizes)
        for step in (0, 2, 4)
        for sizes in ({"B": 2, "T": 6, "heads": 4, "head_dim": 4, "silenced": 4}, {"head_dim": 1})
    ]
    with bench.show(*widgets, width=width, touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = "(all) => all.every((one) => one.scrollWidth <= one.clientWidth)"
        assert page.locator(".pieces, .p-line, .p-pane-blocks").evaluate_all(inside)
        page.evaluate(PAINTED)
        assert page.record.errors == []
