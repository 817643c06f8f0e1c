"""A figure for a phone: where its panels stand, what they say at the left, and its legend."""

import pytest

from pieces.book import plot
from pieces.book.narrow import PHONE, narrowed


def corners(drawing):
    """The upper left corner of each panel, from the top, as a row and a column."""
    drawing.draw_without_rendering()
    at = [(-axes.get_position().y1, axes.get_position().x0) for axes in drawing.axes]
    rows, columns = (sorted({round(one[n], 2) for one in at}) for n in (0, 1))
    return [(rows.index(round(y, 2)), columns.index(round(x, 2))) for y, x in at]


def left(axes):
    """What stands at the left of a panel and is seen: its label and the labels of its ticks."""
    ticks = axes.get_yticklabels() if axes.yaxis.get_tick_params()["labelleft"] else []
    return axes.get_ylabel(), [label.get_text() for label in ticks if label.get_text()]


@pytest.mark.parametrize(
    ("width", "rows", "columns", "across"),
    [
        (7.2, 1, 4, 2),
        (7.2, 1, 3, 1),
        (5.4, 2, 3, 2),
        (6.0, 2, 2, 1),
        (9.0, 1, 5, 2),
        (7.0, 1, 9, 4),
    ],
)
def test_panels_keep_their_order_and_their_height(width, rows, columns, across):
    drawing, all_axes = plot.figure(width, 2.0 * rows, rows=rows, columns=columns)
    for axes in all_axes.flat:
        axes.plot([0, 1], [0, 1])
    assert narrowed(drawing)
    down = -(-rows * columns // across)
    assert drawing.get_size_inches().tolist() == pytest.approx([PHONE, 2.0 * down])
    assert corners(drawing) == [divmod(at, across) for at in range(rows * columns)]


def test_what_is_narrow_stays_as_it_is():
    for drawing in (plot.figure(3.6, 2, columns=2)[0], plot.figure(3, 2)[0]):
        engine, before = drawing.get_layout_engine(), drawing.get_size_inches().tolist()
        assert not narrowed(drawing)
        assert drawing.get_size_inches().tolist() == before
        assert drawing.get_layout_engine() is engine
    empty = plot.Figure(figsize=(9, 2))
    assert not narrowed(empty)


def test_one_panel_becomes_narrow_and_keeps_its_height():
    drawing, _ = plot.figure(5.4, 2.3)
    assert narrowed(drawing)
    assert drawing.get_size_inches().tolist() == pytest.approx([PHONE, 2.3])


def test_squares_have_the_room_to_be_as_high_as_wide():
    drawing, panels = plot.figure(5.4, 1.2, columns=3)
    for axes in panels:
        plot.heatmap(axes, plot.torch.eye(4))
    assert narrowed(drawing)
    assert drawing.get_size_inches().tolist() == pytest.approx([PHONE, PHONE])


def test_who_begins_a_row_says_what_its_neighbour_said():
    drawing, (a, b, c, d) = plot.figure(7.2, 2, columns=4, sharey=True)
    a.set(ylabel="loss", yticks=[0, 1, 2])
    assert left(c) == ("", [])
    assert narrowed(drawing)
    assert left(a) == left(c) == ("loss", ["0", "1", "2"])
    assert left(b) == left(d) == ("", [])


def test_names_that_one_panel_took_away_come_back():
    drawing, (a, b) = plot.figure(5.4, 2, columns=2)
    for axes in (a, b):
        axes.set(yticks=[0, 1], yticklabels=["causal", "no mask"])
    b.set_yticklabels([])
    assert narrowed(drawing)
    assert left(b) == left(a) == ("", ["causal", "no mask"])


def test_a_panel_keeps_its_own_words():
    drawing, (a, b) = plot.figure(5.4, 2, columns=2)
    a.set(ylabel="nats", yticks=[0, 1])
    b.set(ylabel="share", yticks=[2, 3])
    assert narrowed(drawing)
    assert left(b) == ("share", ["2", "3"])
    bare, (_, without) = plot.figure(5.4, 2, columns=2)
    for axes in bare.axes:
        axes.set_yticks([])
    assert narrowed(bare)
    assert left(without) == ("", [])


@pytest.mark.parametrize(("words", "columns"), [("short", 2), ("as long as half of a phone", 1)])
def test_a_legend_below_has_the_columns_that_fit(words, columns):
    drawing, axes = plot.figure(5.4, 2.5)
    for n in range(4):
        axes.plot([0, 1], [n, n], label=f"{words} {n}")
    drawing.legend(loc="outside lower center", ncols=4)
    drawing.draw_without_rendering()
    before = axes.get_window_extent().height
    assert narrowed(drawing)
    (legend,) = drawing.legends
    drawing.draw_without_rendering()
    assert legend._ncols == columns
    assert [text.get_text() for text in legend.get_texts()] == [f"{words} {n}" for n in range(4)]
    place = legend.get_window_extent()
    assert 0 <= place.x0 < place.x1 <= drawing.bbox.width
    assert place.y1 <= axes.get_window_extent().y0
    assert axes.get_window_extent().height == pytest.approx(before, rel=0.03)
