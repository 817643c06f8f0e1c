"""Chapter 10: what the other texts of a batch do to a text under BatchNorm."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from pieces.book import plot
from pieces.book.figures.normalisation import Norm, batch_norm
from pieces.book.tables import Table, table
from pieces.norms import BatchNorm, layer_norm, rms


def disturbance(
    norm: Norm, stories: Tensor, texts: int, words: slice = slice(None), draws: int = 20
) -> float:
    """How far a normalised number of the first story moves when its neighbours are drawn anew."""
    story, others = stories[:1], stories[1:]
    drawn = torch.Generator().manual_seed(texts)
    seen = []
    for _ in range(draws):
        pick = torch.randperm(len(others), generator=drawn)[: texts - 1]
        seen.append(norm(torch.cat((story, others[pick]))[:, words])[0])
    return torch.stack(seen).std(0).mean().item()


def spread_by_batch(stories: Tensor, sizes: Sequence[int] = (2, 4, 8, 16, 32)) -> None:
    """Draw how far a story's numbers move with its neighbours, in batches of such sizes."""
    one = slice(40, 41)
    lines = {
        "BatchNorm, one word each": ("--o", "weight", batch_norm, one),
        "BatchNorm, whole stories": ("-o", "score", batch_norm, slice(None)),
        "LayerNorm": ("-o", "output", layer_norm, slice(None)),
    }
    figure, ax = plot.figure(5.4, 2.7)
    for name, (line, role, norm, words) in lines.items():
        far = [disturbance(norm, stories, texts, words) for texts in sizes]
        ax.plot(sizes, far, line, color=plot.ROLE[role], label=name)
    ax.set_xscale("log", base=2)
    ax.set(xlabel="texts in the batch", ylabel="spread of a number")
    ax.set(xticks=sizes, xticklabels=sizes)
    figure.legend(loc="outside lower center", ncols=2)
    alt = "Spread of a story’s normalised numbers over 20 random batches. BatchNorm: largest with "
    alt += "two texts, falling as the batch grows, and much larger with one word of each text. "
    plot.show(figure, alt=alt + "LayerNorm: 0.")


def reached(batch: Tensor, changed: Mapping[str, Tensor], first: int = 32) -> Table:
    """How far the first words of text 1 move when something else in the batch changes."""
    rows = []
    for name, other in changed.items():
        apart = [
            (norm(other) - norm(batch))[0, :first].abs().mean() for norm in (batch_norm, layer_norm)
        ]
        rows.append([name, *(far.item() for far in apart)])
    caption = f"Mean change of the first {first} words; the numbers have a spread of about 1."
    return table(rows, ["what changes", "BatchNorm", "LayerNorm"], caption=caption)


def running(stories: Tensor, momentum: float = 0.1) -> float:
    """How far the running averages of the other stories move the first story's numbers."""
    trained = BatchNorm(stories.shape[-1], momentum=momentum).to(stories.dtype)
    for story in stories[1:]:
        trained(story[None])
    alone = trained.eval()(stories[0]).detach()
    return (alone - batch_norm(stories[:1])[0]).abs().mean().item()


def deviations(norm: Norm, sizes: Sequence[int] = (2, 4, 16, 512), small: float = 1e-3) -> Table:
    """Compare another LayerNorm with the package's: their ratio, and both on small tokens."""
    rows = []
    for size in sizes:
        drawn = torch.Generator().manual_seed(size)
        x = torch.randn(64, size, generator=drawn, dtype=torch.float64)
        ratio = (norm(x) / layer_norm(x, 1e-12)).mean().item()
        spreads = [rms(y).median().item() for y in (norm(small * x), layer_norm(small * x, 1e-6))]
        rows.append([size, ratio, (1 - 1 / size) ** 0.5, *spreads])
    return table(
        rows,
        ["D", "ratio", "√((D − 1)/D)", "S1, tiny x", "LayerNorm, tiny x"],
        digits=[0, 4, 4, 3, 3],
        caption="S1’s result as a share of LayerNorm’s; and the RMS of both results for inputs of "
        f"size {small}, with ε = 10⁻⁶.",
    )
