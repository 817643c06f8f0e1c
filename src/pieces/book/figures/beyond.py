"""The figures and tables of chapter 17."""

from collections.abc import Sequence

from pieces import masks
from pieces.book import plot
from pieces.book.tables import Table, table


def open_cells(sizes: Sequence[int] = (2, 4, 8, 16)) -> Table:
    """✎ How much of the grid a causal mask leaves open, by the number of tokens."""
    shares = [masks.causal(T).float().mean().item() for T in sizes]
    figure, axes = plot.figure(5.0, 2.4)
    axes.plot(sizes, shares, "-o", color=plot.ROLE["query"])
    axes.set(xlabel="tokens T", ylabel="share of open cells")
    plot.show(figure, alt="The share of open cells falls from 0.75 at 2 tokens towards one half.")
    caption = "How much of the grid a causal mask leaves open"
    rows = [[T, share] for T, share in zip(sizes, shares, strict=True)]
    return table(rows, ["tokens T", "share of open cells"], caption=caption)
