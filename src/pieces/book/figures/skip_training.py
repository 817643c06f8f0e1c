"""Chapter 9: how stacks train with skips and norms, with one of them, and with neither."""

import math
from collections.abc import Sequence
from statistics import median

from pieces.book import plot
from pieces.book.measured import record_of

GUESS = math.log(16)  # the loss of a uniform guess over 16 symbols
KINDS = {
    "skip and norm": ("x + f(Norm(x))", "query"),
    "norm": ("f(Norm(x))", "score"),
    "skip": ("x + f(x)", "key"),
    "neither": ("f(x)", "residual"),
}


def runs(kind: str, layers: int) -> list[dict]:
    """The judged runs of a kind of stack at a depth."""
    own = record_of("residual_stacks")["judge"]
    return [run for run in own if (run["kind"], run["layers"]) == (kind, layers)]


def ends(kind: str, layers: int) -> list[float]:
    """Where the seeds ended: the mean loss of the last ten steps; infinite where numbers ended."""
    points = max(len(run["curve"]) for run in record_of("residual_stacks")["judge"])
    return [
        run["curve"][-1] if len(run["curve"]) == points else math.inf for run in runs(kind, layers)
    ]


def losses(depths: Sequence[int] = (1, 4, 12)) -> None:
    """Draw the loss of the four kinds of stack, every seed, at each depth."""
    figure, axes = plot.figure(6.6, 2.3, columns=len(depths), sharey=True)
    words = []
    for ax, layers in zip(axes, depths, strict=True):
        blocks = "1 block" if layers == 1 else f"{layers} blocks"
        for kind, (name, role) in KINDS.items():
            for n, run in enumerate(runs(kind, layers)):
                steps = [10 * (i + 1) for i in range(len(run["curve"]))]
                label = None if n else name
                ax.plot(steps, run["curve"], color=plot.ROLE[role], lw=1.0, label=label)
            words.append(f"{blocks}, {name}: {median(ends(kind, layers)):.3g}")
        ax.set(title=blocks, xlabel="training step")
        ax.axhline(GUESS, color=plot.INK, lw=0.8, ls=":")
    axes[0].set_ylabel("loss, nats a symbol")
    axes[0].legend(fontsize=8)
    plot.show(figure, alt="Loss of every seed. At the end, median of five: " + "; ".join(words))
