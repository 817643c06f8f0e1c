"""static/kit/table.js, parts.js and plots.js: orders, lengths, names and totals, read off the page."""

import math

import pytest
from desk import painted, table

ROWS = [
    {"name": "b10", "size": 3.5, "kind": "post"},
    {"name": "b9", "size": -12.25, "kind": "pre"},
    {"name": "a", "size": None, "kind": "Pre"},
    {"name": "c", "size": 1e9, "kind": ""},
]
TABLE = """([rows, options]) => {
  document.querySelector("main").replaceChildren();
  const view = made();
  window.t = kit.sortable(view, { caption: "Models", columns: [{ key: "name", title: "model" },
    { key: "size", title: "size" }, { key: "kind", title: "norm" }], ...options });
  view.panes.append(t.pane);
  view.measure();
  t.draw(rows.map((row) => ({ ...row, size: row.size ?? NaN })));
}"""
PARTS = """([wholes, options]) => {
  document.querySelector("main").replaceChildren();
  const view = made();
  window.p = kit.parts(view, { caption: "Parameters", unit: "parameters" });
  view.panes.append(p.pane);
  view.measure();
  p.draw(wholes.map((w) => ({ ...w, parts: w.parts.map((x) => ({ ...x, value: x.value ?? NaN })) })), options);
}"""
WHOLES = [
    {"name": "small", "parts": [{"name": "attention", "role": "weight", "value": 1_200_000},
                                {"name": "feed-forward", "role": "value", "value": 2_400_000},
                                {"name": "norms", "role": "residual", "value": 1024}]},
    {"name": "large", "parts": [{"name": "attention", "role": "weight", "value": 4_000_000},
                                {"name": "feed-forward", "role": "value", "value": 8_000_000}]},
]  # fmt: skip
BARS = """([names, series]) => {
  document.querySelector("main").replaceChildren();
  const view = made();
  const number = (x) => (x === null ? NaN : x);
  const chart = kit.bars(view, { caption: "b", columns: [{ title: "s", role: "score", signed: true }] });
  view.panes.append(chart.pane);
  chart.draw({ names, series: series.map((s) => ({ ...s, values: Float32Array.from(s.values, number) })) });
}"""


@pytest.fixture(scope="module")
def page(desk):
    with desk.open("kit/table", "kit/parts", "kit/plots", "kit/plane") as opened:
        yield opened


def column(page, n=0):
    return page.locator(".p-sortable tbody tr").evaluate_all(
        "(rows, n) => rows.map((row) => row.children[n].textContent)", n
    )


class TestTable:
    def test_presses_sort_down_up_and_back(self, page):
        page.evaluate(TABLE, [ROWS, {}])
        size = page.get_by_role("button", name="size")
        head = page.locator("th", has=size)
        voice = page.locator(".p-pane-table [role=status]")
        for order, way, said in (
            (["c", "b10", "b9", "a"], "descending", "Sorted by size, largest first"),
            (["b9", "b10", "c", "a"], "ascending", "Sorted by size, smallest first"),
            (["b10", "b9", "a", "c"], "none", "In the order it came in"),
        ):
            size.press("Enter")
            assert column(page) == order, "what is no number comes last"
            assert head.get_attribute("aria-sort") == way
            assert voice.inner_text() == said

    def test_words_sort_by_the_alphabet_and_their_numbers(self, page):
        page.evaluate(TABLE, [ROWS, {}])
        page.get_by_role("button", name="model").click()
        assert column(page) == ["a", "b9", "b10", "c"]
        page.get_by_role("button", name="norm").click()
        assert column(page, 2) == ["post", "pre", "Pre", ""]
        voice = page.locator(".p-pane-table [role=status]")
        assert voice.inner_text() == "Sorted by norm, from A to Z"
        page.get_by_role("button", name="norm").click()
        assert voice.inner_text() == "Sorted by norm, from Z to A"

    def test_numbers_are_written_for_people(self, page):
        page.evaluate(TABLE, [ROWS, {}])
        assert column(page, 1) == ["3.50", "−12.25", "–", "1,000,000,000"]

    def test_rows_keep_their_nodes(self, page):
        page.evaluate(TABLE, [ROWS, {}])
        page.evaluate("document.querySelector('tbody tr').id = 'first'")
        page.get_by_role("button", name="model").click()
        assert page.locator("#first").locator("th").inner_text() == "b10"

    def test_on_a_phone_each_row_is_a_card(self, desk):
        with desk.open("kit/table", width=320) as narrow:
            long = [{"name": "Transformer base", "size": 6738415616, "kind": "post-norm, no bias"}]
            narrow.evaluate(TABLE, [long, {}])
            assert narrow.locator(".p-cards").count() == 1
            wide = narrow.evaluate(
                "[...document.querySelectorAll('.p-pane-table, body')].some((n) => n.scrollWidth > n.clientWidth)"
            )
            assert not wide
            assert narrow.get_by_role("cell").count() == 2
            assert narrow.get_by_role("columnheader").count() == 3


class TestParts:
    @pytest.mark.parametrize("top", [None, 20_000_000])
    def test_lengths_are_shares_of_one_scale(self, page, top):
        page.evaluate(PARTS, [WHOLES, {"top": top} if top else {}])
        full = page.locator(".p-whole-bar").first.bounding_box()["width"]
        scale = top or 12_000_000
        for w, whole in enumerate(WHOLES):
            left = page.locator(".p-whole-bar").nth(w).bounding_box()["x"]
            for p, part in enumerate(whole["parts"]):
                node = page.locator(f'[data-whole="{w}"][data-part="{p}"]')
                box = node.bounding_box()
                assert box["width"] == pytest.approx(full * part["value"] / scale, abs=1)
                assert box["x"] == pytest.approx(left, abs=1)
                assert node.get_attribute("data-role") == part["role"]
                left += box["width"]
        totals = page.locator(".p-whole-total").all_inner_texts()
        assert totals == ["3.6 M", "12 M"]

    def test_names_are_whole_or_absent(self, page):
        page.evaluate(PARTS, [WHOLES, {}])
        painted(page)
        for name in page.locator(".p-part b").all():
            if name.is_visible():
                inside, around = name.bounding_box(), name.locator("..").bounding_box()
                assert inside["width"] <= around["width"]
        assert page.locator(".p-part b").nth(2).is_hidden()
        assert page.locator(".p-legend li").all_inner_texts() == [
            "attention",
            "feed-forward",
            "norms",
        ]

    def test_keys_read_every_part(self, page):
        page.evaluate(PARTS, [WHOLES, {}])
        board = page.locator(".p-part-board")
        board.focus()
        heard = []
        for key in ("ArrowRight", "ArrowRight", "End", "ArrowDown", "Home"):
            board.press(key)
            heard.append(page.locator(".p-part-said").inner_text())
        assert heard == [
            "small, attention: 1.2 M parameters, 33.3 %",
            "small, feed-forward: 2.4 M parameters, 66.6 %",
            "small, norms: 1.02 k parameters, 0 %",
            "large, feed-forward: 8 M parameters, 66.7 %",
            "large, attention: 4 M parameters, 33.3 %",
        ]

    def test_the_table_holds_every_part(self, page):
        page.evaluate(PARTS, [WHOLES, {}])
        head, rows = table(page)
        assert head == ["whole", "part", "parameters", "%"]
        assert rows[1] == ["small", "feed-forward", "2,400,000", "66.6"]
        assert len(rows) == 5

    def test_edges(self, page):
        lost = {"name": "x", "parts": [{"name": "a", "role": "key", "value": None}]}
        page.evaluate(PARTS, [[lost, {"name": "none", "parts": []}], {}])
        assert page.locator(".p-whole-total").all_inner_texts() == ["0", "0"]
        error = page.evaluate(
            "(() => { try { p.draw([{ name: 'x', parts: [{ name: 'a', role: 'key', value: -1 }] }]); } catch (e) { return e.message; } })()"
        )
        assert error == "a = -1: a part of a whole is not negative."

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            (0, "0"),
            (999, "999"),
            (1000, "1 k"),
            (999_950, "1 M"),
            (124_439_808, "124 M"),
            (6.738e9, "6.74 B"),
            (1.8e12, "1.8 T"),
        ],
    )
    def test_short_numbers(self, page, value, said):
        assert page.evaluate("(v) => kit.short(v)", value) == said


class TestBars:
    def test_lengths_and_ghosts(self, page):
        values, was = [-2.0, 4.0, None, 1.0], [4.0, -2.0, 0.0, 1.0]
        page.evaluate(BARS, [list("abcd"), [{"values": values, "ghost": was}]])
        for n, bar in enumerate(page.locator(".p-bar").all()):
            whole, fill = bar.bounding_box(), bar.locator("i").bounding_box()
            value = values[n] or 0
            ends = sorted((0.5, 0.5 + value / 8))
            for end, want in zip((fill["x"], fill["x"] + fill["width"]), ends, strict=True):
                assert (end - whole["x"]) / whole["width"] == pytest.approx(want, abs=0.01)
            ghost = bar.locator("s").bounding_box()
            at = (ghost["x"] + 1 - whole["x"]) / whole["width"]
            assert at == pytest.approx(0.5 + was[n] / 8, abs=0.015)
        assert page.locator(".p-bar b").all_inner_texts() == ["−2.00", "4.00", "–", "1.00"]

    def test_a_hundred_thousand_values_overflow_nothing(self, page):
        most = page.evaluate("kit.bars && (() => { const x = new Float32Array(2e5); x[7] = 3; "
                             "const view = made(); const c = kit.bars(view, { caption: 'b', columns: [{ title: 's', role: 'score' }] });"
                             " c.draw({ names: ['a'], series: [{ values: x }] }); return true; })()")  # fmt: skip
        assert most


def test_the_plane_shows_where_the_query_was(page):
    page.evaluate(
        """() => {
          document.querySelector("main").replaceChildren();
          const view = made("score-functions");
          const map = kit.plane(view, { caption: "p", where: () => ({ x: 1, y: 1 }), move() {}, reach: 3 });
          view.panes.append(map.pane);
          map.draw({ x: 1, y: 1, keys: [[2, -1]], weights: [1], flat: false, ghost: [-2, 0.5] });
        }"""
    )
    box = page.locator(".p-plane").bounding_box()
    was = page.locator(".p-was circle").bounding_box()
    middle = [
        (was["x"] + was["width"] / 2 - box["x"]) / box["width"],
        (was["y"] + was["height"] / 2 - box["y"]) / box["height"],
    ]
    place = lambda v: 0.5 + v / 3.3 * (0.5 - 10 / 240)  # noqa: E731
    assert middle == pytest.approx([place(-2), place(-0.5)], abs=0.01)
    assert not math.isnan(float(page.locator(".p-trail").get_attribute("x1")))
