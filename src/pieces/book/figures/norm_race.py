"""Chapter 11: the race of the placements, on one grid, each at its own best, and at length."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from pieces.book import plot
from pieces.book.figures.norm_placement import NAMES
from pieces.book.measured import record_of
from pieces.book.tables import Table, table

COLOURS = dict(zip(NAMES, ("score", "query", "key", "output"), strict=True))
COMMON = {(lr, w) for lr in (0.002, 0.004, 0.008, 0.016, 0.032) for w in (0, 40, 80)}


def runs(record: str, part: str, **setting: Any) -> list[dict[str, Any]]:
    """The measured runs of a setting, one for each seed."""
    return [run for run in record_of(record)[part] if setting.items() <= run.items()]


def told(values: Sequence[float], digits: int = 2) -> str:
    """The median, and the smallest and the largest."""
    return f"{median(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def judged(placement: str, layers: int, steps: int = 160) -> list[dict[str, Any]]:
    """The five runs of a placement at the rate and warm-up that other seeds chose for it."""
    return runs("norm_rates", "judge", placement=placement, layers=layers, steps=steps)


def at_its_best(depths: Sequence[int] = (2, 12)) -> None:
    """Draw the race with each placement at its own best rate and warm-up, five seeds each."""
    figure, axes = plot.figure(6.2, 2.4, columns=len(depths), sharey=True, squeeze=False)
    words = []
    for ax, layers in zip(axes[0], depths, strict=True):
        for place, name in NAMES.items():
            own = judged(place, layers)
            for n, run in enumerate(own):
                label = None if n else f"{name} {1000 * run['lr']:g}, {run['warmup']}"
                color = plot.ROLE[COLOURS[place]]
                ax.plot(range(5, 161, 5), run["curve"], color=color, lw=1.1, label=label)
            words.append(f"{layers} layers, {name}: {told([r['curve'][-1] for r in own], 3)}")
        ax.set(title=f"{layers} layers", xlabel="training step")
        ax.legend(ncols=2, handlelength=1, columnspacing=0.8, title="rate × 1,000, warm-up")
    axes[0][0].set(ylabel="loss, nats", ylim=(-0.1, 5.4), yticks=range(4))
    alt = "Loss of each placement at its own best learning rate and warm-up, five seeds each. "
    plot.show(figure, alt=alt + "At the end, median and range: " + "; ".join(words))


def that_learn(placement: str, layers: int, nats: float = 1.0) -> int:
    """Of the settings that all placements were given: where all choosing seeds end so low."""
    tried = runs("norm_rates", "choose", placement=placement, layers=layers, steps=160)
    return sum(max(one["end"]) < nats for one in tried if (one["lr"], one["warmup"]) in COMMON)


def chosen(depths: Sequence[int] = (2, 12)) -> Table:
    """Tabulate what each placement chose, and where its five judged runs ended."""
    rows = []
    for layers in depths:
        for place, name in NAMES.items():
            own = judged(place, layers)
            rate, warmup = own[0]["lr"], own[0]["warmup"]
            last = told([run["curve"][-1] for run in own], 3)
            learn = f"{that_learn(place, layers)} of {len(COMMON)}"
            rows.append([f"{name}, {layers} layers", f"{rate:g}", str(warmup), last, learn])
    caption = "Each at its own best: loss in nats after 160 steps, median of five seeds, range. "
    caption += "Last, the settings at which all choosing seeds end below 1 nat."
    headers = ["placement", "rate", "warm-up", "loss", "settings that learn"]
    return table(rows, headers, caption=caption)


def grid(layers: int = 12, steps: int = 160) -> Table:
    """Tabulate every setting that was tried: the median loss of the seeds that choose."""
    tried = runs("norm_rates", "choose", layers=layers, steps=steps)
    ends = {(one["placement"], one["lr"], one["warmup"]): median(one["end"]) for one in tried}
    warmups = sorted({warmup for *_, warmup in ends})
    rows = []
    for place, name in NAMES.items():
        for rate in sorted({lr for own, lr, _ in ends if own == place}):
            found = (ends.get((place, rate, warmup)) for warmup in warmups)
            told = ["–" if end is None else f"{end:.2f}" for end in found]
            rows.append([f"{name} {rate:g}", *told])
    caption = (
        f"Median loss of five choosing seeds after {steps:,} steps, {layers} layers, in nats; "
    )
    gaps = any("–" in row for row in rows)
    caption += f"columns: steps of warm-up{'; –: not tried' if gaps else ''}."
    return table(rows, ["rate", *warmups], caption=caption)


def first_below(run: dict[str, Any], nats: float = 1.0) -> int | None:
    """The step at which a curve first stands below so many nats, None if it never does."""
    stretch = run["steps"] // len(run["curve"])
    below = (n for n, loss in enumerate(run["curve"], 1) if loss < nats)
    found = next(below, None)
    return found and found * stretch


def long_run() -> None:
    """Draw Post with twelve layers over 1,000 steps, five seeds."""
    figure, ax = plot.figure(5.4, 2.3)
    own = judged("post", 12, 1000)
    for run in own:
        ax.plot(range(20, 1001, 20), run["curve"], color=plot.ROLE["score"], lw=1.1)
    ax.axvline(160, color=plot.ROLE["residual"], ls=":")
    ax.annotate("end of the short race", (172, 0.15))
    ax.set(xlabel="training step", ylabel="loss, nats", ylim=(0, 3.1))
    below = sorted(first_below(run) for run in own)
    alt = "Loss of Post with twelve layers, five seeds, over 1,000 steps, with a rate of "
    alt += f"{own[0]['lr']:g} and a warm-up of {own[0]['warmup']:,} steps. "
    alt += f"All fall slowly, and below 1 nat after {below} steps; they "
    plot.show(figure, alt=alt + f"end at {sorted(round(run['curve'][-1], 2) for run in own)}.")
