"""The figures and tables of chapter 15: what a LLaMA costs, and what its choices are worth."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from pieces.book import measured, plot
from pieces.book.tables import Table, table
from pieces.models.llama import LlamaConfig, llama
from pieces.zoo import count_parameters

PARTS = ("embedding", "attention", "feed-forward", "norms", "head")
LOOKS = {"post-norm": "score", "none of the four": "residual", "recommended": "query"}
Runs = dict[str, dict[float, list[float]]]


def counted(config: LlamaConfig) -> dict[str, int]:
    """Build a LLaMA without memory, on the meta device, and count its parameters by part."""
    with torch.device("meta"):
        return count_parameters(llama(config))


def parts(config: LlamaConfig, name: str) -> Table:
    """Show where a LLaMA's parameters are, and how many it has without its head."""
    found = counted(config)
    total = found["total"]
    rows = [[part, found[part], f"{100 * found[part] / total:.1f} %"] for part in PARTS]
    rows += [["total", total, "100.0 %"], ["without the head", total - found["head"], ""]]
    caption = f"{name}, built on the meta device and counted."
    return table(rows, ["part", "parameters", "share"], digits=0, caption=caption)


def sizes(configs: Mapping[str, LlamaConfig]) -> Table:
    """Show the layers, the width and the billions of parameters of some LLaMAs (E-48)."""
    rows = [
        [name, c.n_layers, c.d_model, c.n_kv_heads or c.n_heads, counted(c)["total"] / 1e9]
        for name, c in configs.items()
    ]
    heads = ["LLaMA", "L", "D", "G", "billions"]
    caption = "Layers, width, key-value heads, and the parameters counted on the meta device."
    return table(rows, heads, caption=caption)


def compared(
    ours: Mapping[str, Tensor], library: Mapping[str, Tensor], vocabulary: Sequence[str]
) -> Table:
    """Show the likeliest last word of two models, its logits, and how far apart all logits are."""
    rows = []
    for name, mine in ours.items():
        apart = (mine - library[name]).abs().max().item()
        word = int(mine[0, -1].argmax())
        two = [logits[0, -1, word].item() for logits in (mine, library[name])]
        told = "under 0.00005" if apart < 5e-5 else f"{apart:.5f}"
        rows.append([name, vocabulary[word], *two, told])
    return table(rows, ["", "best", "ours", "theirs", "apart"], digits=3)


def tried_rates() -> Runs:
    """Nats above the floor by model and learning rate, one for each seed that chose the rates."""
    record = measured.record_of("llama_switches")
    return _runs(record, set(record["rates_seeds"]))


def at_best_rate() -> dict[str, Tensor]:
    """Nats above the floor of each model at its best rate, one for each of the other seeds."""
    record, found = measured.record_of("llama_switches"), tried_rates()
    judged = {run["seed"] for run in record["runs"]} - set(record["rates_seeds"])
    runs = _runs(record, judged)
    return {name: torch.tensor(runs[name][best_rate(found[name])]) for name in found}


def best_rate(by_rate: Mapping[float, Sequence[float]]) -> float:
    """The rate with the lowest mean."""
    return min(by_rate, key=lambda rate: sum(by_rate[rate]) / len(by_rate[rate]))


def _runs(record: dict, seeds: set[int]) -> Runs:
    """The record's runs of these seeds, in the order of seeds and rates."""
    runs: Runs = {}
    for run in sorted(record["runs"], key=lambda run: (run["lr"], run["seed"])):
        if run["seed"] in seeds:
            runs.setdefault(run["model"], {}).setdefault(run["lr"], []).append(run["above_floor"])
    first = dict.fromkeys(run["model"] for run in record["runs"])  # recommended, then its changes
    return {name: runs[name] for name in first}


def switches_by_rate(names: Sequence[str] = tuple(LOOKS), top: float = 5.0) -> None:
    """Draw how far above the floor models end, by learning rate: means of the seeds that chose."""
    found = tried_rates()
    rates = sorted({rate for name in names for rate in found[name]})
    fig, axes = plot.figure(5.4, 2.9)
    for name in names:
        places = [rates.index(rate) for rate in found[name]]
        color = plot.ROLE[LOOKS.get(name, "key")]
        for place, of in zip(places, found[name].values(), strict=True):
            axes.plot([place] * len(of), of, ".", color=color, alpha=0.6)
        means = [sum(of) / len(of) for of in found[name].values()]
        axes.plot(places, means, "-", color=color, label=name)
    axes.set(xlabel="learning rate", ylabel="nats above the floor", ylim=(0, top))
    axes.set_xticks(range(len(rates)), [f"{rate:g}" for rate in rates])
    fig.legend(loc="outside lower center", ncols=3)
    said = [
        f"{name}: " + ", ".join(f"{sum(of) / len(of):.2f} at {rate:g}" for rate, of in by.items())
        for name, by in ((name, found[name]) for name in names)
    ]
    plot.show(fig, alt=f"Nats above the floor by learning rate. {'; '.join(said)}.")


def switches() -> None:
    """Draw how far above the floor each model ends: a dot for each seed, a bar at the mean."""
    ends = at_best_rate()
    fig, axes = plot.figure(5.4, 2.9)
    for y, of in enumerate(ends.values()):
        axes.plot(of, [y] * len(of), "o", color=plot.ROLE["weight"], markersize=4, alpha=0.7)
        axes.plot([of.mean()] * 2, [y - 0.3, y + 0.3], color=plot.ROLE["score"])
    axes.set_yticks(range(len(ends)), list(ends))
    axes.invert_yaxis()
    axes.set(xlabel="nats above the floor", xlim=(0, None))
    said = [
        f"{name} {of.mean():.2f} ({of.min():.2f} to {of.max():.2f})" for name, of in ends.items()
    ]
    plot.show(fig, alt=f"Nats above the floor at the best rate, mean and range: {', '.join(said)}.")
