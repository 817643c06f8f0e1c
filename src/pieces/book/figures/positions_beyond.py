"""Chapter 12: what was measured beyond the length of training, and one family taken apart."""

import torch
from torch import Tensor

from pieces.book import plot
from pieces.book.measured import record_of
from pieces.book.tables import Table, table

SCHEMES = {
    "none": "none",
    "sinusoidal": "sinusoids",
    "learned": "learned",
    "rotary": "RoPE",
    "t5": "T5",
    "alibi": "ALiBi",
}
STRETCH = 16
CLOCKS = {
    "unscaled": "as trained",
    "linear": "linear",
    "ntk": "NTK-aware",
    "dynamic": "dynamic",
    "yarn": "YaRN",
    "llama3": "LLaMA 3",
}
PARTS = {  # of a LLaMA: the GPT-2 that has it, and the LLaMA that has the GPT-2's instead
    "none": ("gpt2", "llama"),
    "place": ("gpt2, rotary", "llama, learned"),
    "norm": ("gpt2, RMSNorm", "llama, LayerNorm"),
    "FFN": ("gpt2, SwiGLU", "llama, GELU"),
    "bias": ("gpt2, no biases", "llama, biases"),
    "head": ("gpt2, own head", "llama, tied head"),
}


def excess(kind: str, scheme: str, words: int = 256) -> Tensor:
    """Nats above the floor in the 16 words that end there, seed by seed; NaN where refused.

    ``kind`` is "positions", where all the text is read, or "window", its last 17 to 32 words.
    """
    record = record_of("positions")
    at = record["lengths"].index(words)
    return torch.tensor(
        [float("nan") if run[at] is None else run[at] for run in record[kind][scheme]]
    )


def whole_or_window(words: int = 256) -> Table:
    """Show each scheme with the whole text before a word, and the same model with its end only."""
    rows = []
    for scheme, name in SCHEMES.items():
        cells = []
        for kind in ("positions", "window"):
            runs = excess(kind, scheme, words)
            least, most = runs.min(), runs.max()
            told = f"{runs.median():.2f} ({least:.2f} to {most:.2f})"
            cells.append("refused" if runs.isnan().any() else told)
        rows.append([name, *cells])
    return table(
        rows,
        ["positions", "reads all", "reads the last 17 to 32"],
        caption=f"Nats above the floor in words {words - STRETCH + 1} to {words}, for the same "
        "models; three seeds: median, least and most",
    )


def read_on(scaling: str, factor: int = 2) -> Tensor:
    """How far from the floor the stories LLaMA reads 512 words with some clocks, in nats a word.

    Each sample of texts, in stretches of 16 words: [samples, 32].
    """
    runs = record_of("longer_stories")["runs"]
    mine = [run for run in runs if run["scaling"] == scaling]
    return torch.tensor([run["excess"] for run in mine if run["factor"] in (1, factor)])


def clocks(factor: int = 2) -> None:
    """Draw how far from the floor the stories LLaMA is, along a text, with each of its clocks."""
    record = record_of("longer_stories")
    trained, ends = record["trained_length"], torch.tensor(record["lengths"])
    fig, ax = plot.figure(5.6, 3.1)
    for (scaling, name), role in zip(CLOCKS.items(), plot.ROLE, strict=False):
        runs = read_on(scaling, factor)
        if not len(runs):
            continue
        of, width = ends - STRETCH / 2, 2.2 if scaling == "unscaled" else 1.1
        ax.fill_between(of, *runs.aminmax(dim=0), color=plot.ROLE[role], alpha=0.2, linewidth=0)
        ax.plot(of, runs.mean(0), label=name, color=plot.ROLE[role], linewidth=width)
    ax.axvline(trained, color=plot.INK, linewidth=0.8, linestyle="--")
    ax.text(trained + 4, 2.25, f"trained on {trained}", color=plot.INK)
    ax.set(xlabel="word of the text", ylabel="nats above the floor", ylim=(0, 2.5))
    fig.legend(loc="outside lower center", ncols=3)
    plot.show(
        fig,
        alt=f"Nats above the floor against the place of a word, 1 to {ends[-1]}, with a band from "
        "the least to the most of some samples. As trained the curve stays near 0 up to word 240, "
        f"nearly twice the {trained} words of training, then jumps above 1. Linear scaling is far "
        "above it all along. The other clocks start near it, some a little higher, and rise later.",
    )


def solved(model: str, steps: int = 250) -> dict[int, bool]:
    """Return, seed by seed, whether a run answered every one of 1,000 unseen rows."""
    runs = record_of("recall")["runs"]
    found = [run for run in runs if (run["model"], run["steps"]) == (model, steps)]
    return {run["seed"]: run["accuracy"] == 1 for run in found}


def swapped() -> Table:
    """Show how many runs of each family learned to look up, with one part of the other family."""
    rows = [
        [family, *(f"{sum(solved(pair[n]).values())} of 5" for pair in PARTS.values())]
        for n, family in enumerate(("GPT-2", "LLaMA"))
    ]
    return table(
        rows,
        ["", *PARTS],
        caption="How many of five runs learned to look up, by the part that came from the other "
        "family: none, positions, norm, feed-forward layer, biases or head",
    )
