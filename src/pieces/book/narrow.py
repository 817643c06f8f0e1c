"""A figure on a phone: its panels one under another, its words as large as those of the page."""

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.legend import Legend
from matplotlib.transforms import Bbox

PHONE = 3.64  # inches: what the 328 px of a phone's page hold where 90 px show an inch


def narrowed(figure: Figure) -> bool:
    """Make a figure that is wider than a phone as wide as one; return whether it was wider.

    The panels keep their order and their height; squares have room to be as high as wide. A panel
    that comes to begin a row says what its neighbour on the left said for it. A legend below the
    figure has two columns where its words leave room.
    """
    panels = [axes for axes in figure.axes if axes.get_subplotspec()]
    rows, columns = panels[0].get_subplotspec().get_gridspec().get_geometry() if panels else (0, 1)
    width, height = figure.get_size_inches()
    if not panels or width <= PHONE:
        return False
    across = max(1, math.floor(PHONE * columns / width))
    down = math.ceil(len(panels) / across)
    figure.set_layout_engine("compressed")
    grid = GridSpec(down, across, figure=figure)
    for at, axes in enumerate(panels):
        if at % across == 0:
            _begin_a_row(axes, panels[at // columns * columns])
        axes.set_subplotspec(grid[at // across, at % across])
    square = any(axes.get_aspect() == 1 for axes in panels)
    figure.set_size_inches(PHONE, down * max(height / rows, square * PHONE / across))
    for legend in list(figure.legends):
        _set_below(legend, figure)
    return True


def _set_below(legend: Legend, figure: Figure) -> None:
    """Put a legend in the place of another, in two columns, or in one where two are too wide.

    What it is higher than the other is added to the figure: the panels keep their height.
    """
    words = [text.get_text() for text in legend.get_texts()]
    width, height = figure.get_size_inches()
    before = _extent(legend).height
    for columns in (2, 1):
        legend.remove()
        options = {"loc": "outside lower center", "ncols": columns}
        legend = figure.legend(legend.legend_handles, words, **options)
        if _extent(legend).width <= figure.bbox.width:
            break
    figure.set_size_inches(width, height + (_extent(legend).height - before) / figure.dpi)


def _extent(legend: Legend) -> Bbox:
    """Return the box that a legend takes in its figure, in pixels."""
    legend.figure.draw_without_rendering()
    return legend.get_window_extent()


def _begin_a_row(axes: Axes, first: Axes) -> None:
    """Give a panel the words at the left that the first of its old row has for both."""
    axes.set_ylabel(axes.get_ylabel() or first.get_ylabel())
    axes.tick_params(labelleft=first.yaxis.get_tick_params()["labelleft"])
    if not any(label.get_text() for label in axes.get_yticklabels()):
        axes.set_yticks(first.get_yticks(), [label.get_text() for label in first.get_yticklabels()])
