"""Chapter 1: what reaches a word from afar, the families, and how often a model is called."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

from pieces import masks
from pieces.attention import attention
from pieces.book import plot
from pieces.book.measured import record_of
from pieces.book.tables import Table, scientific, table
from pieces.generate import generate
from pieces.models.bert import BertConfig, bert
from pieces.models.gpt2 import GPT2Config, gpt2
from pieces.trace import record
from pieces.trained import load

GAINS = {"1.1": "key", "1.0": "weight", "0.9": "residual"}
NETWORKS = ("recurrent", "LSTM", "LSTM, gates open", "attention")


def fading(sizes: Mapping[str, Tensor]) -> None:
    """Draw the size of a gradient against the steps it has come, on a log scale, all seeds.

    A colour for each gain, dashes for tanh.
    """
    figure, axes = plot.figure(5.4, 3.1)
    said = []
    for name, runs in sizes.items():
        bend, gain = name.split(", gain ")
        look = {"color": plot.ROLE[GAINS[gain]], "linestyle": "--" if bend == "tanh" else "-"}
        for n, run in enumerate(runs):
            axes.plot(range(len(run)), run, linewidth=1, label=None if n else name, **look)
        low, high = (scientific(end(runs[:, -1]).item()) for end in (torch.min, torch.max))
        said.append(f"{name}: {low} to {high}")
    axes.set(yscale="log", xlabel="steps back", ylabel="size of the gradient")
    figure.legend(loc="outside lower center", ncols=2)
    plot.show(
        figure, alt=f"After {len(run) - 1} steps the gradient has the size: {'; '.join(said)}."
    )


def families(T: int = 6, prefix: int = 3) -> None:
    """Draw who may see whom in the three families and in the prefix decoder."""
    kinds = {
        "encoder: all see all": masks.full(T),
        "decoder: itself and all before it": masks.causal(T),
        f"prefix decoder: the first {prefix} see each other": masks.prefix(T, prefix),
        "cross-attention: all of the source": masks.full(T, T - 1),
    }
    figure, axes = plot.figure(7.2, 2.3, columns=4)
    for ax, (name, mask) in zip(axes, kinds.items(), strict=True):
        plot.heatmap(ax, mask.double(), role="weight", mask=mask, digits=None)
        ax.set_title(name.replace(": ", ":\n"), fontsize=9.5)
    open_ = ", ".join(f"{name}, {int(m.sum())} of {m.numel()} cells" for name, m in kinds.items())
    plot.show(figure, alt=f"Four grids, queries down, keys across; open cells: {open_}.")


def agreement(record: Mapping[str, Any] | None = None) -> Table:
    """Show how many answers were right over each gap: the mean of the seeds, least and most."""
    runs = (record or record_of("agreement"))["seeds"]
    rows = []
    for network in NETWORKS:
        row = [network]
        for gap in sorted({run["gap"] for run in runs}):
            found = [r["right"] for r in runs if (r["network"], r["gap"]) == (network, gap)]
            row.append(f"{fmean(found):.2f} ({min(found):.2f} to {max(found):.2f})")
        rows.append(row)
    gaps = sorted({run["gap"] for run in runs})
    return table(rows, ["right answers", *(f"gap of {gap}" for gap in gaps)])


def passes(words: int = 40) -> Table:
    """Count how often a trained model is run, and over how many words: to learn, and to write."""
    shipped = load("stories_llama")
    ids = shipped.task.batch(1, generator=torch.Generator().manual_seed(0)).input_ids
    given, seen = ids[:, :8], []
    hook = shipped.model.stack.register_forward_pre_hook(
        lambda _, args: seen.append(args[0].shape[1])
    )
    rows = []
    with torch.no_grad():
        for name, run in {
            f"training: {words} next words": lambda: shipped.model(ids[:, :words]),
            f"writing {words} words": lambda: generate(
                shipped.model, given, words, use_cache=False
            ),
            "writing them with a cache": lambda: generate(shipped.model, given, words),
        }.items():
            seen.clear()
            run()
            rows.append([name, len(seen), sum(seen)])
    hook.remove()
    return table(rows, ["", "passes", "words read"])


def looks_ahead(T: int = 8) -> Table:
    """Change the last of T words: how many outputs of an encoder and of a decoder move?"""
    sizes = {"vocab_size": 20, "d_model": 16, "n_layers": 2, "n_heads": 2, "d_ff": 32}
    torch.manual_seed(0)
    models = {
        "encoder (BERT)": bert(BertConfig(**sizes)),
        "decoder (GPT-2)": gpt2(GPT2Config(**sizes)),
    }
    ids = torch.arange(T)[None]
    other = torch.cat((ids[:, :-1], ids[:, -1:] + 1), dim=1)
    rows = []
    for name, model in models.items():
        with torch.no_grad(), record(model.eval(), outputs=["stack"]) as trace:
            found = []
            for given in (ids, other):
                model(given)
                found.append(trace["stack"]["output"])
        moved = (found[0] - found[1]).abs().amax(-1) > 1e-6
        rows.append([name, int(moved.sum())])
    return table(rows, ["the last word is changed", f"outputs of {T} that move"])


def windows(length: int = 12, channels: int = 4) -> float:
    """Run a convolution window by window, in any order: how far is it from one call?"""
    torch.manual_seed(5)
    layer = nn.Conv1d(channels, channels, 3)
    x = torch.randn(1, channels, length)
    order = torch.randperm(length - 2).tolist()
    alone = {n: layer(x[..., n : n + 3]) for n in order}
    return (layer(x) - torch.cat([alone[n] for n in sorted(order)], -1)).abs().max().item()


def graph(
    edges: Sequence[tuple[int, int]] = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0)),
) -> list[float]:
    """Attend along the edges of a graph; rename its nodes; how far do the results differ?"""
    n = 1 + max(map(max, edges))
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(n, 8, generator=generator, dtype=torch.float64)
    sees = torch.eye(n, dtype=torch.bool)
    for a, b in edges:
        sees[a, b] = sees[b, a] = True
    renamed = torch.randperm(n, generator=generator)

    def run(x: Tensor, mask: Tensor) -> Tensor:
        x = x[None, None]
        return attention(x, x, x, mask=mask)[0][0, 0]

    there, here = run(x[renamed], sees[renamed][:, renamed]), run(x, sees)
    return [(there - here[renamed]).abs().max().item(), (there - here).abs().max().item()]
