"""MaskExplorer: the browser's mask is Python's mask, for every kind and value, after any flip."""

import base64
import functools
import random
import re

import pytest
import torch
from oracle import check, recorded
from trials import trials

from browser import PAINTED, POINTS, picture, put, state
from pieces import masks
from pieces.attention import masked_softmax
from pieces.widgets import MaskExplorer
from pieces.widgets.base import inlined
from pieces.widgets.mask_explorer import KINDS

TestOracle = trials(__file__)

CONTROLS = {
    "sliding_window": ["window"],
    "dilated": ["window", "dilation"],
    "global_window": ["window", "n_global"],
    "prefix": ["prefix_len"],
    "padding": ["length", "side"],
}


def settings_of(kind):
    """Return some settings of a kind: the edges, and a few drawn at random."""
    draw = random.Random(kind)
    for T in (2, 3, 8, 24):
        for _ in range(4):
            yield {
                "kind": kind,
                "T": T,
                "window": draw.choice([1, 2, 5, 24]),
                "dilation": draw.choice([1, 2, 8]),
                "n_global": draw.choice([0, 1, 8]),
                "prefix_len": draw.choice([0, 1, T, 24]),
                "length": draw.choice([0, 1, T, 24]),
                "also": draw.choice(["none", "none", "padding", "causal"]),
                "side": draw.choice(["left", "right"]),
                "layers": draw.choice([1, 2, 24]),
                "flips": [
                    [draw.randrange(24), draw.randrange(24)] for _ in range(draw.choice([0, 5]))
                ],
            }


def leaks_of(explorer):
    mask = explorer.mask()
    later = mask & ~masks.causal(mask.shape[0]) & ~explorer.unflipped()
    if "padding" in (explorer.kind, explorer.also):
        T = explorer.T
        later &= masks.padding([min(explorer.length, T)], T, explorer.side)[0, 0]
    return later.nonzero().tolist()


def table(page, caption):
    """Return the rows of the table view, without their heads."""
    if page.locator("details").get_attribute("open") is None:
        page.locator("details summary").click()
        page.wait_for_selector(".p-tables tbody tr")
    return page.locator(f'.p-tables [aria-label^="{caption}"] tbody tr').evaluate_all(
        "(rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText))"
    )


def cell_of(page, caption, i, j, T):
    """Return where on a board cell (i, j) lies: its box and the position in it."""
    board = page.locator(f'.p-board[aria-label^="{caption}"]')
    box = board.locator("canvas").bounding_box()
    size = min(34, (box["width"] - 19) / T)
    return board, {"x": 18 + (j + 0.5) * size, "y": 18 + (i + 0.5) * size}


@pytest.fixture(scope="module")
def wall(bench):
    """A page on which one setting after another is put: what it does not name is as at first."""
    explorer = MaskExplorer()
    first = {name: getattr(explorer, name) for name in MaskExplorer.inputs()}
    with bench.show(explorer) as page:

        def show(**setting):
            put(page, explorer, **first | setting)
            return page

        show.state = lambda: state(page, explorer)
        yield show


@functools.cache
def draws(bench):
    """The fixed scores of the picture: 168 is its seed."""
    module = base64.b64encode(inlined("twin/twin").encode()).decode()
    with bench.show() as page:
        flat = page.evaluate(
            "(url) => import(url).then((t) => t.gaussian(168, 576))",
            f"data:text/javascript;base64,{module}",
        )
    return [flat[i * 24 : (i + 1) * 24] for i in range(24)]


class TestAgainstPython:
    @pytest.mark.parametrize("kind", KINDS)
    def test_counts_and_leaks(self, wall, kind):
        for setting in settings_of(kind):
            here = MaskExplorer(**setting)
            page = wall(**setting)
            found = wall.state()
            assert found["allowed"] == int(here.mask().sum()), setting
            assert found["leaks"] == leaks_of(here), setting
            assert page.record.errors == []

    @pytest.mark.parametrize("kind", KINDS)
    def test_table_and_sentence(self, bench, wall, kind):
        scores = torch.tensor(draws(bench), dtype=torch.float64)
        for setting in list(settings_of(kind))[::3]:
            mask = MaskExplorer(**setting).mask()
            page = wall(**setting)
            T = setting["T"]
            shown = [[text != "masked" for text in row] for row in table(page, "Mask")]
            assert torch.equal(torch.tensor(shown), mask)
            expected = masked_softmax(scores[:T, :T], mask)
            for row, texts in zip(expected, table(page, "Weights"), strict=True):
                for weight, text in zip(row.tolist(), texts, strict=True):
                    number = 0.0 if text == "masked" else float(text.replace("−", "-"))
                    assert abs(number - weight) <= 5.1e-4
            reach = masks.reach(mask, setting["layers"])
            shown = [[text != "masked" for text in row] for row in table(page, "Reach")]
            assert torch.equal(torch.tensor(shown), reach)
            sentence = page.locator(".p-say").inner_text()
            count = int(mask.sum())
            assert f"{count} of {T * T} cells {'is' if count == 1 else 'are'} open" in sentence
            padded = "padding" in (kind, setting["also"]) and setting["side"] == "right"
            end = min(setting["length"], T) if padded else T
            last = reach[(end or T) - 1]
            assert f"depends on {int(last.sum())} of {T} inputs" in sentence
            later = mask & ~masks.causal(T)
            assert ("No query sees a later key" in sentence) == (not later.any())
            blind = int((~mask.any(-1)).sum())
            assert ("sees nothing" in sentence) == (blind == 1)
            assert ("see nothing" in sentence) == (blind > 1)

    @pytest.mark.parametrize("flips", [[], [[0, 6], [6, 0]], [[0, n] for n in range(1, 7)]])
    @pytest.mark.parametrize("also", ["none", "padding"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_the_lines_of_python_make_the_mask(self, wall, kind, also, flips):
        setting = {"kind": kind, "also": also, "T": 7, "flips": flips, "side": "left"}
        explorer = MaskExplorer(**setting)
        lines = wall(**setting).locator(".p-code code").inner_text()
        scope = {"masks": masks}
        exec(lines, scope)
        assert torch.equal(scope["mask"], explorer.mask())


class TestControls:
    @pytest.mark.parametrize("kind", KINDS)
    def test_only_what_a_kind_needs_is_shown(self, wall, kind):
        shown = wall(kind=kind).locator(".p-control:visible label").all_inner_texts()
        assert len(shown) == 3 + len(CONTROLS.get(kind, []))

    def test_two_masks_bring_what_both_need(self, wall):
        page = wall(kind="dilated", also="padding")
        shown = page.locator(".p-control:visible label").all_inner_texts()
        own = ["window", "dilation", "real tokens", "padding on the"]
        assert shown == ["mask", "and", "tokens T", *own]

    @pytest.mark.parametrize(
        ("kind", "trait"),
        [(kind, trait) for kind, traits in CONTROLS.items() for trait in traits if trait != "side"],
    )
    def test_its_own_slider_by_keyboard(self, bench, kind, trait):
        explorer = MaskExplorer(kind=kind, **{trait: 2})
        with bench.show(explorer) as page:
            order = ["T", *CONTROLS[kind]]
            slider = page.locator(".p-control:visible input[type=range]").nth(order.index(trait))
            before = picture(page)
            slider.focus()
            slider.press("ArrowRight")
            assert state(page, explorer)[trait] == 3
            assert picture(page) != before
            slider.press("Home")
            assert state(page, explorer)[trait] == MaskExplorer.class_traits()[trait].low
            slider.press("End")
            now = state(page, explorer)
            here = MaskExplorer(**{k: now[k] for k in ("kind", "T", trait)})
            assert now["allowed"] == int(here.mask().sum())

    @pytest.mark.parametrize("touch", [False, True], ids=["mouse", "touch"])
    def test_pressing_a_cell_flips_it_and_again_undoes_it(self, bench, touch):
        explorer = MaskExplorer(T=6, token=2)
        with bench.show(explorer, touch=touch, width=360 if touch else 1280) as page:
            board, where = cell_of(page, "Mask", 1, 4, 6)
            hand = board.tap if touch else board.click
            before = page.locator("canvas").first.evaluate(POINTS)
            hand(position=where)
            now = state(page, explorer)
            assert now["flips"] == [[1, 4]]
            assert now["leaks"] == [[1, 4]]
            assert now["allowed"] == 22
            assert page.locator(".p-arc[data-role=leak]").count() == 1
            assert page.locator("canvas").first.evaluate(POINTS) != before
            hand(position=where)
            assert state(page, explorer)["flips"] == []
            assert page.locator("canvas").first.evaluate(POINTS) == before

    def test_flipping_by_keyboard_is_spoken(self, bench):
        explorer = MaskExplorer(T=5)
        with bench.show(explorer) as page:
            board = page.locator('.p-board[aria-label^="Mask"]')
            board.focus()
            caption = page.locator('.p-view[data-on="mask"] figcaption')
            assert caption.inner_text() == "query 1 sees key 1 (Enter: change)", "a cell is chosen"
            for key in ("ArrowRight", "ArrowDown"):
                board.press(key)
            spoken = page.locator('.p-view[data-on="mask"] .p-hidden')
            assert spoken.inner_text() == "query 2 sees key 2"
            board.press("ArrowRight")
            board.press("Enter")
            assert state(page, explorer)["flips"] == [[1, 2]]
            assert spoken.inner_text() == "query 2 sees key 3"
            board.press(" ")
            assert state(page, explorer)["flips"] == []
            assert spoken.inner_text() == "query 2 does not see key 3"

    def test_undo_takes_all_flips_back(self, bench):
        explorer = MaskExplorer(T=4, flips=[[0, 3], [3, 0]])
        with bench.show(explorer) as page:
            page.get_by_role("button", name="Undo my flips").click()
            now = state(page, explorer)
            assert now["flips"] == []
            assert now["allowed"] == 10
            assert page.get_by_role("button", name="Undo my flips").is_disabled()

    def test_tokens_name_rows_and_columns(self, bench):
        explorer = MaskExplorer(tokens=["I", "am", "<b>fine"])
        with bench.show(explorer) as page:
            table(page, "Mask")
            heads = (
                page.locator('.p-tables [aria-label^="Mask"] thead')
                .first.locator("th")
                .all_inner_texts()
            )
            assert heads[1:] == ["I", "am", "<b>fine"]

    def test_an_open_cell_and_a_masked_cell_look_different(self, bench):
        with bench.show(MaskExplorer(T=4)) as page:
            colours = page.locator("canvas").first.evaluate(
                """(canvas) => {
                  const brush = canvas.getContext("2d");
                  const size = Math.min(34, (canvas.width - 19) / 4);
                  const look = (i, j) => {
                    const [x, y] = [18 + (j + 0.15) * size, 18 + (i + 0.15) * size];
                    const { data } = brush.getImageData(x, y, size * 0.7, size * 0.7);
                    const seen = new Set();
                    for (let at = 0; at < data.length; at += 4) {
                      seen.add(data.slice(at, at + 3).join());
                    }
                    return [...seen];
                  };
                  return [look(3, 0), look(0, 3)];
                }"""
            )
        open_cell, masked_cell = colours
        assert len(open_cell) == 1, "an open cell is plain"
        assert len(masked_cell) > 1, "a masked cell is hatched"
        assert not set(open_cell) & set(masked_cell)

    def test_another_mask_starts_without_flips(self, bench):
        explorer = MaskExplorer(T=6, flips=[[0, 3]])
        with bench.show(explorer) as page:
            page.get_by_label("mask", exact=True).select_option("sliding_window")
            now = state(page, explorer)
            assert (now["kind"], now["flips"], now["leaks"]) == ("sliding_window", [], [])

    @pytest.mark.parametrize(
        ("setting", "said"),
        [
            ({"kind": "causal", "flips": [[1, 5]]}, "later tokens leak into output 2."),
            ({"kind": "causal", "flips": [[1, 5]], "layers": 8}, "leak into outputs 2, 3, 4, 5."),
            (
                {"kind": "causal", "flips": [[1, 5]], "layers": 0},
                "a leak, but no layer has used it yet.",
            ),
            ({"kind": "causal"}, "No query sees a later key."),
            (
                {"kind": "full"},
                "28 cells let a query see a later key, as this mask means to: right in",
            ),
            ({"kind": "padding", "length": 2}, "1 cell lets a query see a later key, as this mask"),
            (
                {"kind": "prefix"},
                "3 cells let a query see a later key, as this mask means to: the pre",
            ),
            ({"kind": "prefix", "flips": [[0, 5]]}, "later tokens leak into output 1."),
            ({"also": "padding", "side": "left"}, "Queries 1, 2 and 3 see nothing"),
            (
                {"also": "padding", "flips": [[1, 6]]},
                "31 of 64 cells are open. 1 cell lets a query see padding, which takes weight and has "
                "nothing to say. After 1 layer",
            ),
            ({"kind": "full", "also": "padding", "flips": [[1, 6]]}, "say. After 1 layer"),
            (
                {"T": 2, "window": 1, "kind": "sliding_window", "flips": [[0, 0]]},
                "1 of 4 cells is op",
            ),
            (
                {"also": "padding", "length": 4},
                "After 1 layer the last output before the padding depends on 4 of 8 inputs.",
            ),
        ],
    )
    def test_says_who_is_reached_by_a_leak(self, wall, setting, said):
        assert said in wall(**setting).locator(".p-say").inner_text()

    @pytest.mark.parametrize("setting", [{"kind": "full"}, {"kind": "prefix", "prefix_len": 4}])
    def test_only_what_a_mask_does_not_mean_to_show_is_outlined(self, bench, setting):
        outlined = """(canvas) => {
          const red = [179, 38, 30];
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          for (let at = 0; at < data.length; at += 4) {
            if (red.every((part, n) => data[at + n] === part)) return true;
          }
          return false;
        }"""
        explorer = MaskExplorer(**setting)
        with bench.show(explorer) as page:
            maps = [page.locator(f'[data-on="{on}"] canvas') for on in ("mask", "layers", "reach")]
            for view in ("layers", "reach"):
                put(page, explorer, view=view)
                assert not any(map.evaluate(outlined) for map in maps if map.is_visible())
            put(page, explorer, kind="causal", flips=[[0, 3]])
            for view in ("layers", "reach"):
                put(page, explorer, view=view)
                seen = [map.evaluate(outlined) for map in maps if map.is_visible()]
                assert seen == [True, True], f"in the mask and in the {view}"


class TestTouchingPictures:
    """Words, arcs, cells and sentences light each other."""

    def test_a_cell_lights_its_arc_and_an_arc_its_cell(self, bench):
        with bench.show(MaskExplorer(T=6, tokens=list("abcdef"))) as page:
            board, where = cell_of(page, "Mask", 4, 2, 6)
            board.hover(position=where)
            page.evaluate(PAINTED)
            at = page.locator(".p-arc-at")
            assert [at.get_attribute(f"data-{n}") for n in ("query", "key")] == ["4", "2"]
            assert page.locator(".p-arc-on").count() == 5
            assert re.match("“e” may look at “c”, and gives it \\d+\xa0%", looks(page))
            page.mouse.move(0, 0)
            page.evaluate(PAINTED)
            assert page.locator(".p-arc-on, .p-arc-at, .p-arc-missing").count() == 0
            arc = page.locator('.p-arc-hit[data-query="5"][data-key="0"]')
            x, y = arc.evaluate(
                """(path) => { const p = path.getPointAtLength(path.getTotalLength() / 2);
                const at = new DOMPoint(p.x, p.y).matrixTransform(path.getScreenCTM());
                return [at.x, at.y]; }"""
            )
            page.mouse.move(x, y)
            page.evaluate(PAINTED)
            framed = page.locator('[data-on="mask"] [data-frame]:not([hidden])')
            assert framed.evaluate_all("(all) => all.map((one) => one.dataset.frame)") == [
                "column",
                "row",
            ]
            assert looks(page).startswith("“f” may look at “a”")

    @pytest.mark.parametrize(
        ("setting", "cell", "said"),
        [
            ({}, (1, 4), "“b” may not look at “e”: it comes later."),
            ({"kind": "sliding_window", "window": 2}, (4, 1), "it lies too far back"),
            ({"kind": "dilated", "window": 3}, (4, 3), "it falls between two looks"),
            ({"also": "padding", "length": 3}, (4, 3), "it is padding."),
            ({"flips": [[4, 1]]}, (4, 1), "you closed this cell."),
            ({"flips": [[1, 4]]}, (1, 4), "3 words ahead: a leak."),
            ({"also": "padding", "length": 3, "flips": [[1, 4]]}, (1, 4), "which is padding: it t"),
            ({}, (0, 0), "“a” may look at itself, and gives it 100\xa0%"),
        ],
    )
    def test_a_look_that_is_not_there_is_dotted_and_has_its_reason(
        self, bench, setting, cell, said
    ):
        with bench.show(MaskExplorer(T=6, tokens=list("abcdef"), **setting)) as page:
            board, where = cell_of(page, "Mask", *cell, 6)
            board.hover(position=where)
            page.evaluate(PAINTED)
            assert said in looks(page)
            assert page.locator(".p-arc-missing").count() == ("may not" in looks(page))

    def test_words_by_mouse_and_keyboard(self, bench):
        explorer = MaskExplorer(T=5, tokens=list("abcde"))
        with bench.show(explorer) as page:
            page.locator(".p-chip").nth(2).click()
            assert state(page, explorer)["token"] == 3
            assert looks(page) == "“c” may look at “a”, “b” and itself. It is seen by “d” and “e”."
            page.locator(".p-chip").nth(2).press("ArrowRight")
            assert state(page, explorer)["token"] == 4
            page.locator(".p-chip").nth(3).press("Escape")
            assert state(page, explorer)["token"] == 0
            assert looks(page).startswith("Point at a word")

    def test_words_stand_over_their_columns(self, bench):
        middles = """(all) => all.map((one) => {
          const box = one.getBoundingClientRect(); return (box.left + box.right) / 2; })"""
        for width in (1280, 390):
            with bench.show(MaskExplorer(T=8, tokens=list("abcdefgh")), width=width) as page:
                chips = page.locator(".p-chip").evaluate_all(middles)
                box = page.locator('[data-on="mask"] canvas').bounding_box()
                left, cell = page.locator(".p-arc-stage").evaluate(
                    "(e) => ['--left', '--cell'].map((name) => parseFloat(e.style.getPropertyValue(name)))"
                )
                for n, x in enumerate(chips):
                    assert abs(x - (box["x"] + left + (n + 0.5) * cell)) < 2.5

    def test_layers_play_step_and_rest(self, bench):
        explorer = MaskExplorer(kind="sliding_window", T=6, view="layers", layers=0)
        with bench.show(explorer) as page:
            page.get_by_role("button", name="Step forward").click()
            assert state(page, explorer)["layers"] == 1
            assert "known at 3 of 6 places" in page.locator(".p-flow").inner_text()
            page.get_by_role("button", name="Play").click()
            page.wait_for_function(
                f"window.pieces.model('{explorer.model_id}').get('layers') === 6"
            )
            assert "known at 6 of 6 places" in page.locator(".p-flow").inner_text()
            put(page, explorer, layers=2)
            assert page.locator(".p-player input").input_value() == "2"
            board = page.locator('.p-board[aria-label^="Who knows"]')
            board.focus()
            for key in ("ArrowDown", "ArrowRight", "Enter"):
                board.press(key)
            assert state(page, explorer)["source"] == 2
            assert "“2” is known at 5 of 6 places" in page.locator(".p-flow").inner_text()

    def test_a_source_set_from_outside_is_followed_at_once(self, bench):
        """By Python, and by a link in the text: the leak of the chapter, and back again."""
        window = {"kind": "sliding_window", "window": 3, "flips": [], "source": 1}
        explorer = MaskExplorer(T=6, view="layers", layers=2, **window)
        with recorded(bench, explorer) as page:
            for traits in (
                {"flips": [[1, 5]], "source": 6},
                {"flips": [], "kind": "causal", "source": 1},
                window | {"source": 3},
                {"source": 0},
            ):
                put(page, explorer, **traits)
                check(page, explorer)

    def test_a_phone_shows_one_grid_with_tabs(self, bench):
        explorer = MaskExplorer(T=6)
        with bench.show(explorer, width=390, touch=True) as page:
            for view in ("mask", "weights", "layers", "reach"):
                page.locator(f'.p-tab[data-view="{view}"]').tap()
                assert state(page, explorer)["view"] == view
                shown = page.locator(".p-view:visible")
                assert shown.evaluate_all("(all) => all.map((one) => one.dataset.on)") == [view]


def looks(page):
    return page.locator(".p-look").inner_text()


class TestPython:
    def test_tokens_count_for_the_size(self):
        assert MaskExplorer(tokens=["a", "b", "c"], T=9).T == 3
        assert MaskExplorer(tokens=["a", "b", "c"], T=2).T == 2

    @pytest.mark.parametrize("tokens", [["a"], ["a"] * 25, "abc", 5])
    def test_refuses_wrong_tokens(self, tokens, unchecked):
        with pytest.raises(ValueError, match="tokens"):
            MaskExplorer(tokens=tokens)

    def test_says_itself_in_words(self):
        text = repr(MaskExplorer(kind="sliding_window", T=4, window=2))
        assert text == "MaskExplorer: sliding-window mask over 4 tokens; 7 of 16 cells are open"

    def test_flips_outside_the_mask_wait(self):
        explorer = MaskExplorer(T=4, flips=[[0, 3], [20, 20]])
        assert bool(explorer.mask()[0, 3])
        assert int(explorer.mask().sum()) == 11
