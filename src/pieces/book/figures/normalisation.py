"""Chapter 10: what a norm makes of a token, and what reaches the token through it."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from pieces.book import plot
from pieces.book.tables import Table, table
from pieces.norms import BatchNorm, layer_norm, rms, rms_norm
from pieces.trace import record
from pieces.trained import load

Norm = Callable[[Tensor], Tensor]
MOVED = 1e-6  # from here on, two numbers of float64 are not the same


def stream(texts: int = 64, words: int = 64, block: int = 3, seed: int = 0) -> Tensor:
    """What a block of the stories model hands on, for so many stories: [texts, words, 96]."""
    shipped = load("stories_llama")
    drawn = torch.Generator().manual_seed(seed)
    ids = shipped.task.batch(texts, generator=drawn).input_ids[:, :words]
    name = f"stack.blocks.{block - 1}"
    with torch.no_grad(), record(shipped.model, outputs=[name]) as trace:
        shipped.model(ids)
    return trace[name]["output"].double()


def batch_norm(x: Tensor, eps: float = 1e-5) -> Tensor:
    """BatchNorm as it is in training, with gain 1 and shift 0."""
    return BatchNorm(x.shape[-1], eps=eps).to(x.dtype)(x).detach()


def skewness(x: Tensor) -> Tensor:
    """How far the histogram of each row leans: 0 for a symmetric one, as the normal one is."""
    return layer_norm(x, eps=0.0).pow(3).mean(-1)


def shape(before: Tensor, after: Tensor, bins: int = 16) -> None:
    """Draw the histograms of one token's features before and after a norm."""
    figure, axes = plot.figure(5.4, 2.4, columns=2)
    said = []
    for ax, name, role, x in zip(
        axes, ("before", "after"), ("residual", "output"), (before, after), strict=True
    ):
        ax.hist(x.numpy(), bins=bins, color=plot.ROLE[role])
        # z: a mean of −0.00 would differ between machines.
        numbers = f"mean {x.mean():z.2f}, spread {x.std(correction=0):.2f}".replace("-", "−")
        leans = f"skewness {skewness(x):.2f}".replace("-", "−")
        ax.set(title=f"{name}\n{numbers}\n{leans}", xlabel="value of a feature", yticks=[])
        said.append(f"{name}: {numbers}, {leans}")
    plot.show(
        figure,
        alt=f"Two histograms of the {len(before)} features of one token. Before and after the norm "
        f"they have the same lopsided shape; only the axis differs. {'; '.join(said)}.",
    )


def notices(changes: Mapping[str, Norm], tokens: Tensor) -> Table:
    """Change token 1, and count under each norm how many tokens get another result (ε nearly 0)."""
    norms = {
        "Batch": lambda x: batch_norm(x, eps=1e-12),
        "Layer": lambda x: layer_norm(x, 0.0),
        "RMS": lambda x: rms_norm(x, 0.0),
    }
    rows = []
    for name, change in changes.items():
        moved = torch.cat((change(tokens[:1]), tokens[1:]))
        apart = [(norm(moved) - norm(tokens)).abs().amax(-1) for norm in norms.values()]
        rows.append([name, *(int((far > MOVED).sum()) for far in apart)])
    caption = f"Token 1 is changed: how many of {len(tokens)} tokens have another result?"
    return table(rows, ["token 1", *norms], caption=caption)


def squared_narrowly(
    narrow: Norm, sizes: Sequence[int] = (1, 30, 1000), features: int = 2048
) -> Table:
    """Compare an RMSNorm in sixteen bits with the package's: the RMS of both results."""
    drawn = torch.randn(4, features, generator=torch.Generator().manual_seed(0)).clamp(-3, 3)
    rows = []
    for size in sizes:
        for dtype in (torch.float16, torch.bfloat16):
            x = (drawn * size).to(dtype)
            found = [rms(norm(x).double()).mean().item() for norm in (narrow, rms_norm)]
            rows.append([f"{size:,}", str(dtype).removeprefix("torch."), *found])
    return table(
        rows,
        ["size of x", "precision", "summed narrowly", "the package"],
        caption=f"RMS of the result, which should be 1; 4 tokens of {features:,} features.",
    )
