"""The figures' style: one colour per role, readable in light and in dark.

A figure goes into the page as SVG, its ink in the colour of the text around it
and its roles in the page's own variables, so that it follows the reader's theme.
"""

import io
import math
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Annotated, Any

import matplotlib as mpl
import torch
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text as Label
from matplotlib.ticker import ScalarFormatter

from pieces.book.colours import FAINT, INK, ROLE, tone
from pieces.book.narrow import narrowed
from pieces.book.pictures import bundle, lean
from pieces.book.tables import table as table
from pieces.checks import Filled, Number, OneOf, checked, one_of, require

Entries = Float[torch.Tensor, "T S"] | Int[torch.Tensor, "T S"] | Bool[torch.Tensor, "T S"]
AltText = Annotated[str, Filled()]
Role = Annotated[str, OneOf(ROLE)]
STYLE = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "font.family": "sans-serif",
    "font.size": 10.5,
    "axes.labelsize": 10.5,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9.5,
    "ytick.labelsize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": mpl.cycler(color=list(ROLE.values())),
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "lines.linewidth": 1.8,
    "grid.color": FAINT,
    "grid.alpha": 0.15,
    "svg.fonttype": "none",
    "hatch.color": "#8b949e",
    "hatch.linewidth": 0.6,
}


class _Grouped(ScalarFormatter):
    """The numbers of an axis as the book writes them: 1,000."""

    def __call__(self, x: Any, pos: int | None = None) -> str:
        text = super().__call__(x, pos)
        return re.sub(r"\d+", lambda digits: f"{int(digits[0]):,}", text, count=1)


@checked
def figure(
    width: Number = 5.4, height: Number = 2.9, *, rows: int = 1, columns: int = 1, **options
) -> tuple[Figure, Any]:
    """Make a figure in the book's style; `width` and `height` in inches.

    Shapes: one axes, or an array of rows × columns axes as `plt.subplots` gives.
    """
    with mpl.rc_context(STYLE):
        drawing = Figure(figsize=(width, height), layout="constrained")
        axes = drawing.subplots(rows, columns, **options)
        for one in drawing.axes:
            one.xaxis.set_major_formatter(_Grouped())
            one.yaxis.set_major_formatter(_Grouped())
        return drawing, axes


@checked
def show(drawing: Figure, alt: AltText) -> None:
    """Put a figure into the page, with `alt` for those who do not see it."""
    from IPython.display import display

    pictures = [_svg(drawing)]
    if narrowed(drawing):
        pictures.append(_svg(drawing, "narrow", bbox_inches="tight", pad_inches=0.02))
    display(bundle(alt, *pictures), raw=True)


@checked
def drawing(name: str, alt: AltText) -> None:
    """Put one of the book's own drawings, `pieces/book/drawings/name.svg`, into the page."""
    from IPython.display import display

    folder = files("pieces.book") / "drawings"
    one_of("name", name, sorted(p.name.removesuffix(".svg") for p in folder.iterdir()))
    display(bundle(alt, (folder / f"{name}.svg").read_text(encoding="utf-8")), raw=True)


@checked
def heatmap(
    axes: Axes,
    values: Entries,
    *,
    role: Role = "weight",
    mask: Bool[torch.Tensor, "T S"] | None = None,
    top: Number | None = None,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    digits: int | None = 2,
) -> None:
    """Draw a matrix as cells in the colour of its role; a masked cell is hatched.

    Shapes: values [T, S]; mask bool [T, S], True = may attend; `digits` None prints no numbers.
    Negative values are blue; `top` has the full colour (default: the largest finite, seen or not).
    """
    T, S = values.shape
    require(T * S > 0, "values.shape", (T, S), "must be [T, S], at least 1", "index it")
    for name, labels, n in (("rows", rows, T), ("columns", columns, S)):
        fits = labels is None or len(labels) == n
        require(fits, name, labels, f"must be {n} labels", "give one for each")
    seen = torch.ones(T, S, dtype=torch.bool) if mask is None else mask
    table = values.detach().double().cpu()
    finite = table[table.isfinite()].abs().tolist()
    top = top or max(finite, default=0.0) or 1.0
    with mpl.rc_context(STYLE):
        for i in range(T):
            for j in range(S):
                _cell(axes, i, j, float(table[i, j]), bool(seen[i, j]), role, top, digits)
    axes.set(xlim=(0, S), ylim=(T, 0), aspect="equal")
    axes.set_xticks([j + 0.5 for j in range(S)], columns or [str(j + 1) for j in range(S)])
    axes.set_yticks([i + 0.5 for i in range(T)], rows or [str(i + 1) for i in range(T)])
    axes.tick_params(length=0)
    axes.xaxis.tick_top()
    for spine in axes.spines.values():
        spine.set_visible(False)


@checked
def sequential(role: Role) -> LinearSegmentedColormap:
    """Return the colour map of a role, from transparent to full."""
    r, g, b = mpl.colors.to_rgb(ROLE[role])
    return LinearSegmentedColormap.from_list(role, [(r, g, b, 0.0), (r, g, b, 1.0)])


def _svg(drawing: Figure, kind: str = "", **options) -> str:
    """Draw a figure; two kinds of one figure name their parts differently."""
    text = io.StringIO()
    with mpl.rc_context(STYLE | {"svg.hashsalt": f"pieces {kind}"}):
        _style_texts(drawing)
        drawing.savefig(text, format="svg", metadata={"Date": None, "Creator": None}, **options)
    picture = text.getvalue()
    return lean(picture[picture.index("<svg") :])


def _style_texts(drawing: Figure) -> None:
    """Give legends and labels the book's style: `axes.legend()` is called outside of it.

    A text that was given no colour is black, and could not be read on a dark page.
    """
    for text in drawing.findobj(Label):
        if to_hex(text.get_color()) == "#000000":
            text.set_color(INK)
    of_axes = (axes.get_legend() for axes in drawing.axes)
    for legend in filter(None, (*of_axes, *drawing.legends)):
        legend.set_frame_on(False)
        for text in legend.get_texts():
            text.set(color=INK, fontsize=STYLE["legend.fontsize"])


def _cell(axes, i, j, value, seen, role, top, digits):
    """Draw one cell of a heat map."""
    colour = ROLE["negative"] if value < 0 else ROLE[role]
    share = min(1.0, abs(value) / top) ** 0.85 if seen and not math.isnan(value) else 0.0
    box = {"width": 0.96, "height": 0.96, "linewidth": 0}
    axes.add_patch(mpl.patches.Rectangle((j + 0.02, i + 0.02), color=colour, alpha=share, **box))
    if not seen:
        hatch = mpl.patches.Rectangle((j + 0.02, i + 0.02), fill=False, hatch="////", **box)
        axes.add_patch(hatch)
    elif digits is not None:
        text = f"{value:z.{digits}f}".replace("-", "−").replace("inf", "∞")
        ink = tone("negative" if value < 0 else role, share)
        axes.text(j + 0.5, i + 0.53, text, ha="center", va="center", color=ink, fontsize=8.5)
