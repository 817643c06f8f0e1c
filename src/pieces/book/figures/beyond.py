"""Chapter 17: the square as it fills, what recall costs, and who still knows what was said."""

from collections.abc import Sequence
from statistics import fmean

import torch
from torch import Tensor

from pieces.attention import elu_plus_one, linear_attention
from pieces.book import measured, plot
from pieces.book.tables import Table, table

NAMES = {
    "softmax": "softmax attention",
    "linear, one head": "linear, 1 head",
    "linear": "linear, 2 heads",
    "scan": "selective scan",
}
LOOKS = {"softmax": "query", "linear": "score", "linear, one head": "key", "scan": "weight"}


def pairs_drawn(T: int, K: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Keys and values of one head, drawn once: [1, 1, T, K] both."""
    drawn = torch.Generator().manual_seed(seed)
    k, v = torch.randn(2, 1, 1, T, K, generator=drawn).unbind()
    return k, v


def filling(times: Sequence[int] = (1, 2, 4, 16), K: int = 4) -> None:
    """Draw the square of linear attention behind some tokens: its size stays, its numbers grow."""
    k, v = pairs_drawn(max(times), K)
    squares = [linear_attention(k[:, :, :t], k[:, :, :t], v[:, :, :t])[1].pairs for t in times]
    top = max(square.abs().max().item() for square in squares)
    figure, all_axes = plot.figure(7.0, 2.1, columns=len(times))
    for axes, t, square in zip(all_axes, times, squares, strict=True):
        plot.heatmap(axes, square[0, 0], role="value", top=top, digits=1)
        axes.set_title(f"after {t} word{'s' * (t > 1)}", y=-0.2)
        axes.set(xlabel="value" if t == times[0] else "", ylabel="key" if t == times[0] else "")
        axes.xaxis.set_label_position("top")
    sizes = ", ".join(f"{square.abs().mean():.2f} after {t}" for square, t in
                      zip(squares, times, strict=True))  # fmt: skip
    plot.show(figure, alt=f"A square of {K} by {K} numbers. Their mean size is {sizes}.")


def read_back(counts: Sequence[int] = (1, 2, 4, 8, 16), K: int = 8, seeds: int = 20) -> Table:
    """How near the value that a stored key reads comes to its own: cosine, by number of pairs."""
    rows = []
    for n in counts:
        found = []
        for seed in range(seeds):
            k, v = pairs_drawn(n, K, seed)
            _, (pairs, keys) = linear_attention(k, k, v)
            q = elu_plus_one(k)
            read = q @ pairs / (q @ keys)
            found.append(torch.cosine_similarity(read, v, dim=-1).mean().item())
        rows.append([n, fmean(found), min(found), max(found)])
    caption = f"Cosine between what a stored key reads and its value: {seeds} draws, K = {K}."
    return table(rows, ["pairs", "mean", "lowest", "highest"], caption=caption)


def recalled() -> dict[str, Tensor]:
    """Share of right answers of each side, [seeds, numbers of pairs]."""
    runs = measured.record_of("associative_recall")["judge"]
    return {name: torch.tensor([run["accuracy"] for run in runs if run["mixer"] == name])
            for name in NAMES}  # fmt: skip


def recall() -> None:
    """Draw recall by number of stored pairs, a line for each seed."""
    record, found = measured.record_of("associative_recall"), recalled()
    places = range(len(record["pairs"]))
    figure, axes = plot.figure(5.4, 3.3)
    said = []
    for name, words in NAMES.items():
        line = {"color": plot.ROLE[LOOKS[name]], "lw": 1.2, "marker": "o", "markersize": 3.5}
        dashes = "--" if name == "linear, one head" else "-"  # it lies on its sister
        for n, run in enumerate(found[name]):
            axes.plot(places, 100 * run, dashes, label=words if n == 0 else None, **line)
        means = ", ".join(f"{100 * m:.0f}" for m in found[name].mean(dim=0).tolist())
        said.append(f"{words}: {means}")
    chance = 100 / record["values"]
    axes.plot(places, [chance] * len(places), ":", color=plot.ROLE["residual"], label="guessing")
    axes.set_xticks(places, [str(n) for n in record["pairs"]])
    axes.set(xlabel="pairs stored", ylabel="% recalled", ylim=(0, 104))
    figure.legend(loc="outside lower center", ncols=3)
    pairs = ", ".join(map(str, record["pairs"]))
    seeds = len(run_seeds())
    alt = f"Percentage recalled of {pairs} pairs, a line for each of {seeds} seeds; means. "
    plot.show(figure, alt=f"{alt}{'; '.join(said)}; guessing: {chance:.0f}.")


def run_seeds() -> list[int]:
    """The seeds that judge."""
    return sorted({run["seed"] for run in measured.record_of("associative_recall")["judge"]})


def costs() -> Table:
    """Numbers kept and time for one more token, by how many stand before it."""
    record = measured.record_of("associative_recall")["cost"]
    by = {(row["mixer"], row["S"]): row for row in record}
    sides = {"softmax": "cache", "linear": "square", "scan": "scan"}
    rows = [
        [f"{S:,}", by["softmax", S]["numbers"], *(by[name, S]["median"] for name in sides)]
        for S in sorted({S for _, S in by})
    ]
    heads = ["words", "numbers in the cache", *(f"time, {name}" for name in sides.values())]
    caption = "A layer’s time for one more word, as a multiple of the cache’s at 256."
    return table(rows, heads, digits=[0, 0, 1, 1, 1], caption=caption)
