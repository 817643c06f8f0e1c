"""Chapter 12: codes that look alike, scores by distance, and biases in sixteen bits."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from pieces.book import plot
from pieces.book.tables import Table, scientific, table
from pieces.positions import Rotary, alibi_slopes


def nearest(codes: Tensor, column: int = 0) -> tuple[int, int]:
    """Return the two places whose codes [T, D] are the most alike in one column."""
    values, order = codes[:, column].sort()
    at = int((values[1:] - values[:-1]).argmin())
    first, second = sorted(order[at : at + 2].tolist())
    return first, second


def closest(codes: Tensor) -> tuple[int, float]:
    """Return the step that moves a code [T, D] the least, and how far that is.

    The distance of two sinusoidal codes depends on the step alone, so place 0 stands for all.
    """
    apart = (codes[1:] - codes[0]).norm(dim=-1)
    return 1 + int(apart.argmin()), apart.min().item()


def alike(codes: Tensor, column: int = 0) -> Table:
    """Show how near two codes come, in one column and in all of them."""
    one, other = nearest(codes, column)
    step, smallest = closest(codes)
    rows = []
    for p, q, apart in (
        (one, other, (codes[one] - codes[other]).norm().item()),
        (0, step, smallest),
    ):
        here = scientific((codes[p] - codes[q])[column].abs().item())
        rows.append([f"{p} and {q}", here, apart])
    caption = f"The most alike of {len(codes):,} places: in column {column}, and in all columns"
    return table(rows, ["places", f"apart in column {column}", "in all"], caption=caption)


def by_distance(q: Tensor, k: Tensor, distances: Tensor) -> Tensor:
    """Score queries with keys so many places before them: [N, K] twice -> [N, T]."""
    asked = q[:, None, None].expand(-1, 1, len(distances), -1)
    turned, _ = Rotary(q.shape[-1]).rotate(asked, asked, distances)
    return (turned[:, 0] @ k[..., None])[..., 0]


def all_ones(K: int, furthest: int) -> Tensor:
    """Scores of a vector of ones with itself at every distance, 1 at distance 0."""
    ones = torch.ones(1, K, dtype=torch.float64)
    return by_distance(ones, ones, torch.arange(furthest))[0] / K


def random_pairs(K: int, pairs: int, seed: int = 1) -> tuple[Tensor, Tensor]:
    """Draw queries and keys: [pairs, K] twice."""
    drawn = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, pairs, K, generator=drawn, dtype=torch.float64)
    return q, k


def made_for(q: Tensor, distance: int, furthest: int) -> Tensor:
    """Score a query [1, K] with a copy of itself that was turned on by so many places."""
    x = q[:, None, None]
    key = Rotary(q.shape[-1]).rotate(x, x, torch.tensor([distance]))[0][:, 0, 0]
    return by_distance(q, key, torch.arange(furthest))[0] / q.square().sum()


def decay(K: int = 128, furthest: int = 4096, pairs: int = 300, peaks: Sequence[int] = ()) -> None:
    """Draw scores against distance: of ones, of random vectors, of queries made for a distance."""
    far = torch.logspace(0, math.log10(furthest - 1), 240).long().unique()
    fig, axes = plot.figure(6.8, 2.6, columns=3)
    axes[0].plot(far, all_ones(K, furthest)[far], color=plot.ROLE["score"], linewidth=1)
    q, k = random_pairs(K, pairs)
    scores = by_distance(q, k, far) / K**0.5
    for values in scores[:4]:
        axes[1].plot(far, values, color=plot.ROLE["residual"], linewidth=0.5, alpha=0.6)
    axes[1].plot(far, scores.std(dim=0), color=plot.ROLE["score"], linewidth=1.6)
    for peak, role in zip(peaks, ("query", "key", "value", "weight"), strict=False):
        at = torch.cat((far, torch.tensor([peak]))).unique()
        values = made_for(q[:1], peak, furthest)[at]
        axes[2].plot(at, values, color=plot.ROLE[role], linewidth=0.9)
        axes[2].text(peak, 1.04, f"{peak:,}", color=plot.ROLE[role], ha="center")
    axes[2].set_ylim(top=1.25)
    titles = ("all ones", "random, and spread", "made for a distance")
    for ax, title in zip(axes, titles, strict=True):
        ax.set(xscale="log", xlabel="distance", title=title)
    axes[0].set_ylabel("score")
    made = ", ".join(f"{peak:,}" for peak in peaks)
    plot.show(
        fig,
        alt=f"Three panels of score against distance up to {furthest - 1:,}. All ones: falls with "
        f"many bumps, then wanders. Random vectors: no trend; the spread over {pairs} draws stays "
        f"near 1. Queries made for a distance peak there: {made}.",
    )


def coarse(lengths: Sequence[int] = (128, 2048), nearest: int = 128, heads: int = 12) -> Table:
    """Show how many different biases the nearest keys of the last query get in sixteen bits."""
    m = alibi_slopes(heads).max()
    rows = []
    for T in lengths:
        j = torch.arange(T)
        for name, bias in (("m j", m * j), ("−m (i − j)", -m * (T - 1 - j))):
            cells = []
            for kind in (torch.float16, torch.bfloat16):
                near = bias[-nearest:].to(kind).double()
                step = near.diff()
                cells += [len(near.unique()), f"{step.min():.2f} to {step.max():.2f}"]
            rows.append([f"{name}, T = {T:,}".replace(" ", "\u00a0"), *cells])
    return table(
        rows,
        ["bias", "float16", "its steps", "bfloat16", "its steps"],
        caption=f"The steepest of {heads} heads, and the {nearest} nearest keys of the last query: "
        "how many different biases they get, and the steps from key to key, which should all be "
        f"{m:.2f}",
    )
