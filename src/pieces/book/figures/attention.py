"""The tables of chapter 3: what saturates, and what the source texts' listings do."""

from collections.abc import Callable, Sequence

import torch

from pieces import scores
from pieces.attention import SingleHeadAttention, masked_softmax
from pieces.book.tables import Table, table

SCORES = {
    "dot": lambda q, k: scores.dot,
    "scaled dot": lambda q, k: scores.scaled_dot,
    "additive": lambda q, k: scores.AdditiveScore(q, k, hidden_dim=32),
    "bilinear": lambda q, k: scores.BilinearScore(q, k),
}


def over_seeds(measure: Callable, sizes: Sequence[int] = (16, 64, 512), seeds: int = 5) -> Table:
    """Show what ``measure(score, K, seed)`` finds for the dot product without and with the root.

    It returns three numbers: the scores' standard deviation, the mean largest weight, the share
    of softmaxes in per cent whose gradient is gone. Each is shown with its spread over the seeds.
    """
    rows = []
    for name, score in (("q·k", scores.dot), ("q·k / √K", scores.scaled_dot)):
        for K in sizes:
            runs = torch.tensor([measure(score, K, seed) for seed in range(seeds)])
            mean, spread = runs.mean(0).tolist(), runs.std(0).tolist()
            cells = [f"{m:.2f} ± {s:.2f}" for m, s in zip(mean[:2], spread[:2], strict=True)]
            rows.append([name, K, *cells, f"{mean[2]:.0f} ± {spread[2]:.0f} %"])
    return table(rows, ["score", "K", "std", "largest", "gradient < 0.001"])


def unread_mask(seed: int = 3) -> Table:
    """Show which layer notices its mask: the source's in spirit, or the package's (E-01)."""
    torch.manual_seed(seed)
    layer = SingleHeadAttention(4)
    x, context = torch.randn(2, 1, 3, 4)
    changed = context + torch.tensor([0.0, 0.0, 1.0])[:, None]  # the last token moves
    ones, hide = torch.ones(3, 3).bool(), torch.tensor([True, True, False]).expand(3, 3)

    def as_printed(context, mask):
        q, k, v = layer.query(x), layer.key(context), layer.value(context)
        return masked_softmax(scores.scaled_dot(q, k)) @ v

    def ours(context, mask):
        return layer(x, context=context, mask=mask)

    rows = []
    for name, attend in (("as printed", as_printed), ("the package", ours)):
        same = torch.equal(attend(context, ones), attend(context, None))
        hidden = torch.equal(attend(context, hide), attend(changed, hide))
        rows.append([name, *("yes" if found else "no" for found in (same, hidden))])
    return table(rows, ["layer", "same with ones", "hidden token hidden"])


def self_or_cross(seed: int = 3) -> Table:
    """Show the shape of the weights of each score, in self- and in cross-attention (E-10)."""
    torch.manual_seed(seed)
    x, other = torch.randn(2, 5, 8), torch.randn(2, 3, 6)
    rows = []
    for name, make in SCORES.items():
        shapes = []
        for d_context, context in ((8, None), (6, other)):
            layer = SingleHeadAttention(8, d_context=d_context, score=make(8, 8))
            weights = layer(x, context=context, return_weights=True)[1]
            shapes.append(str(tuple(weights.shape)))
        rows.append([name, *shapes])
    caption = "Shape of the weights: batch, queries, keys"
    return table(rows, ["score", "self", "cross"], caption=caption)


def row_sums(seed: int = 3) -> Table:
    """Show what the rows of scores and of weights add up to, the mask at its place or late.

    Scores are no shares (E-61), and a mask after the softmax leaves no shares (E-76).
    """
    generator = torch.Generator().manual_seed(seed)
    s, mask = torch.randn(3, 3, generator=generator), torch.ones(3, 3).tril().bool()
    late = masked_softmax(s) * mask
    shown = {
        "scores": s,
        "weights": masked_softmax(s),
        "mask, then softmax": masked_softmax(s, mask),
        "softmax, then mask": late,
        "the same, divided": late / late.sum(-1, keepdim=True),
    }
    rows = [[name, *numbers.sum(-1).tolist()] for name, numbers in shown.items()]
    return table(rows, ["sum of", "row 1", "row 2", "row 3"])
