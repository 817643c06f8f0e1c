"""Chapter 3's task for scores: find an item whose query and key look nothing alike."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pieces import scores
from pieces.attention import SingleHeadAttention
from pieces.book import plot
from pieces.book.figures.attention import SCORES

ITEMS, LISTED, SIZE = 32, 8, 12
REAL = torch.float64  # the printed digits are then the same on every machine


class Finder(nn.Module):
    """A score between queries of one size and keys of 12 numbers, with what it can learn."""

    def __init__(self, name: str, query_dim: int = SIZE) -> None:
        super().__init__()
        self.layer = None
        if name == "projected":
            self.layer = SingleHeadAttention(query_dim, SIZE, d_context=SIZE)
        self.score = scores.scaled_dot if self.layer else SCORES[name](query_dim, SIZE)

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        """Shapes: q [B, 1, Kq], k [B, 8, 12] -> [B, 8], how well each key fits."""
        if self.layer:
            q, k = self.layer.query(q), self.layer.key(k)
        return self.score(q, k)[:, 0]


def rotation(generator: torch.Generator) -> Tensor:
    """A random rotation or reflection of 12 numbers."""
    q, r = torch.linalg.qr(torch.randn(SIZE, SIZE, generator=generator, dtype=REAL))
    return q * r.diagonal().sign()


def batch(
    items: Tensor, size: int, turns: tuple[Tensor, Tensor], generator: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw lists of 8 items, turned into keys; one of them, turned otherwise, is the query."""
    picks = torch.rand(size, ITEMS, generator=generator).argsort(-1)[:, :LISTED]
    place = torch.randint(LISTED, (size,), generator=generator)
    listed = items[picks]
    wanted = listed[torch.arange(size), place]
    as_query, as_key = turns
    return (wanted @ as_query)[:, None], listed @ as_key, place


def learn(
    name: str, query_dim: int = SIZE, *, seed: int = 0, steps: int = 300, rate: float = 0.02
) -> list[float]:
    """Train one score on 32 items; return its share of right answers on these and on 32 new."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    as_key, as_query = rotation(generator), rotation(generator)[:, :query_dim]
    known, new = torch.randn(2, ITEMS, SIZE, generator=generator, dtype=REAL)
    finder, turns = Finder(name, query_dim).to(REAL), (as_query, as_key)
    parameters = list(finder.parameters())
    optimiser = torch.optim.Adam(parameters, lr=rate) if parameters else None
    for _ in range(steps if parameters else 0):
        q, k, place = batch(known, 64, turns, generator)
        optimiser.zero_grad()
        F.cross_entropy(finder(q, k), place).backward()
        optimiser.step()
    with torch.no_grad():
        tests = [batch(items, 1000, turns, generator) for items in (known, new)]
        right = [finder(q, k).argmax(-1) == place for q, k, place in tests]
    return [share.double().mean().item() for share in right]


def all_scores(learn: Callable = learn, seeds: int = 5) -> dict[str, Tensor]:
    """Train each score with queries of 12 numbers, and of 8 where it allows two sizes.

    Shapes: for each name [seeds, 2], the shares right on known and on new items.
    """
    runs = {}
    for name in (*SCORES, "projected"):
        for query_dim in (SIZE,) if name in ("dot", "scaled dot") else (SIZE, 8):
            found = [learn(name, query_dim, seed=seed) for seed in range(seeds)]
            runs[f"{name}, q {query_dim}"] = torch.tensor(found)
    return runs


def shares_right(runs: dict[str, Tensor]) -> None:
    """Draw the shares of right answers, a filled dot for known items and a ring for new ones."""
    fig, ax = plot.figure(5.2, 2.6)
    ring = {"facecolors": "none", "edgecolors": plot.ROLE["query"], "linewidths": 1.4}
    dot = {"color": plot.ROLE["score"]}
    for row, found in enumerate(runs.values()):
        for column, (lower, style) in enumerate(((-0.12, dot), (0.16, ring))):
            ax.scatter(found[:, column], [row + lower] * len(found), s=32, **style)
    ax.scatter([], [], s=32, label="known items", **dot)
    ax.scatter([], [], s=32, label="new items", **ring)
    ax.axvline(1 / LISTED, color=plot.FAINT, linestyle=":", linewidth=1.2)
    ax.text(1 / LISTED + 0.015, len(runs) - 0.38, "chance", fontsize=9.5)
    ax.set(xlim=(0, 1.04), ylim=(len(runs) - 0.25, -0.6), xlabel="share of right answers")
    ax.set_yticks(range(len(runs)), list(runs))
    ax.tick_params(axis="y", length=0)
    ax.legend(loc="center", bbox_to_anchor=(0.55, 0.86))
    plot.show(fig, alt=f"Share of right answers, means over the seeds: {_in_words(runs)}")


def _in_words(runs: dict[str, Tensor]) -> str:
    """The mean shares, for whoever does not see the dots."""
    means = {name: found.mean(0).tolist() for name, found in runs.items()}
    said = [
        f"{name}: {known:.2f} of known, {new:.2f} of new" for name, (known, new) in means.items()
    ]
    return "; ".join(said) + "."


def at_rates(name: str, rates: Sequence[float], seeds: Sequence[int]) -> Tensor:
    """Return the shares right on new items for several learning rates: [rates, seeds]."""
    found = [[learn(name, seed=seed, rate=rate)[1] for seed in seeds] for rate in rates]
    return torch.tensor(found)
