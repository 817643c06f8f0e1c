"""Chapter 8: four feed-forward networks of equal size, trained side by side."""

import itertools
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from pieces.book import measured, plot
from pieces.book.tables import Table, table

NETWORKS = ("ReLU", "GELU", "SwiGLU", "GeGLU")
ROLES = dict(zip(NETWORKS, ("query", "key", "score", "weight"), strict=True))
Gaps = Sequence[float]


def by_chance(gaps: Gaps) -> float:
    """The share of all flips of the signs whose mean is at least as far from 0."""
    flips = itertools.product((-1, 1), repeat=len(gaps))
    sums = [abs(sum(sign * gap for sign, gap in zip(flip, gaps, strict=True))) for flip in flips]
    return sum(total >= abs(sum(gaps)) - 1e-12 for total in sums) / len(sums)


def above(network: str) -> dict[int, float]:
    """How far above the floor a network ended, nats a word, by seed."""
    runs = measured.record_of("activations")["seeds"]
    return {run["seed"]: run["above_floor"] for run in runs if run["network"] == network}


def gaps(network: str, beside: str = "ReLU") -> list[float]:
    """How much farther from the floor it ended than another one of the same seed."""
    one, other = above(network), above(beside)
    return [one[seed] - other[seed] for seed in sorted(other)]


def rate(network: str) -> float:
    """The learning rate that was chosen for a network."""
    runs = measured.record_of("activations")["seeds"]
    (chosen,) = {run["lr"] for run in runs if run["network"] == network}
    return chosen


def learning() -> None:
    """Draw the eight runs of each network, and its distance from ReLU at the end, seed by seed."""
    figure, (left, right) = plot.figure(5.6, 1.85, columns=2)
    runs = measured.record_of("activations")["seeds"]
    for network in NETWORKS:
        _curves(left, network, [run["curve"][1:] for run in runs if run["network"] == network])
    for place, network in enumerate(NETWORKS[1:]):
        _dots(right, network, place)
    ticks = (0.5, 1, 2, 3)
    left.set(yscale="log", xlabel="step", ylabel="nats above floor")
    left.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    left.set_yticks([], minor=True)
    left.legend()
    right.axhline(0, color=plot.FAINT, lw=1)
    right.set(xticks=range(3), xticklabels=NETWORKS[1:], ylabel="minus ReLU, nats")
    means = {network: statistics.fmean(above(network).values()) for network in NETWORKS}
    said = ", ".join(f"{network} {mean:.3f}" for network, mean in means.items())
    alt = "Nats above the floor over 200 steps, median and range of eight seeds for each of "
    alt += "four networks. Beside it the difference from ReLU at the end, a dot for each seed. "
    plot.show(figure, alt=f"{alt}Means at the end: {said}.")


def ends(by_chance: Callable[[Gaps], float] = by_chance) -> Table:
    """What the runs ended at, and how often chance gives as large a difference from ReLU."""
    rows: list[list[Any]] = []
    for network in NETWORKS:
        found = above(network).values()
        row = [network, statistics.fmean(found), statistics.stdev(found)]
        apart = gaps(network)
        told = [sum(gap < 0 for gap in apart), by_chance(apart)]
        rows.append([*row, *(("", "") if network == "ReLU" else told)])
    return table(
        rows,
        ["network", "mean", "spread", "nearer", "by chance"],
        digits=[0, 3, 3, 0, 3],
        caption="Nats above the floor at the end, mean and standard deviation of 8 seeds; in how "
        "many it ends nearer than ReLU; how often chance gives such a mean difference.",
    )


def _curves(ax: Any, network: str, curves: Sequence[Any]) -> None:
    """Median and range of a network's runs."""
    steps = [step for step, _ in curves[0]]
    each = list(zip(*([value for _, value in curve] for curve in curves), strict=True))
    colour = plot.ROLE[ROLES[network]]
    ax.fill_between(steps, list(map(min, each)), list(map(max, each)), color=colour, alpha=0.15)
    ax.plot(steps, list(map(statistics.median, each)), color=colour, lw=1.3, label=network)


def _dots(ax: Any, network: str, place: int) -> None:
    """A dot for each seed, and a line at their mean."""
    apart, colour = gaps(network), plot.ROLE[ROLES[network]]
    spots = [place + 0.08 * (i - (len(apart) - 1) / 2) for i in range(len(apart))]
    ax.plot(spots, apart, "o", ms=4, color=colour)
    ax.plot([place - 0.35, place + 0.35], [statistics.fmean(apart)] * 2, color=colour)
