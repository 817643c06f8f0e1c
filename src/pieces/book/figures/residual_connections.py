"""Chapter 9: untrained stacks with and without skips, and what they keep of a signal."""

import math
from collections.abc import Callable, Sequence
from statistics import median

import torch
from torch import Tensor

from pieces.book import plot, scientific
from pieces.norms import rms_norm
from pieces.residual import PostNorm, PreNorm, Residual, SandwichNorm


class PlainRMSNorm(torch.nn.Module):
    """RMSNorm without a gain."""

    def forward(self, x: Tensor) -> Tensor:
        """x / RMS(x)"""
        return rms_norm(x)


def size(x: Tensor) -> float:
    """The size of a vector: the root of its mean square."""
    return x.square().mean().sqrt().item()


def matrices(depth: int, D: int, seed: int) -> list[Tensor]:
    """Matrices that keep a vector's size on average: entries from N(0, 1/D)."""
    drawn = torch.Generator().manual_seed(seed)
    return [
        torch.randn(D, D, generator=drawn, dtype=torch.float64) / math.sqrt(D) for _ in range(depth)
    ]


def grown(connection: Callable, depth: int, D: int = 256, seed: int = 0) -> list[float]:
    """The size of the stream at the input and after each sublayer; all are linear, of gain 1."""
    x = torch.ones(D, dtype=torch.float64)
    sizes = [size(x)]
    for W in matrices(depth, D, seed):
        x = connection(x, lambda v, W=W: W @ v)
        sizes.append(size(x))
    return sizes


def growth(depth: int = 48, seeds: Sequence[int] = (0, 1, 2)) -> None:
    """Draw the stream's size against depth: the bare connection, and three places for a norm."""
    made = {
        "no norm": (Residual(), "score"),
        "Pre": (PreNorm(PlainRMSNorm()), "query"),
        "Sandwich": (SandwichNorm(PlainRMSNorm(), PlainRMSNorm()), "key"),
        "Post": (PostNorm(PlainRMSNorm()), "output"),
    }
    figure, axes = plot.figure(6.0, 2.3)
    words = []
    for n, (name, (connection, role)) in enumerate(made.items()):
        runs = [grown(connection, depth, seed=seed) for seed in seeds]
        for m, run in enumerate(runs):
            label = None if m else name
            line = (0, (4, 2 * (n == 2)))  # Sandwich lies on Pre
            axes.plot(run, color=plot.ROLE[role], lw=1.4, ls=line if n == 2 else "-", label=label)
        words.append(f"{name} {median(run[-1] for run in runs):.3g}")
    axes.set(yscale="log", xlabel="sublayer", ylabel="size of the stream")
    axes.legend()
    alt = f"Size of the stream against depth, {len(seeds)} draws. After {depth} sublayers: "
    plot.show(figure, alt=alt + ", ".join(words) + ".")


def directions(skip: bool, depth: int, D: int = 64, seed: int = 0) -> float:
    """How many directions a stack lets through: |J|² over its largest singular value squared.

    J is the derivative of the last stream by the first. It is D where all directions count alike,
    and 1 where only one is left.
    """
    weights = matrices(depth, D, seed)

    def stack(x: Tensor) -> Tensor:
        for W in weights:
            y = W @ rms_norm(x)
            x = x + y if skip else y
        return x

    first = torch.randn(D, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    squares = torch.linalg.svdvals(torch.autograd.functional.jacobian(stack, first)).square()
    return (squares.sum() / squares[0]).item()


def through(
    depths: Sequence[int] = (1, 2, 4, 8, 16, 32, 64), seeds: Sequence[int] = range(5)
) -> None:
    """Draw how many of 64 directions a stack of Pre-norm sublayers lets through."""
    figure, axes = plot.figure(5.6, 2.1)
    words = []
    for skip, name, role in ((True, "with skips", "query"), (False, "without", "score")):
        found = [[directions(skip, L, seed=seed) for seed in seeds] for L in depths]
        axes.plot(depths, [median(each) for each in found], color=plot.ROLE[role], label=name)
        for L, each in zip(depths, found, strict=True):
            axes.plot([L] * len(each), each, ".", ms=4, color=plot.ROLE[role])
        ends = ", ".join(
            f"{median(each):.1f} at {L}" for L, each in zip(depths, found, strict=True)
        )
        words.append(f"{name} {ends}")
    axes.set(xscale="log", yscale="log", xlabel="layers", ylabel="directions of 64")
    axes.set_xticks(depths, [str(L) for L in depths])
    axes.set_yticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
    axes.minorticks_off()
    axes.legend()
    plot.show(figure, alt=f"Directions that get through, {len(found[0])} draws: {'; '.join(words)}")


def layer() -> None:
    """Draw a layer with both its skips, as exercise 9.3 asks for it: source text S4's diagram."""
    plot.drawing(
        "residual_layer",
        alt="x goes through attention to a plus, Add 1, then through the feed-forward layer to a "
        "second plus, Add 2, and out. One arrow leads from x around attention into Add 1, another "
        "from Add 1 around the feed-forward layer into Add 2.",
    )


def plain_and_normed(skip: bool, depth: int, D: int = 64, gain: float = 0.5) -> list[str]:
    """The size of the gradient at the input of a linear stack: with no norm, and with Pre-norm."""
    found = []
    for norm in (lambda v: v, rms_norm):
        first = torch.ones(D, dtype=torch.float64, requires_grad=True)
        x = first
        for W in matrices(depth, D, seed=0):
            y = gain * W @ norm(x)
            x = x + y if skip else y
        x.backward(torch.ones_like(x))
        found.append(scientific(size(first.grad), 1))
    return found
