"""The figures and tables of chapter 4: soft look-ups, likeness and length, listings."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pieces.book import plot
from pieces.book.tables import Table, table
from pieces.measures import cosine


def disagreements(D: int, seed: int, draws: int = 1500) -> tuple[float, float]:
    """Return how often dot product and cosine choose another one of eight keys.

    First for keys whose coordinates are all drawn alike, then for the same keys, each made longer
    or shorter at random.
    """
    generator = torch.Generator().manual_seed(seed)
    q = torch.randn(draws, 1, D, generator=generator, dtype=torch.float64)
    plain = torch.randn(draws, 8, D, generator=generator, dtype=torch.float64)
    uneven = plain * torch.exp(0.5 * torch.randn(draws, 8, 1, generator=generator))
    nearest = cosine(q, plain).argmax(-1)
    shares = [((q * k).sum(-1).argmax(-1) != nearest).double().mean() for k in (plain, uneven)]
    return shares[0].item(), shares[1].item()


def all_disagreements(sizes: Sequence[int], seeds: int = 5) -> Tensor:
    """Return the shares for each size and seed: [sizes, seeds, 2]."""
    return torch.tensor([[disagreements(D, seed) for seed in range(seeds)] for D in sizes])


def likeness_or_length(sizes: Sequence[int] = (2, 4, 16, 64, 256, 1024), seeds: int = 5) -> None:
    """Draw how often dot product and cosine choose different keys, against the vectors' size."""
    found = all_disagreements(sizes, seeds)
    fig, ax = plot.figure(5.4, 2.2)
    for n, (label, style) in enumerate((("plain keys", "-"), ("keys of uneven length", "--"))):
        shares, look = found[:, :, n], {"color": plot.ROLE["key"]}
        ax.plot(sizes, shares.mean(1), style, marker="o", markersize=4, label=label, **look)
        ax.fill_between(sizes, shares.amin(1), shares.amax(1), alpha=0.15, linewidth=0, **look)
    ax.set_xscale("log", base=2)
    ax.set_xticks(sizes, [f"{D:,}" for D in sizes])
    ax.minorticks_off()
    ax.set(xlabel="numbers in a vector", ylabel="share of draws", ylim=(0, 0.62))
    ax.legend()
    ends = [[f"{share:.2f}" for share in found.mean(1)[at].tolist()] for at in (0, -1)]
    plot.show(
        fig,
        alt="Share of draws in which dot product and cosine choose different keys. With plain keys "
        f"it falls from {ends[0][0]} at {sizes[0]} numbers to {ends[1][0]} at {sizes[-1]}; with "
        f"keys of uneven length from {ends[0][1]} to {ends[1][1]}.",
    )


def by_factor(steps, token: int) -> None:
    """Draw the weights of one token of a widget, AttentionSteps, for four factors of the scores."""
    X, Wq, Wk = (torch.tensor(numbers) for numbers in (steps.X, steps.Wq, steps.Wk))
    scores = (X[token - 1] @ Wq) @ (X @ Wk).T
    factors = {"0.05": 0.05, "1/√3": 3**-0.5, "1": 1.0, "10": 10.0}
    rows = torch.stack([(factor * scores).softmax(0) for factor in factors.values()])
    fig, ax = plot.figure(4.2, 2.2)
    plot.heatmap(ax, rows, role="weight", top=1.0, rows=list(factors))
    ax.set_title(f"weights of token {token} by factor")
    plot.show(fig, alt=f"Weights of token {token} over six keys, for four factors.")


def two_factors(Q: Tensor, K: Tensor, row: int = 2) -> Table:
    """Show a row of weights under the code's factor and under the one that S0 tells of (E-07)."""
    dots = Q[row - 1] @ K.T
    factors = {"1/√3": 3**-0.5, "0.05": 0.05}
    rows = [[name, *(factor * dots).softmax(0).tolist()] for name, factor in factors.items()]
    return table(rows, ["factor", *"123456"], caption=f"Row {row} of the weights, by the factor.")


def sums(A: Tensor) -> Table:
    """Show what rows and columns of a matrix of weights add up to (E-08)."""
    rows = [["rows", *A.sum(1).tolist()], ["columns", *A.sum(0).tolist()]]
    return table(rows, ["sums of", *(str(n + 1) for n in range(len(A)))])


def buggy_head(X: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor, *, cured: bool) -> Tensor:
    """Return what the head of exercise 4.3 gives, with its bug or without."""
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    scores = Q @ (K.T if cured else K) / K.shape[-1] ** 0.5
    return scores.softmax(-1) @ V
