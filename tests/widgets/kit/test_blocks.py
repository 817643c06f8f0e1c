"""static/kit/blocks.js: each number stands where torch says its index is, in every shape and on the way."""

import itertools

import numpy as np
import pytest
import torch
from desk import table

from browser import PAINTED

MAKE = """([options, T, H, K]) => {
  document.querySelector("main").replaceChildren();
  const view = made();
  window.picture = kit.blocks(view, { caption: "Heads", ...options });
  const x = kit.tensor(Float32Array.from({ length: T * H * K }, (_, i) => 100 + i), [T, H * K]);
  const cut = kit.reshape(x, T, H, K);
  view.panes.append(picture.pane);
  view.measure();
  picture.draw([{ name: "Q", tensor: x, axes: ["T", "D"] }, { name: "view", tensor: cut },
    { name: "heads", tensor: kit.permute(cut, 1, 0, 2), axes: ["H", "T", "K"] }]);
}"""
READ = """() => [...document.querySelectorAll(".p-block")].map((g) => [Number(g.dataset.place), Number(g.dataset.group),
  g.textContent, ...g.getAttribute("transform").match(/-?[\\d.]+/g).map(Number)])"""


@pytest.fixture(scope="module")
def page(desk):
    with desk.open("kit/blocks", "twin/tensor") as opened:
        yield opened


def places(page):
    """Return the place of each number, by where it lies in memory."""
    return {at: (x, y) for at, _, _, x, y in page.evaluate(READ)}


def relative(found, expected):
    """Hold places to expected ones, wherever the whole picture stands."""
    assert found.keys() == expected.keys()
    first = min(found)
    shift = np.subtract(found[first], expected[first])
    for at, place in found.items():
        np.testing.assert_allclose(np.subtract(place, shift), expected[at], atol=2e-3)


@pytest.mark.parametrize(("T", "H", "K"), [(6, 3, 4), (1, 1, 1), (5, 8, 2)])
def test_blocks_stand_at_torchs_indices(page, T, H, K):
    page.evaluate(MAKE, [{}, T, H, K])
    memory = torch.arange(T * H * K)
    shapes = [memory.view(T, H * K), memory.view(T, H, K), memory.view(T, H, K).transpose(0, 1)]
    for state, t in enumerate(shapes):
        page.evaluate("(at) => picture.show(at)", state)
        expected = {}
        for index in itertools.product(*map(range, t.shape)):
            *outer, i, j = index
            left = outer[0] * (t.shape[-1] + 1) if outer else 0
            expected[int(t[index])] = (left + j, i)
        relative(places(page), expected)
        assert page.locator(".p-block-frames rect").count() == (1 if state == 0 else t.shape[0])


def test_half_way_a_block_is_between_its_places(page):
    page.evaluate(MAKE, [{}, 4, 2, 3])
    corner = {}
    for at in (1, 1.5, 2):
        page.evaluate("(at) => picture.show(at)", at)
        corner[at] = places(page)
    for block in corner[1]:
        middle = (np.array(corner[1][block]) + corner[2][block]) / 2
        np.testing.assert_allclose(corner[1.5][block], middle, atol=2e-3)


def test_colours_are_heads_and_labels_are_memory(page):
    page.evaluate(MAKE, [{"colour": {"state": 1, "axis": 1}}, 4, 3, 2])
    for at, group, text, *_ in page.evaluate(READ):
        assert group == (at // 2) % 3
        assert text == str(at)
    page.evaluate("picture.show(1.5)")
    moved = places(page)
    page.evaluate("picture.show(2)")
    assert places(page) != moved


def test_it_is_said_in_words_and_numbers(page):
    page.evaluate(MAKE, [{}, 4, 3, 2])
    page.evaluate("picture.show(2)")
    assert (
        page.locator(".p-block-shape").inner_text() == "heads: [H 3, T 4, K 2], strides (2, 6, 1)"
    )
    head, rows = table(page)
    t = torch.arange(24).view(4, 3, 2).transpose(0, 1)
    assert head == ["index", "0", "1"]
    expected = [
        [f"[{h}, {i}]", *(f"{int(n)}: {100 + int(n)}.00" for n in t[h, i])]
        for h in range(3) for i in range(4)
    ]  # fmt: skip
    assert rows == expected


def test_states_of_other_memory_are_refused(page):
    page.evaluate(MAKE, [{}, 2, 2, 2])
    error = page.evaluate(
        """() => { try { picture.draw([{ name: "a", tensor: kit.tensor([1, 2, 3, 4], [4]) }, { name: "b", tensor: kit.tensor([1, 2, 3, 4, 5], [5]) }]); }
        catch (e) { return e.message; } }"""
    )
    assert error == "b: shows a number that the first state has not."


def test_strides_may_stay_untold(page):
    page.evaluate(MAKE, [{"strides": False}, 4, 3, 2])
    for state, shape in enumerate(["Q: [T 4, D 6]", "view: [4, 3, 2]", "heads: [H 3, T 4, K 2]"]):
        page.evaluate("(at) => picture.show(at)", state)
        assert page.locator(".p-block-shape").inner_text() == shape


def test_a_ring_keeps_to_its_number_on_the_way(page):
    ringed = (
        """() => [...document.querySelectorAll(".p-ringed")].map((g) => Number(g.dataset.place))"""
    )
    page.evaluate(MAKE, [{}, 4, 3, 2])
    assert page.evaluate(ringed) == []
    page.evaluate("picture.ring((place) => place % 6 < 2)")
    for at in (0, 1, 1.5, 2):
        page.evaluate("(at) => picture.show(at)", at)
        assert page.evaluate(ringed) == [0, 1, 6, 7, 12, 13, 18, 19]
    strokes = "(all) => all.filter((r) => getComputedStyle(r).stroke !== 'none').length"
    assert page.locator(".p-block rect").evaluate_all(strokes) == 8
    page.evaluate("picture.ring(() => false)")
    assert page.evaluate(ringed) == []


def test_a_hidden_picture_has_no_table(page):
    page.evaluate(MAKE, [{}, 2, 2, 2])
    page.evaluate("picture.pane.hidden = true; view.details.open = true")
    page.evaluate(PAINTED)
    assert page.locator(".p-tables table").count() == 0
