"""static/kit/heatmap.js: what is drawn is read back, and compared with the numbers it was given."""

import itertools

import numpy as np
import pytest
import torch
from desk import painted, table

NAN, INF = float("nan"), float("inf")
MAKE = """(options) => {
  const view = made();
  window.map = kit.heatmap(view, { caption: "Map", role: "score", ...options });
  view.panes.append(map.pane);
  view.measure();
}"""
BOARD = ".p-board"


def numbers(array):
    """Return an array as JSON can carry it: null stands for NaN, texts for infinities."""
    text = {INF: "Infinity", -INF: "-Infinity"}
    return [[text.get(x, None if x != x else x) for x in row] for row in np.asarray(array).tolist()]


def draw(page, values, **more):
    page.evaluate(
        """([rows, more]) => {
          const number = (x) => (x === null ? NaN : Number(x));
          map.draw({ values: rows.map((row) => row.map(number)), ...more });
        }""",
        [numbers(values), more],
    )
    painted(page)


def read(page):
    return page.evaluate("window.drawn")


def cells_of(page, T, S):
    """Return the fill and the text of every cell, by where they were drawn."""
    drawn = read(page)
    boxes = drawn["boxes"]
    xs = sorted({round(b["x"], 2) for b in boxes})
    ys = sorted({round(b["y"], 2) for b in boxes})
    assert (len(ys), len(xs)) == (T, S), "a box for each row and column"
    fills = [["" for _ in xs] for _ in ys]
    texts = [["" for _ in xs] for _ in ys]
    for b in boxes:
        fills[ys.index(round(b["y"], 2))][xs.index(round(b["x"], 2))] = b["fill"]
    side = (boxes[0]["w"], boxes[0]["t"])
    for t in drawn["texts"]:
        i = next(n for n, y in enumerate(ys) if y <= t["y"] <= y + side[1])
        j = next(n for n, x in enumerate(xs) if x <= t["x"] <= x + side[0])
        texts[i][j] = t["text"]
    return fills, texts


@pytest.fixture(scope="module")
def page(desk):
    with desk.open("kit/heatmap", "twin/tensor", "kit/selection", "kit/ramp") as opened:
        yield opened


@pytest.fixture
def make(page):
    def maker(**options):
        page.evaluate("document.querySelector('main').replaceChildren()")
        page.evaluate(MAKE, options)
        return page

    return maker


class TestDrawing:
    def test_each_number_stands_in_its_cell(self, make):
        page = make(signed=True)
        values = torch.randn(5, 8).double()
        draw(page, values)
        _, texts = cells_of(page, 5, 8)
        got = [[float(x.replace("−", "-")) for x in row] for row in texts]
        np.testing.assert_allclose(got, values.numpy(), atol=0.005)

    def test_a_larger_number_is_a_stronger_colour(self, make):
        page = make()
        values = torch.linspace(0, 1, 24).reshape(4, 6).double()
        draw(page, values, top=1)
        fills, _ = cells_of(page, 4, 6)
        light = [sum(int(f[n : n + 2], 16) for n in (1, 3, 5)) for row in fills for f in row]
        assert light == sorted(light, reverse=True)
        assert light[0] == 3 * 255
        assert len(set(light)) == 24

    def test_signs_have_their_own_colours(self, make):
        page = make(signed=True)
        draw(page, [[-1.0, 0.0, 1.0]])
        (fills,), _ = cells_of(page, 1, 3)
        assert len(set(fills)) == 3

    @pytest.mark.parametrize("kind", ["Float32Array", "Float64Array", "view"])
    def test_tensors_and_their_views_are_drawn(self, make, kind):
        page = make()
        page.evaluate(
            """(kind) => {
              const numbers = [1, 2, 3, 4, 5, 6];
              const t = kind === "view" ? kit.permute(kit.tensor(Float32Array.of(1, 4, 2, 5, 3, 6), [3, 2]), 1, 0)
                : kit.tensor(window[kind].from(numbers), [2, 3]);
              map.draw({ values: t });
            }""",
            kind,
        )
        painted(page)
        assert cells_of(page, 2, 3)[1] == [["1.00", "2.00", "3.00"], ["4.00", "5.00", "6.00"]]

    def test_what_is_no_number_looks_like_nothing_else(self, make):
        page = make(signed=True)
        draw(page, [[NAN, INF, -INF, 1.0, 0.0]])
        _, (texts,) = cells_of(page, 1, 5)
        assert texts == ["NaN", "∞", "−∞", "1.00", "0.00"]
        assert page.locator(".p-odd").inner_text() == (
            "1 cell not a number (×), 2 cells infinite (▲ ∞, ▼ −∞)"
        )

    def test_small_cells_show_it_by_shapes(self, make):
        page = make(signed=True)
        values = torch.zeros(40, 40)
        values[0, :3] = torch.tensor([NAN, INF, -INF])
        values[0, 4:6] = torch.tensor([1.0, -1.0])
        draw(page, values)
        looks = page.evaluate(
            """() => {
              const canvas = document.querySelector("canvas");
              const ratio = window.devicePixelRatio || 1;
              const box = drawn.boxes.slice(0, 6);
              return box.map(({ x, y, w, t }) => canvas.getContext("2d")
                .getImageData(Math.round(x * ratio), Math.round(y * ratio), Math.floor(w * ratio), Math.floor(t * ratio)).data.join());
            }"""
        )
        assert len(set(looks)) == 6

    def test_masked_is_hatched_and_counts_for_nothing(self, make):
        page = make()
        draw(page, [[1.0, 50.0], [NAN, 1.0]], mask=[[True, False], [False, True]])
        fills, texts = cells_of(page, 2, 2)
        assert [[f == "hatch" for f in row] for row in fills] == [[False, True], [True, False]]
        assert (
            fills[0][0]
            == fills[1][1]
            == page.evaluate(
                "(() => { const b = document.createElement('canvas').getContext('2d');"
                " const r = kit.makeRamp(document.querySelector('.p-board'), 'score', false);"
                " b.fillStyle = r.shade(1, 1).fill; return b.fillStyle; })()"
            )
        ), "the largest number is that of the open cells"
        assert texts == [["1.00", ""], ["", "1.00"]]
        assert "2 masked" in page.locator(BOARD).get_attribute("aria-label")

    def test_512_by_256_cells_are_drawn_where_they_belong(self, make):
        page = make()
        page.evaluate(
            """() => {
              const data = new Float32Array(512 * 256);
              for (let j = 64; j < 128; j++) for (let i = 0; i < 128; i++) data[i * 256 + j] = 1;
              data[400 * 256 + 10] = NaN;
              map.draw({ values: kit.tensor(data, [512, 256]) });
            }"""
        )
        painted(page)
        dark = page.evaluate(
            """() => {
              const canvas = document.querySelector("canvas");
              const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
              const box = [1e9, 1e9, -1, -1];
              for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
                const at = 4 * (y * width + x);
                if (data[at + 3] < 255 || data[at + 1] > 120 || data[at] < 120) continue;
                box[0] = Math.min(box[0], x); box[1] = Math.min(box[1], y);
                box[2] = Math.max(box[2], x + 1); box[3] = Math.max(box[3], y + 1);
              }
              const ratio = window.devicePixelRatio || 1;
              return [...box.map((n) => n / ratio), width / ratio, height / ratio];
            }"""
        )
        left, top, right, bottom, width, height = dark
        cell, high = (width - 28) / 256, (height - 19) / 512
        expected = [27 + 64 * cell, 18, 27 + 128 * cell, 18 + 128 * high]
        np.testing.assert_allclose([left, top, right, bottom], expected, atol=2)
        assert page.locator(".p-odd").inner_text() == "1 cell not a number (×)"

    def test_no_number_is_lost_in_an_empty_or_a_single_cell(self, make):
        page = make()
        draw(page, [[]])
        assert page.locator(".p-odd").inner_text() == "Nothing to show yet."
        draw(page, [[3.25]])
        assert cells_of(page, 1, 1)[1] == [["3.25"]]
        assert page.locator(".p-odd").is_hidden()


class TestLabels:
    def test_stand_at_their_rows_and_columns(self, make):
        page = make()
        rows, columns = ["a", "b", "c"], ["k", "l", "m", "n"]
        draw(page, np.zeros((3, 4)), rows=rows, columns=columns)
        boxes = read(page)["boxes"]
        side = boxes[0]["w"]
        for axis, names, coordinate, at in (("row", rows, "y", 0), ("column", columns, "x", 1)):
            starts = sorted({b[coordinate] for b in boxes})
            for n, name in enumerate(names):
                node = page.locator(f'.p-names [data-axis={axis}][data-at="{n}"]')
                assert node.text_content() == name
                place = float(node.get_attribute(coordinate))
                assert abs(place - (starts[n] + side / 2)) < 1.5, (axis, at, name)

    def test_long_ones_are_cut_and_stay_inside(self, make):
        page = make()
        long = ["internationalisation of everything on the whole round earth", "b"]
        draw(page, np.zeros((2, 2)), rows=long, columns=long)
        texts = page.locator(".p-names text").all_text_contents()
        assert texts[0].startswith("inter")
        assert texts[0].endswith("…")
        outside = page.evaluate(
            """() => { const box = document.querySelector(".pieces").getBoundingClientRect();
            return [...document.querySelectorAll(".p-names text")].filter((node) => {
              const b = node.getBoundingClientRect();
              return b.left < box.left || b.right > box.right || b.top < box.top; }).length; }"""
        )
        assert outside == 0

    def test_of_many_rows_some_are_named_truly(self, make):
        page = make()
        draw(page, np.zeros((200, 100)))
        boxes = page.locator(".p-names [data-axis=row]")
        assert boxes.first.text_content() != "2"
        for node in boxes.all():
            assert int(node.text_content()) == int(node.get_attribute("data-at")) + 1
        assert 5 < boxes.count() < 80

    def test_numbers_in_a_row_stand_upright_and_apart(self, make):
        page = make()
        draw(page, np.zeros((4, 64)), columns=[str(n) for n in range(64)])
        boxes = page.locator(".p-names [data-axis=column]")
        assert boxes.evaluate_all("(all) => all.every((node) => !node.hasAttribute('transform'))")
        assert all(node.text_content() == node.get_attribute("data-at") for node in boxes.all())
        places = [node.bounding_box() for node in boxes.all()]
        assert len(places) > 8
        gaps = [b["x"] - a["x"] - a["width"] for a, b in itertools.pairwise(places)]
        assert min(gaps) > 2
        draw(page, np.zeros((4, 64)), columns=[str(7 * n) for n in range(64)])
        assert page.locator(".p-names [data-axis=column][transform]").count() > 8, (
            "not to be guessed"
        )


class TestFocus:
    @pytest.mark.parametrize(
        ("focus", "kind", "place"),
        [(2, "row", (0, 2, 5, 1)), ({"column": 3}, "column", (3, 0, 1, 4)),
         ({"cell": {"i": 1, "j": 4}}, "cell", (4, 1, 1, 1))],
    )  # fmt: skip
    def test_frames_what_it_names(self, make, focus, kind, place):
        page = make()
        draw(page, np.zeros((4, 5)), focus=focus)
        boxes = read(page)["boxes"]
        step = boxes[1]["x"] - boxes[0]["x"]
        j, i, across, down = place
        ring = page.locator(f"[data-frame={kind}] .p-ring")
        got = [float(ring.get_attribute(n)) for n in ("x", "y", "width", "height")]
        expected = [
            boxes[0]["x"] + j * step, boxes[0]["y"] + i * step, across * step, down * step
        ]  # fmt: skip
        np.testing.assert_allclose(got, expected, atol=2.1)
        assert page.locator("[data-frame]:not([hidden])").count() == 1

    def test_a_pointer_moves_without_painting_a_cell_again(self, make):
        page = make()
        draw(page, np.eye(6))
        before = read(page)["paints"]
        box = page.locator(BOARD).bounding_box()
        for n in range(30):
            page.mouse.move(box["x"] + 30 + 8 * n, box["y"] + 30 + 3 * n)
        assert read(page)["paints"] == before
        assert page.locator(".p-tip").inner_text() == "query 2, key 5: 0.000"

    def test_pictures_share_a_selection(self, make):
        page = make()
        page.evaluate(
            """() => {
              document.querySelector("main").replaceChildren();
              const view = made();
              window.shared = kit.createSelection();
              window.maps = ["one", "two"].map((caption) => {
                const m = kit.heatmap(view, { caption, role: "weight", selection: shared });
                view.panes.append(m.pane);
                return m;
              });
              view.measure();
              maps.forEach((m) => m.draw({ values: [[1, 2, 3], [4, 5, 6], [7, 8, 9]] }));
            }"""
        )
        painted(page)
        box = page.locator(BOARD).first.bounding_box()
        page.mouse.move(box["x"] + 18 + 2.5 * 56, box["y"] + 18 + 1.5 * 56)
        assert page.evaluate("[shared.now.row, shared.now.column]") == [1, 2]
        assert page.locator("[data-frame=row]:not([hidden])").count() == 2
        page.mouse.move(0, 0)
        assert page.evaluate("shared.now.row") is None
        assert page.locator("[data-frame]:not([hidden])").count() == 0


class TestReading:
    def test_by_keyboard(self, make):
        page = make()
        values = np.arange(48.0).reshape(4, 12)
        draw(page, values)
        board = page.locator(BOARD)
        board.focus()
        for key, i, j in (
            ("ArrowRight", 0, 1), ("ArrowDown", 1, 1), ("End", 1, 11),
            ("PageDown", 3, 11), ("Home", 3, 0), ("Shift+ArrowRight", 3, 10), ("ArrowUp", 2, 10),
        ):  # fmt: skip
            board.press(key)
            said = page.locator(".p-pane .p-hidden").text_content()
            assert said == f"query {i + 1}, key {j + 1}: {values[i, j]:.3f}", key
        assert page.evaluate("window.scrollY") == 0

    def test_the_table_holds_every_number(self, make):
        page = make()
        draw(page, [[1.0, NAN], [-INF, 2.0]], mask=[[1, 1], [1, 0]], rows=["a", "b"])
        head, rows = table(page)
        assert head == ["query \\ key", "1", "2"]
        assert rows == [["a", "1.000", "not a number"], ["b", "−∞", "masked"]]

    def test_the_table_of_a_large_map_tells_each_row_in_short(self, make):
        page = make()
        values = np.random.default_rng(1).normal(size=(100, 60))
        values[3, 5] = NAN
        draw(page, values)
        head, rows = table(page)
        assert head == ["query", "smallest", "mean", "largest", "at", "no number"]
        assert len(rows) == 100
        for i in (0, 3, 99):
            row = values[i]
            got = [float(x.replace("−", "-")) for x in rows[i]]
            expected = [
                i + 1, np.nanmin(row), np.nanmean(row), np.nanmax(row), np.nanargmax(row) + 1,
                np.isnan(row).sum(),
            ]  # fmt: skip
            np.testing.assert_allclose(got, expected, atol=6e-4)

    def test_its_words_can_be_others(self, desk):
        with desk.open("kit/heatmap") as page:
            page.evaluate("kit.speak({ heatmap: { masked: '遮住', kind: '热图' } })")
            page.evaluate(MAKE, {})
            draw(page, [[1.0]], mask=[[False]])
            assert table(page)[1] == [["1", "遮住"]]


@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read_on_every_shade(desk, dark):
    with desk.open("kit/ramp", dark=dark) as page:
        worst = page.evaluate(
            """() => {
              const node = made().root;
              const parse = (c) => c.match(/\\d+/g).map(Number);
              let worst = 99;
              for (const role of ["query", "key", "value", "score", "weight", "output", "residual"]) {
                const ramp = kit.makeRamp(node, role, true);
                for (let n = -64; n <= 64; n++) {
                  const { rgb, text } = ramp.shade(n, 64);
                  worst = Math.min(worst, kit.contrast(rgb, parse(text)));
                }
              }
              const { leak, paper, ink } = kit.makeRamp(node, "score", true);
              return [worst, kit.contrast(leak, paper), kit.contrast(ink, paper)];
            }"""
        )
    assert worst[0] >= 4.5
    assert min(worst[1:]) >= 3, "a ring on its halo"
