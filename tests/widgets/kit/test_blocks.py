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
READ = """() => window.drawn.texts.map(({ text, x, y }) => [Number(text), x, y])"""


@pytest.fixture(scope="module")
def page(desk):
    with desk.open("kit/blocks", "twin/tensor") as opened:
        yield opened


def shown(page, at):
    """Show a state, or a place on the way."""
    page.evaluate("(at) => { picture.show(at); }", at)
    page.evaluate(PAINTED)


def places(page):
    """Return the place of each number, by where it lies in memory, in blocks."""
    side = page.evaluate("window.drawn.boxes[0].w") / 0.92
    return {at: (x / side, y / side) for at, x, y in page.evaluate(READ)}


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
        shown(page, state)
        expected = {}
        for index in itertools.product(*map(range, t.shape)):
            *outer, i, j = index
            left = outer[0] * (t.shape[-1] + 1) if outer else 0
            expected[int(t[index])] = (left + j, i)
        relative(places(page), expected)
        assert page.evaluate("window.drawn.rings.length") == (1 if state == 0 else t.shape[0])


def test_half_way_a_block_is_between_its_places(page):
    page.evaluate(MAKE, [{}, 4, 2, 3])
    corner = {}
    for at in (1, 1.5, 2):
        shown(page, at)
        corner[at] = places(page)
    for block in corner[1]:
        middle = (np.array(corner[1][block]) + corner[2][block]) / 2
        np.testing.assert_allclose(corner[1.5][block], middle, atol=2e-3)


def test_colours_are_heads_and_labels_are_memory(page):
    page.evaluate(MAKE, [{"colour": {"state": 1, "axis": 1}}, 4, 3, 2])
    numbers = [at for at, *_ in page.evaluate(READ)]
    assert sorted(numbers) == list(range(24))
    fills = page.evaluate("window.drawn.boxes.map(({ fill }) => fill)")
    by = [
        {fill for at, fill in zip(numbers, fills, strict=True) if at // 2 % 3 == n}
        for n in range(3)
    ]
    assert [len(own) for own in by] == [1, 1, 1]
    assert len(set.union(*by)) == 3
    shown(page, 1.5)
    moved = places(page)
    shown(page, 2)
    assert places(page) != moved


def test_more_groups_than_colours_are_darker(page):
    page.evaluate(MAKE, [{"colour": {"state": 1, "axis": 1}}, 2, 8, 2])
    fills = page.evaluate("[...new Set(window.drawn.boxes.map(({ fill }) => fill))]")
    assert len(fills) == 8
    page.evaluate("() => { picture.tint('output'); picture.show(2); }")
    assert page.evaluate("new Set(window.drawn.boxes.map(({ fill }) => fill)).size") == 1


def test_a_theme_change_is_drawn(page):
    page.evaluate(MAKE, [{}, 2, 2, 2])
    fill = "window.drawn.boxes[0].fill"
    light = page.evaluate(fill)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.evaluate(PAINTED)
    assert page.evaluate(fill) != light
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    page.evaluate(PAINTED)
    assert page.evaluate(fill) == light


def test_it_is_said_in_words_and_numbers(page):
    page.evaluate(MAKE, [{}, 4, 3, 2])
    shown(page, 2)
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
        shown(page, state)
        assert page.locator(".p-block-shape").inner_text() == shape


def test_a_ring_keeps_to_its_number_on_the_way(page):
    page.evaluate(MAKE, [{}, 4, 3, 2])
    page.evaluate("picture.ring((place) => place % 6 < 2)")
    for at in (0, 1, 1.5, 2):
        shown(page, at)
        numbers = [number for number, *_ in page.evaluate(READ)]
        of = page.evaluate("window.drawn.rings.map(({ of }) => of).filter((n) => n >= 0)")
        assert sorted(numbers[n] for n in of) == [0, 1, 6, 7, 12, 13, 18, 19]
    page.evaluate("picture.ring(() => false)")
    shown(page, 1.5)
    assert page.evaluate("window.drawn.rings.length") == 0


def test_a_hidden_picture_has_no_table(page):
    page.evaluate(MAKE, [{}, 2, 2, 2])
    page.evaluate("picture.pane.hidden = true; view.details.open = true")
    page.evaluate(PAINTED)
    assert page.locator(".p-tables table").count() == 0
