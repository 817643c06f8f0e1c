"""Figures: what was drawn is read back and compared with the numbers it was drawn from."""

import math
import re
import xml.etree.ElementTree as ET

import IPython.display
import pytest
import torch
from matplotlib.colors import to_hex, to_rgba

from pieces.book import colours, plot
from widgets.colours import contrast, rgb
from widgets.kit.test_colours import palette

VALUES = torch.tensor([[0.5, -1.25, 0.0], [2.0, 0.125, -0.5]])


def drawn(values=VALUES, **options):
    _, axes = plot.figure()
    plot.heatmap(axes, values, **options)
    return axes


def numbers(axes):
    """The text in each cell, by (row, column)."""
    return {(int(t.get_position()[1]), int(t.get_position()[0])): t.get_text() for t in axes.texts}


def cells(axes):
    """Colour, opacity and whether hatched, by (row, column)."""
    found = {}
    for box in axes.patches:
        place = (math.floor(box.get_y()), math.floor(box.get_x()))
        assert box.get_x() - place[1] == pytest.approx(0.02)
        assert box.get_width() == box.get_height() == 0.96
        if box.get_hatch():
            assert not box.get_fill()
            found[place] = (*found[place][:2], True)
        else:
            colour = box.get_facecolor()
            found[place] = (to_hex(colour), colour[3], False)
    return found


@pytest.fixture
def shown(monkeypatch):
    """What went into the page."""
    views = []
    monkeypatch.setattr(IPython.display, "display", lambda view, raw: views.append(view))
    return views


def test_each_number_stands_in_its_cell():
    expected = {(0, 0): "0.50", (0, 1): "−1.25", (0, 2): "0.00"}
    expected |= {(1, 0): "2.00", (1, 1): "0.12", (1, 2): "−0.50"}
    assert numbers(drawn()) == expected
    assert numbers(drawn(digits=0))[0, 1] == "−1"
    assert numbers(drawn(torch.tensor([[-0.004, 1.0]]), digits=2))[0, 0] == "0.00"
    assert numbers(drawn(digits=None)) == {}


def test_the_first_row_is_on_top_and_each_tick_names_its_cell():
    axes = drawn(rows=["the", "cat"], columns=["a", "b", "c"])
    assert axes.get_ylim() == (2, 0)
    assert axes.get_xlim() == (0, 3)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["the", "cat"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["a", "b", "c"]
    assert axes.get_yticks().tolist() == [0.5, 1.5]
    assert axes.get_xticks().tolist() == [0.5, 1.5, 2.5]
    axes = drawn()
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["1", "2"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1", "2", "3"]


@pytest.mark.parametrize("role", plot.ROLE)
def test_colours_are_the_roles_and_the_darkest_is_the_largest(role):
    found = cells(drawn(role=role))
    for place, value in ((p, VALUES[p].item()) for p in found):
        colour, share, hatched = found[place]
        assert colour == (plot.ROLE["negative"] if value < 0 else plot.ROLE[role])
        assert share == pytest.approx((abs(value) / 2) ** 0.85)
        assert not hatched
    assert len(found) == 6


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("role", plot.ROLE)
def test_a_number_can_be_read_on_its_cell(role, theme):
    """On a light page and on a dark one, however full the cell's colour is."""
    ends = (plot.ROLE, colours.DARK)[theme]
    for n in range(101):
        cell = [
            (n * a + (100 - n) * b) / 100
            for a, b in zip(rgb(ends[role]), rgb(colours.PAPER[theme]), strict=True)
        ]
        tone = colours.TONES[colours.tone(role, n / 100)][theme]
        assert contrast(cell, rgb(tone)) >= 3.7, (n, tone)


def test_the_colours_are_those_of_the_widgets():
    for theme, ends in zip(("light", "dark"), (plot.ROLE, colours.DARK), strict=True):
        style = palette(theme)
        assert {role: style[role] for role in ends} == {r: rgb(c) for r, c in ends.items()}
        assert style["paper"] == rgb(colours.PAPER[theme == "dark"])


def test_the_top_is_the_full_colour():
    assert cells(drawn(top=4.0))[1, 0][1] == pytest.approx(0.5**0.85)
    assert cells(drawn(top=1.0))[1, 0][1] == 1.0
    assert cells(drawn(torch.zeros(2, 2)))[0, 0][1] == 0.0


def test_a_masked_cell_is_hatched_and_says_nothing():
    mask = torch.tensor([[True, False, True], [True, True, False]])
    axes = drawn(mask=mask)
    for place, (_, share, hatched) in cells(axes).items():
        assert hatched != mask[place].item()
        assert (place in numbers(axes)) == mask[place].item()
        assert share == 0 or not hatched


def test_infinities_do_not_wash_out_the_others():
    axes = drawn(torch.tensor([[1.0, -math.inf], [math.nan, 0.5]]))
    found = cells(axes)
    assert numbers(axes) == {(0, 0): "1.00", (0, 1): "−∞", (1, 0): "nan", (1, 1): "0.50"}
    assert [found[p][1] for p in ((0, 0), (0, 1), (1, 0))] == [1.0, 1.0, 0.0]
    assert found[1, 1][1] == pytest.approx(0.5**0.85)


def test_numbers_can_be_read_on_their_cells():
    axes = drawn(torch.tensor([[1.0, 0.1]]))
    tones = {t.get_text(): t.get_color() for t in axes.texts}
    assert tones == {"1.00": colours.ON_STRONG, "0.10": plot.INK}


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.int64])
def test_other_numbers(kind):
    table = torch.tensor([[1, 2], [3, 4]], dtype=kind)
    if table.is_floating_point():
        table.requires_grad_()
    assert numbers(drawn(table, digits=0)) == {(0, 0): "1", (0, 1): "2", (1, 0): "3", (1, 1): "4"}


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"values": torch.zeros(3)}, ValueError, r"values\.shape = \(3,\)"),
        ({"values": torch.zeros(0, 3)}, ValueError, r"values\.shape = \(0, 3\)"),
        ({"values": [[1.0]]}, TypeError, "values = 'list'"),
        ({"role": "no such"}, ValueError, "role = 'no such': must be one of query"),
        ({"mask": torch.ones(3, 2).bool()}, ValueError, r"mask\.shape = \(3, 2\)"),
        ({"mask": torch.ones(2, 3)}, TypeError, r"mask\.dtype"),
        ({"rows": ["a"]}, ValueError, "rows = .*must be 2 labels"),
        ({"columns": ["a", "b"]}, ValueError, "columns = .*must be 3 labels"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_does_not_fit_is_refused(change, error, said):
    with pytest.raises(error, match=said):
        drawn(**change)


def test_a_colour_map_goes_from_clear_to_the_role():
    for role, colour in plot.ROLE.items():
        shade = plot.sequential(role)
        assert shade(0.0)[3] == 0.0
        assert shade(1.0) == pytest.approx(to_rgba(colour))
        assert shade(0.5)[3] == pytest.approx(0.5, abs=0.01)
    with pytest.raises(ValueError, match="role = 'no such'"):
        plot.sequential("no such")


def svg(view):
    """The picture as the page gets it, as a tree."""
    page = ET.fromstring(view["text/html"])
    assert page.get("class") == "pieces-figure"
    text = view["text/html"].removeprefix('<div class="pieces-figure">').partition("</svg>")[0]
    return f"{text}</svg>", page[0]


def test_a_figure_has_words_and_the_pages_colours(shown):
    drawing, axes = plot.figure(4, 2)
    axes.plot([0, 1], [0, 1], color=plot.ROLE["key"], label="keys")
    axes.set(title="Growth", xlabel="steps")
    axes.legend()
    plot.show(drawing, 'A line that climbs, "steeply" & <fast>')
    (view,) = shown
    text, tree = svg(view)
    assert tree.get("role") == "img"
    assert tree.get("aria-label") == 'A line that climbs, "steeply" & <fast>'
    assert view["text/plain"] == 'Figure: A line that climbs, "steeply" & <fast>'
    assert {"Growth", "steps", "keys"} <= {word.strip() for word in tree.itertext()}
    assert f"var(--p-key, {plot.ROLE['key']})" in text
    assert "currentColor" in text
    for hidden in (plot.INK, plot.FAINT, "<style", "<metadata", "<script", "http://www.w3.org/TR"):
        assert hidden not in text
    assert tree.get("width") is None
    assert re.search(r"max-width:\d+px", tree.get("style"))


def test_a_text_without_a_colour_has_the_pages_ink(shown):
    def looks(**colour):
        drawing, axes = plot.figure(4, 2)
        axes.text(0.5, 0.5, "by hand", **colour)
        plot.show(drawing, "A word")
        return svg(shown.pop())[0]

    assert looks() == looks(color=plot.INK) != looks(color=plot.ROLE["key"])


def test_the_picture_is_as_wide_as_it_was_asked_for(shown):
    for width in (3, 6):
        plot.show(plot.figure(width, 2)[0], "Nothing yet.")
    sizes = [float(re.search(r"max-width:(\d+)px", svg(view)[0])[1]) for view in shown]
    assert sizes == [round(inches * 72 * 1.25) for inches in (3, 6)]


def test_a_wide_figure_comes_for_a_phone_too(shown):
    """Hidden where no style sheet says otherwise; no part of it is called as one of the other."""
    for width in (3, 6):
        drawing, axes = plot.figure(width, 2)
        axes.plot([0, 1], [0, 1], label="keys")
        plot.show(drawing, "A line.")
    small, wide = (ET.fromstring(view["text/html"]) for view in shown)
    assert len(small) == 1
    seen, narrow = wide
    assert (seen.get("class"), narrow.get("class")) == (None, "pieces-narrow")
    assert "display" not in seen.get("style")
    assert narrow.get("style").startswith("display:none;")
    assert seen.get("aria-label") == narrow.get("aria-label") == "A line."
    names = [{one.get("id") for one in of.iter() if one.get("id")} for of in wide]
    assert min(map(len, names)) > 1
    assert names[0].isdisjoint(names[1])
    assert [float(re.search(r"max-width:(\d+)px", of.get("style"))[1]) <= 328 for of in wide] == [
        False,
        True,
    ]


def test_the_same_figure_is_the_same_text(shown):
    for _ in range(2):
        drawing, axes = plot.figure()
        plot.heatmap(axes, VALUES)
        plot.show(drawing, "Six cells.")
    assert shown[0] == shown[1]
    words = [word.strip() for word in svg(shown[0])[1].itertext() if word.strip()]
    assert {"0.50", "−1.25", "0.00", "2.00", "0.12", "−0.50", "1", "2", "3"} == set(words)


def test_a_number_that_is_read_keeps_its_digits(shown):
    """Only the places of lines and letters are rounded: a rate of 0.005 is not written 0.01."""
    drawing, axes = plot.figure()
    axes.plot([0, 1 / 3], [0, 1], label="rate 0.0042")
    axes.set_xticks([0, 1 / 3], ["0.005", "0.0125"])
    axes.legend()
    plot.show(drawing, "A line.")
    text, tree = svg(shown[0])
    words = {word.strip() for word in tree.itertext()}
    assert {"0.005", "0.0125", "rate 0.0042"} <= words
    assert not re.search(r"\d\.\d{3}", re.sub(r">[^<]*<", "><", text))


@pytest.mark.parametrize("alt", ["", "  \n"])
def test_a_figure_without_words_is_refused(shown, alt):
    with pytest.raises(ValueError, match="alt = "):
        plot.show(plot.figure()[0], alt)
    name = "no matter"
    with pytest.raises(ValueError, match="name = 'no matter'"):
        plot.drawing(name, "words")
    assert shown == []


def test_every_drawing_is_there_with_its_words(shown):
    names = [file.name[:-4] for file in (plot.files("pieces.book") / "drawings").iterdir()]
    assert names
    for name in names:
        plot.drawing(name, f"The drawing {name}.")
        assert svg(shown[-1])[1].get("aria-label") == f"The drawing {name}."
        with pytest.raises(ValueError, match="alt"):
            plot.drawing(name, " ")


def test_the_numbers_of_an_axis_stand_in_groups_of_three():
    drawing, axes = plot.figure(columns=2)
    axes[0].plot([-2000, 3000], [0.25, 0.5])
    axes[1].plot([1, 2], [10_000, 40_000])
    drawing.draw_without_rendering()
    texts = [[label.get_text() for label in one.get_xticklabels()] for one in axes]
    assert {"−2,000", "0", "2,000"} <= set(texts[0])
    assert "1.00" in texts[1]
    assert "40,000" in [label.get_text() for label in axes[1].get_yticklabels()]


def test_several_axes():
    drawing, axes = plot.figure(6, 3, rows=2, columns=3, sharex=True)
    assert axes.shape == (2, 3)
    assert drawing.get_size_inches().tolist() == [6, 3]


def test_styles_end_with_the_figure():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    drawn()
    assert dict(mpl.rcParams) == before
