"""Chapter 12: what was measured beyond the length of training, and one family taken apart."""

from functools import cache

import torch
from torch import Tensor

from pieces.book import plot
from pieces.book.measured import record_of
from pieces.book.tables import Table, table
from pieces.positions import Linear, Llama3, NTKAware, Rotary, YaRN
from pieces.positions.scaling import Unscaled
from pieces.tasks import Stories
from pieces.trained import load

SCHEMES = {
    "none": "none",
    "sinusoidal": "sinusoids",
    "learned": "learned",
    "rotary": "RoPE",
    "t5": "T5",
    "alibi": "ALiBi",
}
STRETCH = 16
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
        ["positions", "reads all", "reads the last 32"],
        caption=f"Nats above the floor in words {words - STRETCH + 1} to {words}, for the same "
        "models; three seeds: median, least and most",
    )


@cache
def stories(texts: int, words: int, seed: int = 3) -> tuple[Tensor, Tensor, Tensor]:
    """Held-out stories, their next words, and the true surprise of each: [texts, words] thrice."""
    task = Stories(words)
    batch = task.batch(texts, "held_out", torch.Generator().manual_seed(seed))
    return *batch, -task.true_log_probs(*batch)


@torch.no_grad()
def above_the_floor(scaling: Unscaled | None = None, texts: int = 24, words: int = 512) -> Tensor:
    """Let the stories LLaMA read with other clocks: nats above the floor, [texts, words]."""
    model = load("stories_llama").model
    plain = model.position
    model.position = Rotary(plain.head_dim, base=plain.base, scaling=scaling)
    ids, targets, floor = stories(texts, words)
    log_probs = model(ids).log_softmax(-1)
    return -log_probs.gather(2, targets[..., None])[..., 0] - floor


def scalings(factor: float = 2, trained: int = 128) -> dict[str, Unscaled | None]:
    """The clocks as they were trained, and slowed in four ways."""
    return {
        "as trained": None,
        "linear": Linear(factor),
        "NTK-aware": NTKAware(factor),
        "YaRN": YaRN(factor, trained),
        "LLaMA 3": Llama3(factor, trained),
    }


def clocks(factor: float = 2, trained: int = 128, texts: int = 40, words: int = 512) -> None:
    """Draw how far from the floor the stories LLaMA is, word by word, with each of its clocks."""
    fig, ax = plot.figure(6.4, 2.8)
    middle = torch.arange(words // STRETCH) * STRETCH + STRETCH / 2
    for (name, scaling), role in zip(scalings(factor, trained).items(), plot.ROLE, strict=False):
        curve = above_the_floor(scaling, texts, words).unflatten(1, (-1, STRETCH)).mean((0, 2))
        width = 2.2 if scaling is None else 1.1
        ax.plot(middle, curve, label=name, color=plot.ROLE[role], linewidth=width)
    ax.axvline(trained, color=plot.INK, linewidth=0.8, linestyle="--")
    ax.text(trained + 4, 2.25, f"trained on {trained}", color=plot.INK)
    ax.set(xlabel="word of the text", ylabel="nats above the floor", ylim=(0, 2.5))
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    plot.show(
        fig,
        alt=f"Nats above the floor against the place of a word, 1 to {words}, over {texts} texts. "
        f"As trained the curve stays near 0 up to word 240, nearly twice the {trained} words of "
        "training, then jumps above 1. Linear scaling is far above 1 from word 33 on. The other "
        "clocks start alike, are a little higher before word 128 and rise later.",
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
