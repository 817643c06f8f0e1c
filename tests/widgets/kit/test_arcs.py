"""static/kit/arcs.js: each arc joins the two words it is about, is as thick as its weight, and lies over no word."""

import numpy as np
import pytest
import torch
from desk import painted, table

WORDS = ["Lily", "had", "a", "blue", "book", "and", "a", "bear"]
LONG = [*WORDS, "then", ",", "she", "lost", "the"] * 3
MAKE = """([words, links, options]) => {
  document.querySelector("main").replaceChildren();
  const view = made();
  window.picture = kit.arcs(view, { caption: "Who looks at whom", ...options });
  view.panes.append(picture.pane);
  view.measure();
  picture.draw({ words, links });
}"""
# Points along every arc, and the boxes of the words, from the stage's corner.
READ = """() => {
  const stage = document.querySelector(".p-arc-stage").getBoundingClientRect();
  const box = (node) => { const b = node.getBoundingClientRect();
    return [b.left - stage.left, b.top - stage.top, b.right - stage.left, b.bottom - stage.top]; };
  return {
    words: [...document.querySelectorAll(".p-chip")].map(box),
    arcs: [...document.querySelectorAll(".p-arc")].map((path) => {
      const length = path.getTotalLength();
      const points = Array.from({ length: 121 }, (_, n) => path.getPointAtLength((length * n) / 120)).map(({ x, y }) => [x, y]);
      return { from: +path.dataset.query, to: +path.dataset.key, width: +path.getAttribute("stroke-width"),
        on: path.classList.contains("p-arc-on"), points };
    }),
    size: [stage.width, stage.height],
  };
}"""


def causal(n):
    scores = torch.randn(n, n).masked_fill(~torch.ones(n, n, dtype=torch.bool).tril(), -torch.inf)
    return (3 * scores).softmax(-1)


def links_of(weights):
    return [
        {"from": i, "to": j, "weight": float(weights[i, j])}
        for i in range(len(weights))
        for j in range(i + 1)
    ]


def draw(page, words, weights, **options):
    page.evaluate(MAKE, [words, links_of(weights), options])
    painted(page)


def check(seen, below=False):
    """Hold every arc to its words: its ends, and that it crosses none."""
    words = np.array(seen["words"])
    for arc in seen["arcs"]:
        points = np.array(arc["points"])
        for end, n in ((points[0], arc["from"]), (points[-1], arc["to"])):
            left, top, right, bottom = words[n]
            assert abs(end[0] - (left + right) / 2) < 6, "at the middle of its word"
            assert abs(end[1] - (bottom if below else top)) < 4
        for left, top, right, bottom in words:
            inside = (
                (points[:, 0] > left)
                & (points[:, 0] < right)
                & (points[:, 1] > top)
                & (points[:, 1] < bottom)
            )
            assert not inside.any(), f"an arc over a word: {arc['from']} to {arc['to']}"
        assert points.min() >= 0
        assert (points.max(0) <= seen["size"]).all()


@pytest.fixture(scope="module")
def page(desk):
    with desk.open("kit/arcs", "kit/selection") as opened:
        yield opened


@pytest.mark.parametrize("below", [False, True])
def test_one_line_of_words(page, below):
    weights = causal(len(WORDS))
    draw(page, WORDS, weights, below=below)
    seen = page.evaluate(READ)
    expected = {(i, j) for i in range(8) for j in range(i + 1) if weights[i, j] >= 0.05}
    assert {(a["from"], a["to"]) for a in seen["arcs"]} == expected
    check(seen, below)


@pytest.mark.parametrize("width", [390, 720])
def test_no_arc_lies_over_a_word_however_the_lines_break(desk, width):
    with desk.open("kit/arcs", "kit/selection", width=width) as page:
        weights = causal(len(LONG))
        draw(page, LONG, weights)
        assert page.locator(".p-wrapped").count() == 1
        for n in (0, 5, 17, len(LONG) - 1):
            page.evaluate("(n) => picture.selection.pick({ token: n })", n)
            painted(page)
            seen = page.evaluate(READ)
            lit = {a["to"] for a in seen["arcs"] if a["on"]}
            assert lit == {j for j in range(n + 1) if weights[n, j] >= 0.005}
            check(seen)


def test_thickness_is_weight_and_the_sentence_says_it(page):
    weights = causal(len(WORDS))
    draw(page, WORDS, weights)
    page.locator(".p-chip").nth(6).click()
    painted(page)
    for arc in page.evaluate(READ)["arcs"]:
        if arc["on"]:
            assert arc["from"] == 6
            assert arc["width"] == pytest.approx(
                0.8 + 4.2 * float(weights[6, arc["to"]]), abs=0.006
            )
    order = weights[6].argsort(descending=True)[:5].tolist()
    said = ", ".join(f"{'itself' if j == 6 else WORDS[j]} {weights[6, j]:.2f}" for j in order)
    assert page.locator(".p-pane-arcs > .p-hidden").text_content() == f"a looks at {said}."


def test_the_pointer_lights_and_leaves(page):
    draw(page, WORDS, causal(len(WORDS)))
    page.locator(".p-chip").nth(4).hover()
    painted(page)
    assert {a["from"] for a in page.evaluate(READ)["arcs"] if a["on"]} == {4}
    page.mouse.move(0, 0)
    painted(page)
    assert not any(a["on"] for a in page.evaluate(READ)["arcs"])


def test_the_table_holds_every_link(page):
    weights = causal(3)
    draw(page, WORDS[:3], weights)
    head, rows = table(page)
    assert head == ["word", "looks at", "weight"]
    assert rows == [
        [WORDS[i], WORDS[j], f"{weights[i, j]:.4f}"] for i in range(3) for j in range(i + 1)
    ]


def test_no_words_and_one_word(page):
    draw(page, [], causal(0))
    draw(page, ["alone"], causal(1))
    check(page.evaluate(READ))


def test_an_arc_can_be_pointed_at_and_what_is_missing_is_dotted(page):
    weights = causal(len(WORDS))
    weights[6, 2] = 0
    options = {"axis": "row", "target": "column", "least": 1e-9, "faint": 0}
    draw(page, WORDS, weights, **options)
    counts = """() => ["p-arc-at", "p-arc-missing", "p-arc-on", "p-arc-hit"]
      .map((name) => document.getElementsByClassName(name).length)"""
    assert page.evaluate(counts) == [0, 0, 0, 35]
    page.evaluate("picture.selection.point({ row: 6, column: 4 })")
    painted(page)
    at = page.locator(".p-arc-at")
    assert [at.get_attribute(f"data-{end}") for end in ("query", "key")] == ["6", "4"]
    assert page.evaluate(counts) == [1, 0, 6, 35]
    page.evaluate("picture.selection.point({ row: 6, column: 2 })")
    painted(page)
    assert page.evaluate(counts) == [0, 1, 6, 35]
    page.evaluate("picture.selection.point({ row: 2, column: 6 })")
    painted(page)
    assert page.evaluate(counts)[:2] == [0, 1], "a look at a later word"
    page.evaluate("picture.selection.leave()")
    painted(page)
    x, y = page.locator('.p-arc-hit[data-query="7"][data-key="1"]').evaluate(
        """(path) => { const p = path.getPointAtLength(path.getTotalLength() / 2);
        const at = new DOMPoint(p.x, p.y).matrixTransform(path.getScreenCTM()); return [at.x, at.y]; }"""
    )
    page.mouse.move(x, y)
    painted(page)
    assert page.evaluate("[picture.selection.now.row, picture.selection.now.column]") == [7, 1]
    page.mouse.move(0, 0)
    painted(page)
    assert page.evaluate(counts)[:3] == [0, 0, 0]
